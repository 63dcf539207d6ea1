// qm-contract-cases FOLDER [TARGET [PREFIX]]: writes users' reports as case
// files for qm-run-cases, for sm_80 or another GPU; those whose names begin
// with PREFIX.
#include "test/contract/GpuCases.h"

#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    llvm::errs() << "usage: qm-contract-cases FOLDER [TARGET [PREFIX]]\n";
    return 2;
  }
  return failed(qm::contract::writeGpuCases(
      argv[1], argc > 2 ? argv[2] : "sm_80", argc > 3 ? argv[3] : ""));
}
