//===- Manifest.cpp - what a manifest says --------------------------------===//

#include "runtime/Manifest.h"
#include "runtime/Error.h"
#include "runtime/Json.h"

#include <algorithm>
#include <iterator>

using namespace qm::runtime;

namespace {

constexpr int64_t manifestVersion = 1;

// In the order of ImageFormat, Quantity and Role.
constexpr const char *formatNames[] = {"cubin", "ptx", "cpu"};
constexpr const char *quantityNames[] = {"batch",  "heads", "kv_heads",
                                         "groups", "query", "key"};
constexpr const char *roleNames[] = {"q",      "k",     "v",     "buffer",
                                     "scalar", "o",     "lse",   "row_max",
                                     "cu_q",   "cu_kv", "len_q", "len_kv"};
static_assert(std::size(roleNames) == roleCount);

/// Reads fields and remembers where it is, so that every message says which
/// file, kernel and field is wrong. The first failure sticks.
class Reader {
public:
  explicit Reader(const char *origin) : origin(origin) {}

  int status = QM_OK;
  std::string where = "the file";

  bool invalid(const std::string &what) {
    if (status == QM_OK)
      status = fail(QM_ERROR_MANIFEST_INVALID,
                    "%s: in %s, %s\nhelp: build the manifest again with `qmc "
                    "build --emit=json`",
                    origin, where.c_str(), what.c_str());
    return false;
  }

  const JsonValue *field(const JsonValue &object, const char *name) {
    if (const JsonValue *found = object.find(name))
      return found;
    invalid(std::string("field '") + name + "' is missing");
    return nullptr;
  }

  bool text(const JsonValue &object, const char *name, std::string &out) {
    const JsonValue *value = field(object, name);
    if (!value)
      return false;
    if (!value->isText() || value->text.empty())
      return invalid(std::string("field '") + name +
                     "' must be a non-empty string");
    out = value->text;
    // A C string ends at the first NUL: "a\0b" would name another symbol.
    if (out.find('\0') != std::string::npos)
      return invalid(std::string("field '") + name + "' contains a NUL");
    return true;
  }

  bool integer(const JsonValue &object, const char *name, int64_t least,
               int64_t most, int64_t &out) {
    const JsonValue *value = field(object, name);
    if (!value)
      return false;
    if (!value->isIntegerBetween(least, most))
      return invalid(std::string("field '") + name + "' is " +
                     value->describe() + ", not an integer from " +
                     std::to_string(least) + " to " + std::to_string(most));
    out = value->integer;
    return true;
  }

private:
  const char *origin;
};

bool readShape(Reader &reader, const JsonValue &value,
               std::vector<int64_t> &shape) {
  if (!value.isArray() || value.items.size() > maxRank)
    return reader.invalid(
        "field 'shape' must be an array of at most 8 extents");
  for (const JsonValue &extent : value.items) {
    if (!extent.isIntegerBetween(-1, INT32_MAX) || extent.integer == 0)
      return reader.invalid("an extent of 'shape' must be -1 or from 1 to " +
                            std::to_string(INT32_MAX));
    shape.push_back(extent.integer);
  }
  return true;
}

bool readArgument(Reader &reader, const JsonValue &value, Argument &argument) {
  if (!value.isObject())
    return reader.invalid("an element of 'args' is not an object");
  std::string kind, role, dtype;
  if (!reader.text(value, "name", argument.name) ||
      !reader.text(value, "kind", kind) || !reader.text(value, "role", role) ||
      !reader.text(value, "dtype", dtype))
    return false;

  auto known = std::find(std::begin(roleNames), std::end(roleNames), role);
  if (known == std::end(roleNames))
    return reader.invalid("argument '" + argument.name +
                          "' has the unknown role '" + role + "'");
  argument.role = static_cast<Role>(known - std::begin(roleNames));
  if (!parseDataType(dtype, argument.dtype))
    return reader.invalid("argument '" + argument.name +
                          "' has the unknown dtype '" + dtype + "'");
  if (kind != (argument.isScalar() ? "scalar" : "tensor"))
    return reader.invalid("argument '" + argument.name + "' has kind '" + kind +
                          "' but role '" + role + "'");
  if (argument.isScalar()) {
    if (argument.dtype != DataType::I32 && argument.dtype != DataType::F32)
      return reader.invalid("scalar '" + argument.name + "' has dtype '" +
                            dtype + "', not i32 or f32");
    return true;
  }
  const JsonValue *shape = reader.field(value, "shape");
  return shape && readShape(reader, *shape, argument.shape);
}

/// q, k, v and o have rank 4 and agree in their static extents; statistics have
/// rank 3, lengths rank 1.
bool checkSignature(Reader &reader, Signature &signature) {
  int *positions[roleCount] = {
      &signature.q,   &signature.k,    &signature.v,    nullptr,
      nullptr,        &signature.o,    &signature.lse,  &signature.rowMax,
      &signature.cuQ, &signature.cuKv, &signature.lenQ, &signature.lenKv};
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument &argument = signature.arguments[i];
    signature.slots += argument.slots();
    int *position = positions[static_cast<int>(argument.role)];
    if (!position)
      continue;
    if (*position >= 0)
      return reader.invalid(std::string("two arguments have the role '") +
                            roleName(argument.role) + "'");
    *position = static_cast<int>(i);
    int rank = argument.isStatistic() ? 3 : argument.isLengths() ? 1 : 4;
    if (argument.rank() != rank)
      return reader.invalid("argument '" + argument.name + "' has rank " +
                            std::to_string(argument.rank()) + ", its role '" +
                            roleName(argument.role) + "' needs " +
                            std::to_string(rank));
  }
  if (signature.q < 0 || signature.k < 0 || signature.v < 0 || signature.o < 0)
    return reader.invalid("'args' must have one argument of each of the roles "
                          "q, k, v and o");
  bool together = (signature.cuKv < 0 || signature.cuQ >= 0) &&
                  (signature.lenKv < 0 || signature.lenQ >= 0) &&
                  (signature.cuQ < 0 || signature.lenQ < 0);
  if (!together)
    return reader.invalid("'args' have cu_q, with cu_kv or for both, or len_q, "
                          "with len_kv or for both");
  if (signature.slots > maxSlots)
    return reader.invalid("'args' need " + std::to_string(signature.slots) +
                          " slots, the limit is " + std::to_string(maxSlots));
  return true;
}

