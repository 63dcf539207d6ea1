// Prints the names of types, one a line: "library" names stand in libMLIR,
// others must only be the same for every compiler.
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <complex>
#include <cstdio>

namespace {

template <typename T>
void print(const char *kind) {
  llvm::StringRef name = llvm::getTypeName<T>();
  std::printf("%s %.*s\n", kind, static_cast<int>(name.size()), name.data());
}

template <typename T>
void library() {
  print<T>("library");
}

/// As mlir::TypeID::get<Trait>() names a trait.
template <template <typename> class Trait>
void library() {
  struct Empty {};
  print<Trait<Empty>>("library");
}

template <typename...>
struct Pack {};
template <unsigned N>
struct Number {};
template <mlir::WalkOrder Order>
struct Flagged {
  template <bool B>
  struct Inner {};
};

} // namespace

int main() {
  using namespace mlir;
  library<OpTrait::ZeroOperands>();
  library<OpTrait::OneOperand>();
  library<OpTrait::NOperands<2>::Impl>();
  library<OpTrait::AtLeastNOperands<1>::Impl>();
  library<OpTrait::VariadicOperands>();
  library<OpTrait::ZeroResults>();
  library<OpTrait::OneResult>();
  library<OpTrait::OneTypedResult<Type>::Impl>();
  library<OpTrait::OneTypedResult<IntegerType>::Impl>();
  library<OpTrait::VariadicResults>();
  library<OpTrait::ZeroRegions>();
  library<OpTrait::OneRegion>();
  library<OpTrait::NRegions<2>::Impl>();
  library<OpTrait::ZeroSuccessors>();
  library<OpTrait::OpInvariants>();
  library<OpTrait::IsTerminator>();
  library<OpTrait::NoTerminator>();
  library<OpTrait::SingleBlock>();
  library<OpTrait::IsIsolatedFromAbove>();
  library<OpTrait::SymbolTable>();
  library<OpTrait::ConstantLike>();
  library<OpTrait::AlwaysSpeculatableImplTrait>();
  library<OpTrait::SameOperandsAndResultType>();
  library<OpTrait::Elementwise>();
  library<ConditionallySpeculatable::Trait>();
  library<MemoryEffectOpInterface::Trait>();
  library<InferTypeOpInterface::Trait>();
  library<SymbolOpInterface::Trait>();
  library<OpAsmOpInterface::Trait>();
  library<BytecodeOpInterface::Trait>();
  library<MemoryEffectOpInterface>();
  library<OpAsmOpInterface>();
  library<std::complex<signed char>>();

  print<Pack<>>("other");
  print<Pack<Pack<Pack<>>, Pack<long, unsigned long>>>("other");
  print<Pack<short, unsigned short, long long, unsigned long long>>("other");
  print<Pack<std::complex<float>, llvm::StringRef>>("other");
  print<Number<7>>("other");
  print<Flagged<mlir::WalkOrder::PreOrder>::Inner<true>>("other");
  print<llvm::APInt>("other");
}
