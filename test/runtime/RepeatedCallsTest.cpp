//===- RepeatedCallsTest.cpp - calls that come again ----------------------===//
//
// A kernel keeps its last GPU calls that were right. Whatever changes in such a
// call must be seen: what is wrong then is refused as ever, what is right runs
// with the new values.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CudaFixture.h"

#include <functional>

using probe::Arguments;

namespace {

class RepeatedCalls : public CudaFixture {
protected:
  void SetUp() override {
    CudaFixture::SetUp();
    kernel = load({"sm_80:ptx"});
    fake().kernel = probe::run;
  }
  /// As `load`ed afresh: nothing is kept.
  int statusWithoutCache(const Arguments &arguments) {
    std::vector<qm_value> values = arguments.values();
    return qm_kernel_check(kernel, values.data(), values.size());
  }
  const qm_kernel *kernel;
};

TEST_F(RepeatedCalls, GiveTheSameLaunch) {
  Arguments arguments(gpu0);
  ASSERT_EQ(launch(kernel, arguments), QM_OK) << qm_last_error();
  FakeLaunch first = fake().last;
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(launch(kernel, arguments), QM_OK);
    EXPECT_EQ(memcmp(first.slots, fake().last.slots, probe::slots * 8), 0);
    EXPECT_EQ(first.grid, fake().last.grid);
  }
  EXPECT_TRUE(arguments.outputsAreRight());
}

TEST_F(RepeatedCalls, ManyInTurnsAreNotMixedUp) {
  std::vector<std::unique_ptr<Arguments>> calls;
  for (int64_t batch = 1; batch <= 7; ++batch)
    calls.push_back(std::make_unique<Arguments>(gpu0, batch, batch + 1));
  for (int round = 0; round < 3; ++round)
    for (auto &arguments : calls) {
      arguments->window = round;
      ASSERT_EQ(launch(kernel, *arguments), QM_OK) << qm_last_error();
      EXPECT_TRUE(arguments->outputsAreRight());
    }
}

TEST_F(RepeatedCalls, NewScalarsAndBuffersAreTaken) {
  Arguments arguments(gpu0), other(gpu0);
  for (int i = 0; i < 4; ++i) {
    arguments.window = i;
    arguments.cap = 0.25f * static_cast<float>(i);
    ASSERT_EQ(launch(kernel, arguments), QM_OK);
    EXPECT_TRUE(arguments.outputsAreRight()) << i;
  }
  arguments.k.dl.data = other.k.dl.data;
  ASSERT_EQ(launch(kernel, arguments), QM_OK);
  EXPECT_EQ(fake().last.slots[9], reinterpret_cast<int64_t>(other.k.dl.data));
  arguments.k.dl.byte_offset = 32;
  ASSERT_EQ(launch(kernel, arguments), QM_OK);
  EXPECT_EQ(fake().last.slots[9],
            reinterpret_cast<int64_t>(other.k.dl.data) + 32);
}

TEST_F(RepeatedCalls, WhateverBecomesWrongIsRefused) {
  using Change = std::function<void(Arguments &)>;
  const Change changes[] = {
      [](Arguments &a) { a.q.dl.ndim = 3; },
      [](Arguments &a) { a.q.dl.shape = nullptr; },
      [](Arguments &a) { a.k.shape[2] = 4; },
      [](Arguments &a) { a.v.shape[1] = 3; },
      [](Arguments &a) { a.o.strides[0] = 0; },
      [](Arguments &a) { a.q.strides[2] = 9; },
      [](Arguments &a) { a.q.strides[3] = 2; },
      [](Arguments &a) { a.k.dl.dtype.bits = 16; },
      [](Arguments &a) { a.v.dl.dtype.lanes = 2; },
      [](Arguments &a) { a.o.dl.dtype.code = kDLInt; },
      [](Arguments &a) { a.v.dl.device.device_id = 1; },
      [](Arguments &a) { a.k.dl.device.device_type = kDLCPU; },
      [](Arguments &a) { a.q.dl.data = nullptr; },
      [](Arguments &a) { a.q.dl.byte_offset = 4; },
      [](Arguments &a) { a.lse.dl.byte_offset = UINT64_MAX; },
  };
  int number = 0;
  for (const Change &change : changes) {
    Arguments arguments(gpu0);
    ASSERT_EQ(launch(kernel, arguments), QM_OK);
    ASSERT_EQ(launch(kernel, arguments), QM_OK);
    int launches = fake().launches;
    change(arguments);
    int expected = statusWithoutCache(arguments);
    EXPECT_NE(expected, QM_OK) << number;
    EXPECT_EQ(launch(kernel, arguments), expected) << number;
    EXPECT_EQ(fake().launches, launches) << number;
    ++number;
  }
}

TEST_F(RepeatedCalls, KindsAndCountsAreLookedAt) {
  Arguments arguments(gpu0);
  std::vector<qm_value> values = arguments.values();
  auto call = [&](size_t count) {
    return qm_launch(kernel, values.data(), count, nullptr);
  };
  ASSERT_EQ(call(8), QM_OK);
  EXPECT_EQ(call(7), QM_ERROR_ARGUMENT_COUNT);
  values[4] = qm_f32(1.0f);
  EXPECT_EQ(call(8), QM_ERROR_ARGUMENT_KIND);
  values[4] = values[0];
  EXPECT_EQ(call(8), QM_ERROR_ARGUMENT_KIND);
  values[4] = qm_i32(arguments.window);
  EXPECT_EQ(call(8), QM_OK);
  values[0] = qm_tensor(nullptr);
  EXPECT_EQ(call(8), QM_ERROR_TENSOR_NULL);
  EXPECT_EQ(qm_launch(kernel, nullptr, 8, nullptr), QM_ERROR_NULL_ARGUMENT);
}

} // namespace
