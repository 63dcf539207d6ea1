//===- CaseFile.cpp - one launch with the results it must give ------------===//

#include "runtime/CaseFile.h"
#include "runtime/Error.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <iterator>

using namespace qm::runtime;
using nlohmann::json;

namespace {

constexpr int caseVersion = 1;

/// Arrays in the .bin start at multiples of this, so that a reader may map it.
constexpr size_t blobAlignment = 64;

// In the order of CaseArgument::Kind.
constexpr const char *kindNames[] = {"input", "output", "scalar"};

int failCase(const std::string &path, const char *what) {
  return fail(QM_ERROR_CASE_FILE,
              "case file '%s': %s\nhelp: write it again with `qmc verify "
              "--dump-case=DIR`",
              path.c_str(), what);
}

size_t append(std::string &blob, const void *data, size_t bytes) {
  blob.resize((blob.size() + blobAlignment - 1) / blobAlignment *
              blobAlignment);
  size_t at = blob.size();
  blob.append(static_cast<const char *>(data), bytes);
  return at;
}

json describe(const CaseArgument &argument, std::string &blob) {
  json out = {{"name", argument.name},
              {"kind", kindNames[static_cast<int>(argument.kind)]},
              {"dtype", dataTypeName(argument.dtype)}};
  if (argument.kind == CaseArgument::Kind::Scalar) {
    out["bits"] = argument.bits;
    return out;
  }
  out["shape"] = argument.shape;
  out["strides"] = argument.strides;
  out["storage_bytes"] = argument.storageBytes;
  out["offset"] = argument.offset;
  if (argument.kind == CaseArgument::Kind::Input) {
    out["at"] = append(blob, argument.storage.data(), argument.storage.size());
    return out;
  }
  out["at"] = append(blob, argument.expected.data(),
                     argument.expected.size() * sizeof(float));
  out["absolute"] = argument.absolute;
  out["relative"] = argument.relative;
  return out;
}

/// Every element of the view lies inside its storage, and the arrays have the
/// sizes the shape asks for. Null, or what is wrong.
const char *findFlaw(const CaseArgument &argument) {
  if (argument.kind == CaseArgument::Kind::Scalar)
    return nullptr;
  if (argument.shape.size() != argument.strides.size())
    return "a tensor has not as many strides as extents";
  int64_t size = bytesPerElement(argument.dtype);
  int64_t lowest = argument.offset, highest = argument.offset, count = 1;
  bool overflow = false;
  for (size_t i = 0; i < argument.shape.size(); ++i) {
    if (argument.shape[i] < 0)
      return "a tensor has a negative extent";
    overflow |= __builtin_mul_overflow(count, argument.shape[i], &count);
    int64_t reach = 0;
    if (argument.shape[i] > 1)
      overflow |= __builtin_mul_overflow(argument.strides[i],
                                         argument.shape[i] - 1, &reach) ||
                  __builtin_mul_overflow(reach, size, &reach);
    int64_t &end = reach < 0 ? lowest : highest;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (overflow || argument.storageBytes < 0 || argument.offset < 0)
    return "a tensor's extents, strides or sizes are out of range";
  if (count > 0 && (lowest < 0 || highest > argument.storageBytes - size))
    return "a tensor reaches outside its storage";
  bool complete = argument.kind == CaseArgument::Kind::Input
                      ? static_cast<int64_t>(argument.storage.size()) ==
                            argument.storageBytes
                      : static_cast<int64_t>(argument.expected.size()) == count;
  return complete ? nullptr : "a tensor has not as many numbers as it needs";
}

/// Throws json::exception where a field is missing or of another type.
bool readArgument(const json &in, const std::string &blob,
                  CaseArgument &argument) {
  argument.name = in.at("name").get<std::string>();
  auto kind = std::find(std::begin(kindNames), std::end(kindNames),
                        in.at("kind").get_ref<const std::string &>());
  if (kind == std::end(kindNames) ||
      !parseDataType(in.at("dtype").get_ref<const std::string &>(),
                     argument.dtype))
    return false;
  argument.kind = static_cast<CaseArgument::Kind>(kind - kindNames);
  if (argument.kind == CaseArgument::Kind::Scalar) {
    argument.bits = in.at("bits").get<uint32_t>();
    return true;
  }
  argument.shape = in.at("shape").get<std::vector<int64_t>>();
  argument.strides = in.at("strides").get<std::vector<int64_t>>();
  argument.storageBytes = in.at("storage_bytes").get<int64_t>();
  argument.offset = in.at("offset").get<int64_t>();
  auto at = in.at("at").get<uint64_t>();
  bool input = argument.kind == CaseArgument::Kind::Input;
  int64_t elements = argument.elements();
  if (at > blob.size() || argument.storageBytes < 0 || elements < 0)
    return false;
  uint64_t available = blob.size() - at;
  if (input) {
    if (static_cast<uint64_t>(argument.storageBytes) > available)
      return false;
    argument.storage = blob.substr(at, argument.storageBytes);
    return true;
  }
  if (static_cast<uint64_t>(elements) > available / sizeof(float))
    return false;
  argument.expected.resize(elements);
  if (elements > 0)
    memcpy(argument.expected.data(), blob.data() + at,
           elements * sizeof(float));
  argument.absolute = in.at("absolute").get<double>();
  argument.relative = in.at("relative").get<double>();
  return true;
}

bool readAll(const std::string &path, std::string &out) {
  std::ifstream file(path, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

} // namespace

int64_t CaseArgument::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
      return -1;
  return count;
}

int qm::runtime::writeCase(const std::string &directory, const CaseFile &file) {
  std::string stem = directory + "/" + file.name, blob;
  json arguments = json::array();
  for (const CaseArgument &argument : file.arguments) {
    if (const char *flaw = findFlaw(argument))
      return failCase(stem + ".json", flaw);
    arguments.push_back(describe(argument, blob));
  }
  json header = {{"qm_case", caseVersion},     {"name", file.name},
                 {"manifest", file.manifest},  {"kernel", file.kernel},
                 {"blob", file.name + ".bin"}, {"arguments", arguments}};
  std::ofstream numbers(stem + ".bin", std::ios::binary);
  numbers << blob;
  numbers.close();
  std::ofstream text(stem + ".json", std::ios::binary);
  text << header.dump(1) << '\n';
  text.close();
  if (!numbers || !text)
    return failCase(stem + ".json", "cannot be written");
  return QM_OK;
}

int qm::runtime::readCase(const std::string &path, CaseFile &file) {
  std::string text, blob;
  if (!readAll(path, text) || text.empty())
    return failCase(path, "cannot be read");
  std::string folder = path.substr(0, path.rfind('/') + 1);
  try {
    json header = json::parse(text);
    if (header.at("qm_case").get<int>() != caseVersion)
      return failCase(path, "has another version than this program reads");
    file.name = header.at("name").get<std::string>();
    file.manifest = header.at("manifest").get<std::string>();
    file.kernel = header.at("kernel").get<std::string>();
    if (file.manifest.empty())
      return failCase(path, "names no manifest");
    if (file.manifest[0] != '/')
      file.manifest = folder + file.manifest;
    if (!readAll(folder + header.at("blob").get<std::string>(), blob))
      return failCase(path, "the .bin beside it cannot be read");
    file.arguments.clear();
    for (const json &value : header.at("arguments")) {
      CaseArgument &argument = file.arguments.emplace_back();
      if (!readArgument(value, blob, argument))
        return failCase(path, "an argument is not valid, or the .bin is cut "
                              "short");
      if (const char *flaw = findFlaw(argument))
        return failCase(path, flaw);
    }
  } catch (const json::exception &error) {
    return failCase(path, error.what());
  }
  return QM_OK;
}
