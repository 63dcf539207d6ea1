//===- RegionProgram.h - a score or mask region as a list of steps *- C++ -*-=//
//
// A region of plain arith/math/attn ops, compiled once to a flat list of steps
// over numbered registers. RegionEvaluator runs it for many keys at a time, so
// the cost of decoding a step is shared by all of them.
//
// Integers are kept sign-extended to 64 bits (true is -1) and wrapped to their
// width after each step. Division and remainder by zero give 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/reference/HostTensor.h"

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace qm::reference {

/// What a step does; grouped by the register files it reads and writes.
enum class StepKind : uint8_t {
  // Leaves.
  FloatConstant,
  IntConstant,
  FloatArgument,
  IntArgument,
  Extent,
  LoadFloat,
  LoadInt,
  // float, float -> float
  AddF,
  SubF,
  MulF,
  DivF,
  RemF,
  MaximumF,
  MinimumF,
  MaxNumF,
  MinNumF,
  PowF,
  Atan2,
  CopySign,
  // float -> float
  NegF,
  AbsF,
  Ceil,
  Floor,
  Round,
  RoundEven,
  Trunc,
  Sqrt,
  Rsqrt,
  Cbrt,
  Exp,
  Exp2,
  ExpM1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Erf,
  RoundToType,
  // float, float, float -> float
  Fma,
  // int, int -> int
  AddI,
  SubI,
  MulI,
  DivSI,
  DivUI,
  FloorDivSI,
  CeilDivSI,
  RemSI,
  RemUI,
  AndI,
  OrI,
  XOrI,
  ShlI,
  ShrSI,
  ShrUI,
  MaxSI,
  MinSI,
  MaxUI,
  MinUI,
  CmpI,
  // int -> int
  AbsI,
  ExtUI,
  CopyI,
  // mixed
  CmpF,
  SIToFP,
  UIToFP,
  FPToSI,
  FPToUI,
  SelectF,
  SelectI
};

struct Step {
  StepKind kind;
  bool givesInteger = false; ///< The file of the result's register.
  /// Bits of the integer result, or of the integer operand of ExtUI, UIToFP,
  /// CmpI and shifts.
  uint8_t width = 64;
  uint8_t predicate = 0;        ///< CmpI, CmpF: MLIR's number.
  DType roundType = DType::F64; ///< RoundToType.
  int result = -1;              ///< Register in the file of its type.
  int operands[3] = {-1, -1, -1};
  double floatValue = 0;             ///< FloatConstant.
  int64_t intValue = 0;              ///< IntConstant; Extent: which.
  unsigned argument = 0;             ///< Arguments, loads: function argument.
  llvm::SmallVector<int, 4> indices; ///< Loads.
};

/// The compiled region. Steps that do not depend on the key or on the score
/// come in `rowSteps`, the others in `keySteps`.
struct RegionProgram {
  llvm::SmallVector<Step, 0> rowSteps;
  llvm::SmallVector<Step, 0> keySteps;
  int floatRegisters = 0;
  int intRegisters = 0;
  /// Registers of the region's arguments (-1: there is none; a sink has no row
  /// and no key).
  int score = -1, batch = -1, head = -1, row = -1, key = -1;
  int result = -1;
  /// Whether the result can differ between batches or heads.
  bool usesBatch = false, usesHead = false;
};

/// Compiles a region of an `attn.attention`: arguments are b, h, i, j, after a
/// leading score if there are five; b and h of a sink. Emits a diagnostic for
/// an op that has no meaning here.
mlir::FailureOr<RegionProgram> compileRegion(mlir::Region &region);

} // namespace qm::reference
