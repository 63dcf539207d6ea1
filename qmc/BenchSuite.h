//===- BenchSuite.h - lists of cells to measure -----------------*- C++ -*-===//
//
// Suites are data: suites/*.json, part of the program, or a file of the
// caller's. `qmc explain QM0024` has the format.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qm::driver {

/// One call to time.
struct BenchCell {
  std::string dtype; ///< "f16", "bf16", "f32"
  std::string mask;  ///< "full", "causal", or another of BenchMasks.h
  std::string score; ///< one of BenchScores.h, or ""
  int64_t batch, heads, kvHeads, sq, skv, headDim, valueDim;
  std::map<std::string, double> bars;   ///< least ratio to the peer, by target
  std::map<std::string, double> floors; ///< least TFLOP/s, by target
  /// The cell whose rate on the same target is what `bars` are against, instead
  /// of the suite's peer: what a score function costs, say. "" for the peer.
  std::string barCell;

  /// "bf16 B4 Hq16 Hkv16 S4096 D128 causal alibi": what peers call it, too.
  std::string name() const;
  /// "bf16_h16_kv16_d128_causal": cells that differ in batch and length share
  /// one.
  std::string kernel() const;
  /// 2 * B * Hq * Sq * Skv * (D + Dv), half of it if the mask is causal: the
  /// convention of published figures. 0 for other masks: their pairs have to be
  /// counted.
  double flops() const;
  llvm::json::Object toJson() const;
};

struct BenchSuite {
  std::string name;
  /// The peer that bars are against, by target.
  std::map<std::string, std::string> barPeers;
  std::vector<BenchCell> cells;

  /// A suite of that name, or a .json file. Errors are reported.
  static mlir::FailureOr<BenchSuite> load(llvm::StringRef nameOrFile);
  /// The kernels of its cells as a module at the spec level.
  std::string specText() const;
};

/// "forward, masks, published"
std::string suiteNames();

/// The text of a suite that is part of the program.
std::optional<llvm::StringRef> findSuiteText(llvm::StringRef name);

} // namespace qm::driver
