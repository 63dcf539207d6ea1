//===- Passes.h - passes of the CPU lowering --------------------*- C++ -*-===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace arith {
class ArithDialect;
}
namespace LLVM {
class LLVMDialect;
class LLVMFuncOp;
} // namespace LLVM
namespace math {
class MathDialect;
}
namespace scf {
class SCFDialect;
}
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace qm::cpu {

#define GEN_PASS_DECL
#include "lowering/cpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/cpu/Passes.h.inc"

} // namespace qm::cpu
