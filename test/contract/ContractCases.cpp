// qm-contract-cases: writes users' reports as case files for qm-run-cases.
#include "test/contract/GpuCases.h"

#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  cl::OptionCategory category("Options");
  cl::opt<std::string> folder(cl::Positional, cl::Required, cl::desc("FOLDER"),
                              cl::cat(category));
  cl::opt<std::string> target(cl::Positional, cl::init("sm_80"),
                              cl::desc("[TARGET, default sm_80]"),
                              cl::cat(category));
  cl::opt<std::string> prefix(cl::Positional,
                              cl::desc("[PREFIX of the names of cases]"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Writes users' reports as case files for qm-run-cases.\n");
  return failed(qm::contract::writeGpuCases(folder, target, prefix));
}
