//===- RegionEvaluator.h - runs a region program over keys ------*- C++ -*-===//
//
// One evaluator a thread. `Real` is the type of every floating-point register:
// double for the oracle, float where the f32 semantics decide (masks, and the
// yardstick of the numerics contract).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/reference/RegionProgram.h"

namespace qm::reference {

/// The extents of a call, in the order of `attn.extent`.
struct Extents {
  int64_t batch = 0, heads = 0, kvHeads = 0, query = 0, key = 0;
  int64_t get(int64_t which) const {
    const int64_t all[] = {batch, heads, kvHeads, query, key};
    return all[which];
  }
};

template <typename Real>
class RegionEvaluator {
public:
  /// Keys evaluated at a time.
  static constexpr int lanes = 256;

  /// `arguments` are those of the function; all three outlive the evaluator.
  RegionEvaluator(const RegionProgram &program,
                  llvm::ArrayRef<Argument> arguments, const Extents &extents);

  /// Chooses the query row; runs the steps that do not depend on the key.
  void setRow(int64_t batch, int64_t head, int64_t row);

  /// Modifies `scores[0, count)`, those of keys firstKey, firstKey + 1, ...
  /// `count` is at most `lanes`.
  void score(int64_t firstKey, int count, Real *scores);

  /// Whether each of the keys is kept.
  void mask(int64_t firstKey, int count, bool *keep);

  /// The logit of a sink.
  Real sink(int64_t batch, int64_t head);

private:
  Real *reals(int index) { return realStorage.data() + index * lanes; }
  int64_t *integers(int index) { return intStorage.data() + index * lanes; }
  void run(llvm::ArrayRef<Step> steps, int count);
  void runLoad(const Step &step, int count);
  void runIntStep(const Step &step, int count);
  void runRealStep(const Step &step, int count);

  const RegionProgram &program;
  llvm::ArrayRef<Argument> arguments;
  const Extents &extents;
  std::vector<Real> realStorage;
  std::vector<int64_t> intStorage;
};

extern template class RegionEvaluator<double>;
extern template class RegionEvaluator<float>;

} // namespace qm::reference