bool readTensorMap(Reader &reader, const JsonValue &value,
                   const Signature &signature, TensorMap &map) {
  if (!value.isObject())
    return reader.invalid("an element of 'tensor_maps' is not an object");
  std::string name;
  if (!reader.text(value, "argument", name) ||
      !reader.integer(value, "swizzle_bytes", 0, 128, map.swizzleBytes))
    return false;
  const auto &arguments = signature.arguments;
  size_t position = 0;
  while (position < arguments.size() && arguments[position].name != name)
    map.slot += arguments[position++].slots();
  if (position == arguments.size() || arguments[position].rank() < 2 ||
      arguments[position].rank() > 5)
    return reader.invalid("'tensor_maps' names '" + name +
                          "', which is no tensor of rank 2 to 5");
  map.argument = static_cast<int>(position);
  if (map.swizzleBytes != 0 && map.swizzleBytes != 32 &&
      map.swizzleBytes != 64 && map.swizzleBytes != 128)
    return reader.invalid("'swizzle_bytes' is " +
                          std::to_string(map.swizzleBytes) +
                          ", not 0, 32, 64 or 128");
  const JsonValue *box = reader.field(value, "box");
  if (!box)
    return false;
  bool fits =
      box->isArray() &&
      box->items.size() == static_cast<size_t>(arguments[position].rank());
  for (size_t i = 0; fits && i < box->items.size(); ++i) {
    fits = box->items[i].isIntegerBetween(1, 256);
    if (fits)
      map.box.push_back(static_cast<uint32_t>(box->items[i].integer));
  }
  return fits || reader.invalid("'box' of '" + name +
                                "' must have an extent from 1 to 256 for each "
                                "dimension");
}

/// Fields of kernels that copy by tensor maps and run several tiles a CTA.
bool readGridAndMaps(Reader &reader, const JsonValue &value,
                     ManifestEntry &entry) {
  if (value.find("ctas_per_sm") &&
      !reader.integer(value, "ctas_per_sm", 1, 32, entry.ctasPerSm))
    return false;
  if (value.find("tile_counters") &&
      !reader.integer(value, "tile_counters", 1, 1024, entry.tileCounters))
    return false;
  const JsonValue *maps = value.find("tensor_maps");
  if (!maps)
    return true;
  if (!maps->isArray() || maps->items.size() > maxTensorMaps)
    return reader.invalid("field 'tensor_maps' must be an array of at most " +
                          std::to_string(maxTensorMaps));
  for (const JsonValue &map : maps->items) {
    entry.tensorMaps.emplace_back();
    if (!readTensorMap(reader, map, entry.signature, entry.tensorMaps.back()))
      return false;
  }
  return true;
}

/// "when": {"query": [least, most], ...}; a missing bound is null.
bool readConditions(Reader &reader, const JsonValue &value, Conditions &when) {
  if (!value.isObject())
    return reader.invalid("field 'when' must be an object");
  for (const JsonValue &range : value.items) {
    const std::string &name = range.name;
    auto known =
        std::find(std::begin(quantityNames), std::end(quantityNames), name);
    if (known == std::end(quantityNames))
      return reader.invalid("'when' has the unknown quantity '" + name + "'");
    size_t at = known - std::begin(quantityNames);
    bool valid = range.isArray() && range.items.size() == 2;
    int64_t *bounds[] = {&when.least[at], &when.most[at]};
    for (int i = 0; valid && i < 2; ++i) {
      if (range.items[i].isNull())
        continue;
      valid = range.items[i].isIntegerBetween(0, INT64_MAX);
      if (valid)
        *bounds[i] = range.items[i].integer;
    }
    if (!valid)
      return reader.invalid("'" + name +
                            "' of 'when' must be [least, most], integers from "
                            "0 or null");
  }
  return true;
}

