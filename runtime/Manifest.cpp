//===- Manifest.cpp - what a manifest says --------------------------------===//

#include "runtime/ManifestReader.h"

#include <algorithm>
#include <iterator>

using namespace qm::runtime;

namespace {

constexpr int64_t manifestVersion = 1;

// In the order of ImageFormat and Quantity.
constexpr const char *formatNames[] = {"cubin", "ptx", "cpu"};
constexpr const char *quantityNames[] = {"batch",  "heads", "kv_heads",
                                         "groups", "query", "key"};

bool readTensorMap(ManifestReader &reader, const JsonValue &value,
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
bool readGridAndMaps(ManifestReader &reader, const JsonValue &value,
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
bool readConditions(ManifestReader &reader, const JsonValue &value,
                    Conditions &when) {
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
bool readPlace(ManifestReader &reader, const JsonValue &value,
               ManifestEntry &entry) {
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
      !reader.integer(value, "workspace_bytes", 0, INT64_MAX, workspace))
    return false;
  if (workspace != 0)
    return reader.newer("it needs " + std::to_string(workspace) +
                        " bytes of workspace a launch");
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

bool readEntry(ManifestReader &reader, const JsonValue &value,
               ManifestEntry &entry) {
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

  return readSignature(reader, value, entry.signature) &&
         (entry.isCpu() || readGridAndMaps(reader, value, entry));
}

} // namespace

const char *qm::runtime::formatName(ImageFormat format) {
  return formatNames[static_cast<int>(format)];
}

const char *qm::runtime::quantityName(Quantity quantity) {
  return quantityNames[static_cast<int>(quantity)];
}

int qm::runtime::parseManifest(std::string_view text, const char *origin,
                               std::vector<ManifestEntry> &entries) {
  ManifestReader reader(origin);
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
