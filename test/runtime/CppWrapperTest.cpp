//===- CppWrapperTest.cpp - qm.hpp, as C++17 ------------------------------===//

#include "runtime/qm.hpp"
#include "test/runtime/Probe.h"
#include "test/runtime/TempFolder.h"

#include <gtest/gtest.h>

namespace {

qm::Library cpuLibrary() {
  return qm::Library(
      probe::manifest({probe::entry("cpu", "probe.so")}),
      {qm_image{sizeof(qm_image), "probe.so", nullptr, 0, probe::run}});
}

TEST(CppWrapper, DescribesAndLaunches) {
  qm::Library library = cpuLibrary();
  ASSERT_EQ(library.size(), 1u);
  qm::Kernel kernel = library.kernel("probe");
  EXPECT_EQ(kernel.name(), library[0].name());
  EXPECT_EQ(kernel.info().argument_count, 8u);
  EXPECT_STREQ(kernel.argument(3).name, "bias");
  EXPECT_EQ(kernel.variant(0).tile_m, 4);
  EXPECT_EQ(kernel.select({kDLCPU, 0}), 0u);
  kernel.prepare({kDLCPU, 0});

  probe::Arguments arguments;
  std::vector<qm_value> values = arguments.values();
  kernel.launch(values.data(), values.size(), nullptr, 2);
  EXPECT_TRUE(arguments.outputsAreRight());
}

TEST(CppWrapper, OperatorsPickTheirKernel) {
  qm::Library library = cpuLibrary();
  qm::Operator op = library.op("probe");
  EXPECT_EQ(op.name(), "probe");
  EXPECT_EQ(op.info().kernel_count, 1u);
  op.prepare({kDLCPU, 0});
  probe::Arguments arguments;
  std::vector<qm_value> v = arguments.values();
  EXPECT_EQ(op.select({v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]}).get(),
            op.kernel(0).get());
  op.launch(v.data(), v.size());
  EXPECT_TRUE(arguments.outputsAreRight());
  EXPECT_THROW(op.launch(v.data(), 3), qm::RuntimeError);
}

TEST(CppWrapper, TensorsNeedNoDLTensorByHand) {
  probe::Arguments arguments;
  DLDataType f32 = {kDLFloat, 32, 1};
  auto view = [&](probe::Tensor &tensor) { return tensor.data.data(); };
  qm::Tensor q(view(arguments.q), f32, {2, 4, 6, 8});
  qm::Tensor k(view(arguments.k), f32, {2, 2, 5, 8}, {kDLCPU, 0},
               {80, 40, 8, 1});
  qm::Tensor v(view(arguments.v), f32, {2, 2, 5, 8});
  qm::Tensor bias(view(arguments.bias), f32, {7});
  qm::Tensor o(view(arguments.o), f32, {2, 4, 6, 8});
  qm::Tensor lse(view(arguments.lse), f32, {2, 4, 6});
  qm::Library library = cpuLibrary();
  qm::Kernel kernel = library.kernel("probe");
  kernel.check({q, k, v, bias, qm_i32(3), qm_f32(0.5f), o, lse});
  EXPECT_TRUE(arguments.outputsAreUntouched());
  kernel.launch({q, k, v, bias, qm_i32(3), qm_f32(0.5f), o, lse});
  EXPECT_TRUE(arguments.outputsAreRight());
  EXPECT_THROW(qm::Tensor(nullptr, f32, {1, 2}, {kDLCPU, 0}, {1}),
               std::invalid_argument);
}

TEST(CppWrapper, FailuresAreExceptionsWithStatusAndText) {
  try {
    cpuLibrary().kernel("none");
    FAIL();
  } catch (const qm::RuntimeError &error) {
    EXPECT_EQ(error.status(), QM_ERROR_UNKNOWN_KERNEL);
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "QM0507: ");
  }
  EXPECT_THROW(qm::Library("/nowhere.json"), qm::RuntimeError);
  EXPECT_THROW(qm::Library("{}", {}), qm::RuntimeError);
}

} // namespace
