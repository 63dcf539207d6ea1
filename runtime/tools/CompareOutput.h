//===- CompareOutput.h - an output against what it must be ------*- C++ -*-===//
#pragma once

#include "runtime/CaseFile.h"

#include <string>

namespace qm::runtime {

struct OutputError {
  double maxError = 0; ///< largest |got - expected|
  double worst = 0;    ///< largest |got - expected| / tolerance
  std::string flaw;    ///< the first thing wrong, or empty
};

/// `storage` is the output's memory after a launch; bytes outside the tensor's
/// elements must still be `poison`.
OutputError compareOutput(const CaseArgument &argument,
                          const std::string &storage, char poison);

/// The value of one element in memory.
double readElement(DataType type, const char *bytes);

} // namespace qm::runtime
