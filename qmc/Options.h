//===- Options.h - what the command line asks for ---------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qm::driver {

enum class Command { Build, Run, Verify, Bench, Tune, Explain };

/// Values as written; what a name means is checked where it is used.
struct Options {
  Command command = Command::Build;
  std::string input; ///< .cpp, .mlir, "-"; for explain also a code, "QM0203"
  std::vector<std::string> files; ///< every input, for a library

  // What to compile.
  std::string spec; ///< "": all
  bool listSpecs = false;
  std::vector<std::string> arch;
  std::vector<std::string> emit;
  std::string output;
  std::vector<std::string> overrides; ///< --set
  std::string schedules;              ///< a file of `tune`, "" for none
  std::string ptxas, cxx;
  std::vector<std::string> includes; ///< -I, for a .cpp spec

  // A library (build): what is built of each spec, and how.
  std::vector<std::string> dtypes;
  std::vector<int64_t> headDims;
  std::vector<std::string> heads;    ///< "32x8"
  std::vector<std::string> variants; ///< "decode:query<=64:KEY=VALUE"
  std::string cacheDir, depfile;
  unsigned jobs = 0; ///< 0: one a core

  // What to show.
  bool verbose = false, time = false, json = false;
  std::optional<std::string> printIrAfter; ///< a pass, or "*": each
  std::optional<std::string> saveTemps;    ///< a folder

  // Where to run (run, verify, bench).
  std::string target = "cpu"; ///< cpu or gpu
  int device = 0;             ///< ordinal of the GPU

  // The call (run, verify, bench, explain).
  std::optional<int64_t> batch, sq, skv;
  std::vector<std::string> inputs, params, extents; ///< NAME=...
  std::string layout;                               ///< bshd, bhsd or ""
  uint64_t seed = 1;
  unsigned threads = 0; ///< 0: all cores
  unsigned repeat = 5;
  std::string dumpCase; ///< a folder

  // What to measure (bench).
  std::string suite;       ///< a name or a .json file; "": the input
  std::string cells;       ///< only cells with this in their name
  std::string peers;       ///< a .json file
  std::string results;     ///< where rows go, "" for nowhere
  std::string dumpKernels; ///< a folder
  std::string times;       ///< of candidates, timed elsewhere (tune)

  // What to draw (explain).
  std::string picture; ///< a .svg file, "" for none
};

/// Parses the command line. Returns nothing if the process should end now, with
/// `exitCode`: after --help or --version, or after an error was printed.
std::optional<Options> parseOptions(int argc, char **argv, int &exitCode);

/// Splits "NAME=VALUE"; the error names `flag`.
mlir::FailureOr<std::pair<std::string, std::string>>
splitAssignment(llvm::StringRef text, llvm::StringRef flag);

} // namespace qm::driver
