// Builds one llvm.inline_asm that holds PTX. For what the NVVM dialect lacks,
// and for instructions whose constant offset has to stay inside the
// instruction: as an NVVM operation, base + constant becomes a value that LLVM
// hoists out of the loop, one register for each address. (nvvm.inline_ptx is no
// substitute: with read-only and read-write operands together it binds them to
// the wrong registers in LLVM 22.1.)
//
//   auto r = PtxAsm(b, "ldmatrix... {$0,$1,$2,$3}, [$4+256];").results(4,
//   i32).in(address).memory().emit();
//
// Operands are numbered results first, then inputs, in the order they are
// added.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <string>

namespace qm::nvvm {

class PtxAsm {
public:
  PtxAsm(mlir::ImplicitLocOpBuilder &builder, std::string text)
      : builder(builder), text(std::move(text)) {}

  /// `count` results of `type`: an integer of 1 (a predicate), 16, 32 or 64
  /// bits, or f32.
  PtxAsm &results(unsigned count, mlir::Type type);
  /// An input in a register of its type's width.
  PtxAsm &in(mlir::Value value);
  PtxAsm &in(mlir::ValueRange values);
  /// An input in the same register as result `index`.
  PtxAsm &tied(mlir::Value value, unsigned index);
  /// Never moved, merged or dropped, and kept in order with others of its kind.
  PtxAsm &ordered();
  /// Reads or writes memory: as `ordered`, and a fence for LLVM's own loads and
  /// stores.
  PtxAsm &memory();

  llvm::SmallVector<mlir::Value> emit();

private:
  mlir::ImplicitLocOpBuilder &builder;
  std::string text;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<std::string> inputConstraints;
  bool sideEffects = false, clobbersMemory = false;
};

} // namespace qm::nvvm
