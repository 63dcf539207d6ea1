//===- Manifest.cpp - the manifest of a library ---------------------------===//
#include "qmc/library/Contents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {

/// The extents in words: those that a call decides by the letter that stands
/// for them.
json::Array nameExtents(const json::Object &argument, bool isPacked) {
  StringRef role = argument.getString("role").value_or("");
  bool ofKeys = role == "k" || role == "v";
  StringRef rows = isPacked ? (ofKeys ? "Tkv" : "T") : ofKeys ? "Skv" : "Sq";
  std::string letters[] = {"B", ofKeys ? "Hkv" : "Hq", rows.str(),
                           role == "v" || role == "o" ? "Dv" : "D"};
  bool known = ofKeys || role == "q" || role == "o" || role == "lse" ||
               role == "row_max";
  json::Array names;
  for (auto [i, extent] : enumerate(*argument.getArray("shape"))) {
    int64_t value = extent.getAsInteger().value_or(-1);
    names.push_back(value >= 0                ? std::to_string(value)
                    : known && i < 4          ? letters[i]
                    : role.starts_with("len") ? "B"
                    : role.starts_with("cu")  ? "sequences + 1"
                                              : "any");
  }
  return names;
}

json::Object makeEntry(const KernelJob &job, StringRef format,
                       StringRef image) {
  const KernelRequest &request = job.request;
  json::Object entry(job.result.info);
  entry["name"] = request.name;
  entry["operator"] = request.operatorName;
  entry["format"] = format.str();
  entry["image"] = image.str();
  entry["workspace_bytes"] = 0;
  if (!request.when.empty())
    entry["when"] = json::Object(request.when);
  json::Array &arguments = *entry.getArray("args");
  bool isPacked = any_of(arguments, [](const json::Value &argument) {
    return argument.getAsObject()->getString("role") == "cu_q";
  });
  for (json::Value &argument : arguments)
    if (argument.getAsObject()->getString("kind") == "tensor")
      (*argument.getAsObject())["extents"] =
          nameExtents(*argument.getAsObject(), isPacked);
  return entry;
}

json::Array makeEntries(const LibraryContents &library) {
  json::Array entries;
  for (const std::unique_ptr<KernelJob> &job : library.jobs) {
    const CompiledKernel &kernel = job->result;
    for (const auto &[format, image] : kernel.images)
      entries.push_back(makeEntry(*job, format, "sha256:" + toHex(image.hash)));
    if (kernel.images.empty())
      entries.push_back(makeEntry(*job, "cpu", "cpu:" + kernel.symbol));
  }
  return entries;
}

json::Array makeOperators(const LibraryContents &library) {
  json::Array operators;
  for (const LibraryOperator &op : library.operators) {
    json::Array kernels;
    std::vector<StringRef> identities;
    for (const KernelRequest *request : op.kernels) {
      kernels.push_back(request->name);
      identities.push_back(request->identity);
    }
    operators.push_back(
        json::Object{{"name", op.name},
                     {"source", op.kernels.front()->source},
                     {"hash", "sha256:" + toHex(hashParts(identities))},
                     {"kernels", std::move(kernels)}});
  }
  return operators;
}

json::Array makeLeftOut(const LibraryContents &library) {
  json::Array pairs;
  for (const LeftOut &pair : library.leftOut)
    pairs.push_back(json::Object{{"kernel", pair.request->name},
                                 {"target", pair.target.str()},
                                 {"reason", pair.reason}});
  return pairs;
}

} // namespace

std::string qm::driver::makeLibraryManifest(const LibraryContents &library) {
  json::Object compiler{{"qmc", QM_VERSION}, {"llvm", LLVM_VERSION_STRING}};
  if (!library.ptxasVersion.empty())
    compiler["ptxas"] = library.ptxasVersion;
  json::Object manifest{{"qm_manifest", 1},
                        {"compiler", std::move(compiler)},
                        {"operators", makeOperators(library)},
                        {"kernels", makeEntries(library)}};
  if (!library.leftOut.empty())
    manifest["left_out"] = makeLeftOut(library);
  std::string content = formatv("{0}", json::Value(json::Object(manifest)));
  // CPU code is no image of the package; it belongs to the library all the
  // same.
  std::vector<std::string> objects = {content};
  for (const std::unique_ptr<KernelJob> &job : library.jobs)
    objects.push_back(job->result.object);
  std::vector<StringRef> parts(objects.begin(), objects.end());
  manifest["library"] = json::Object{
      {"name", library.name}, {"hash", "sha256:" + toHex(hashParts(parts))}};
  return formatv("{0:2}\n", json::Value(std::move(manifest)));
}
