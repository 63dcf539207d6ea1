// qm-opt: mlir-opt for this project. Runs any pass or pipeline of ours alone.
#include "dialect/AttnOps.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "qmc/RegisterLowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<qm::attn::AttnDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  qm::driver::registerLoweringDialects(registry);
  mlir::registerTransformsPasses();
  qm::passes::registerQmPassesPasses();
  qm::passes::registerPipelines();
  qm::driver::registerLoweringPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "QiMeng pass driver\n", registry));
}
