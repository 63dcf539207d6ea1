//===- Version.cpp - versions of qmc and what it stands on ----------------===//
#include "qmc/Version.h"

#include "lowering/ptx/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

/// "13.0.88", from "Cuda compilation tools, release 13.0, V13.0.88".
static std::string ptxasVersion(StringRef path) {
  SmallString<128> output;
  if (sys::fs::createTemporaryFile("qmc-version", "txt", output))
    return "unknown";
  std::optional<StringRef> redirects[] = {StringRef(""), output.str(),
                                          StringRef("")};
  sys::ExecuteAndWait(path, {path, "--version"}, std::nullopt, redirects,
                      /*SecondsToWait=*/10);
  auto text = MemoryBuffer::getFile(output);
  sys::fs::remove(output);
  if (!text)
    return "unknown";
  return (*text)->getBuffer().split(", V").second.take_until(isspace).str();
}

void qm::driver::printVersion(raw_ostream &os) {
  os << "qmc " QM_VERSION "\nLLVM " LLVM_VERSION_STRING "\n";
  std::string ptxas = ptx::findPtxas("");
  if (ptxas.empty())
    os << "ptxas not found (see `qmc explain QM0420`)\n";
  else
    os << "ptxas " << ptxasVersion(ptxas) << " (" << ptxas << ")\n";
}

std::string qm::driver::ptxasIdentity(StringRef explicitPath,
                                      std::string &version) {
  std::string path = ptx::findPtxas(explicitPath);
  version = path.empty() ? "" : ptxasVersion(path);
  return path.empty() ? "" : path + " " + version;
}