/// Fields of the kernels of libraries.
bool readPlace(Reader &reader, const JsonValue &value, ManifestEntry &entry) {
  entry.operatorName = entry.signature.kernel;
  if (value.find("operator") &&
      !reader.text(value, "operator", entry.operatorName))
    return false;
  const JsonValue *when = value.find("when");
  if (when && !readConditions(reader, *when, entry.when))
    return false;
  std::string format;
  int64_t workspace = 0;
  if (value.find("workspace_bytes") &&
      !reader.integer(value, "workspace_bytes", 0, 0, workspace))
    return false;
  if (!value.find("format"))
    return true;
  if (!reader.text(value, "format", format))
    return false;
  auto known =
      std::find(std::begin(formatNames), std::end(formatNames), format);
  if (known == std::end(formatNames))
    return reader.invalid("format '" + format + "' is not cubin, ptx or cpu");
  entry.format = static_cast<ImageFormat>(known - std::begin(formatNames));
  if ((entry.format == ImageFormat::Cpu) != entry.isCpu())
    return reader.invalid("format '" + format + "' does not go with target '" +
                          entry.target + "'");
  return true;
}

/// Images lie beside the manifest; a name must not lead anywhere else.
bool staysBeside(const std::string &name) {
  return name[0] != '/' && ("/" + name + "/").find("/../") == std::string::npos;
}

bool readEntry(Reader &reader, const JsonValue &value, ManifestEntry &entry) {
  if (!value.isObject())
    return reader.invalid("an element of 'kernels' is not an object");
  if (!reader.text(value, "name", entry.signature.kernel))
    return false;
  reader.where = "kernel '" + entry.signature.kernel + "'";
  if (!reader.text(value, "target", entry.target) ||
      !reader.text(value, "entry", entry.entry) ||
      !reader.text(value, "image", entry.image) ||
      !reader.integer(value, "tile_m", 1, 65536, entry.tileM) ||
      !reader.integer(value, "tile_n", 1, 65536, entry.tileN))
    return false;
  if (!readPlace(reader, value, entry))
    return false;
  if (!staysBeside(entry.image))
    return reader.invalid("image '" + entry.image +
                          "' is not a file beside the manifest");
  if (!entry.isCpu() &&
      (!reader.integer(value, "threads", 1, 1024, entry.threads) ||
       !reader.integer(value, "shared_bytes", 0, 1 << 20, entry.sharedBytes)))
    return false;

  const JsonValue *arguments = reader.field(value, "args");
  if (!arguments)
    return false;
  if (!arguments->isArray())
    return reader.invalid("field 'args' must be an array");
  for (const JsonValue &argument : arguments->items) {
    entry.signature.arguments.emplace_back();
    if (!readArgument(reader, argument, entry.signature.arguments.back()))
      return false;
  }
  return checkSignature(reader, entry.signature) &&
         (entry.isCpu() || readGridAndMaps(reader, value, entry));
}

} // namespace

const char *qm::runtime::formatName(ImageFormat format) {
  return formatNames[static_cast<int>(format)];
}

const char *qm::runtime::quantityName(Quantity quantity) {
  return quantityNames[static_cast<int>(quantity)];
}

const char *qm::runtime::roleName(Role role) {
  return roleNames[static_cast<int>(role)];
}

int qm::runtime::parseManifest(std::string_view text, const char *origin,
                               std::vector<ManifestEntry> &entries) {
  Reader reader(origin);
  JsonValue root;
  if (!parseJson(text, root)) {
    reader.invalid("the text is not JSON (or is cut short)");
    return reader.status;
  }
  if (!root.isObject() || !root.find("qm_manifest")) {
    reader.invalid("there is no field 'qm_manifest': this is another kind of "
                   "file");
    return reader.status;
  }
  const JsonValue &version = *root.find("qm_manifest");
  if (!version.isIntegerBetween(1, INT32_MAX)) {
    reader.invalid("field 'qm_manifest' is not a version number");
    return reader.status;
  }
  if (version.integer != manifestVersion)
    return fail(
        QM_ERROR_MANIFEST_VERSION,
        "%s has manifest version %lld, this runtime reads version "
        "%lld\nhelp: build it with the qmc that belongs to this runtime",
        origin, static_cast<long long>(version.integer),
        static_cast<long long>(manifestVersion));

  const JsonValue *kernels = reader.field(root, "kernels");
  if (!kernels)
    return reader.status;
  if (!kernels->isArray()) {
    reader.invalid("field 'kernels' must be an array");
    return reader.status;
  }
  std::vector<ManifestEntry> read;
  for (const JsonValue &kernel : kernels->items) {
    read.emplace_back();
    if (!readEntry(reader, kernel, read.back()))
      return reader.status;
  }
  entries = std::move(read);
  return QM_OK;
}
