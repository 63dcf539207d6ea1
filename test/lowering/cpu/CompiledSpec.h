//===- CompiledSpec.h - a spec, compiled for this CPU, and its oracle *- C++
//-*-=//
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/common/KernelInfo.h"
#include "lowering/cpu/Jit.h"
#include "lowering/reference/Reference.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>

namespace qm::test {

/// What a spec in these tests may vary. Head counts and dims are static.
struct SpecShape {
  int64_t heads = 2, kvHeads = 2, headDim = 64, valueHeadDim = 0; ///< 0: same
  std::string dtype = "f32";
  std::string modifiers = ""; ///< score and mask clauses
  std::string captures = "";  ///< ", %slopes: tensor<2xf32>"
  std::string scale = "";     ///< "" for 1/sqrt(D)

  int64_t dv() const { return valueHeadDim ? valueHeadDim : headDim; }
  std::string text() const;
};

/// Tensors of one call. O and lse begin as NaN: what is not written shows.
struct Call {
  reference::HostTensor q, k, v, o, lse;
  std::vector<reference::Argument> captures;

  /// Contiguous, q, k and v random normal.
  Call(const SpecShape &spec, int64_t batch, int64_t queries, int64_t keys,
       unsigned seed = 1);
  std::vector<reference::Argument> inputs() const;
};

class CompiledSpec {
public:
  using Overrides = std::vector<std::string>;
  /// Compiles for `target`; `edit`, if given, changes the scheduled module
  /// first.
  explicit CompiledSpec(const SpecShape &spec, const Overrides &overrides = {},
                        llvm::StringRef target = "cpu",
                        std::function<void(mlir::ModuleOp)> edit = {});

  bool valid() const { return entry; }
  const reference::Reference &oracle() const { return *reference; }
  /// Runs all tiles of a call whose views may have any strides.
  void run(llvm::ArrayRef<reference::Argument> inputs,
           const reference::TensorView &o, const reference::TensorView &lse,
           unsigned threads = 2) const;
  void run(Call &call, unsigned threads = 2) const;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<reference::Reference> reference;
  std::optional<cpu::Jit> jit;
  cpu::TileEntry entry = nullptr;
  lowering::KernelInfo info;
};

/// A batch that gives a thousand rows: the contract bounds the larger of many
/// errors, and of a few one is often twice another by chance.
int64_t batchFor(const SpecShape &spec, int64_t queries);

bool sameBits(const reference::HostTensor &a, const reference::HostTensor &b);

/// Largest errors against double precision of a run and of the yardstick, an
/// unfused reference in f32 with inputs of the same type.
struct Errors {
  double o = 0, lse = 0, yardstickO = 0, yardstickLse = 0;
  double largestO = 0, largestLse = 0;
};
Errors measure(const CompiledSpec &spec, const Call &call);

/// Compiles, runs and holds the errors against the numerics contract.
void expectAccurate(const SpecShape &spec, Call call,
                    const CompiledSpec::Overrides &overrides = {},
                    llvm::StringRef target = "cpu");
/// The same for a spec that is compiled and a call that has run.
void expectAccurate(const CompiledSpec &compiled, const Call &call,
                    llvm::StringRef dtype);

} // namespace qm::test
