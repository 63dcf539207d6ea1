//===- SequenceLengthsTest.cpp - packed and padded calls ------------------===//

#include "runtime/Error.h"
#include "runtime/PackArguments.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace qm::runtime;

namespace {

/// A signature with 4 and 2 heads of 8 columns; `lengths` are arguments after
/// v, `batch` the extent of q, k, v, o and lse.
ManifestEntry entryWith(const std::string &lengths, const std::string &batch) {
  auto tensor = [&](const char *name, const char *rest) {
    return std::string(R"({"name": ")") + name + R"(", "kind": "tensor", )" +
           R"("dtype": "f32", "shape": [)" + batch + rest + R"(], "role": ")" +
           name + "\"}";
  };
  std::string text =
      R"({"qm_manifest": 1, "kernels": [{"name": "f", "target": "cpu",
      "entry": "f", "image": "f.so", "tile_m": 4, "tile_n": 8, "args": [)" +
      tensor("q", ",4,-1,8") + "," + tensor("k", ",2,-1,8") + "," +
      tensor("v", ",2,-1,8") + "," + lengths + tensor("o", ",4,-1,8") + "," +
      tensor("lse", ",4,-1") + R"(], "schedule": {}, "precision": {}}]})";
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parseManifest(text, "a test", entries), QM_OK) << lastError();
  return entries.empty() ? ManifestEntry() : entries.front();
}

std::string lengthsArgument(const char *name) {
  return std::string(R"({"name": ")") + name +
         R"(", "kind": "tensor", "dtype": "i32", "shape": [-1], "role": ")" +
         name + "\"},";
}
const std::string cu = lengthsArgument("cu_q") + lengthsArgument("cu_kv");
const std::string len = lengthsArgument("len_q") + lengthsArgument("len_kv");

/// A compact tensor of f32 on the CPU.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<int32_t> data;
  DLTensor dl = {};

  explicit Tensor(std::vector<int64_t> extents, DLDataTypeCode code = kDLFloat)
      : shape(std::move(extents)) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    data.resize(count);
    dl.data = data.data();
    dl.device = {kDLCPU, 0};
    dl.ndim = static_cast<int32_t>(shape.size());
    dl.dtype = {static_cast<uint8_t>(code), 32, 1};
    dl.shape = shape.data();
  }
  Tensor(const Tensor &) = delete;
};

/// Lengths or starts.
struct Numbers : Tensor {
  explicit Numbers(const std::vector<int32_t> &values)
      : Tensor({static_cast<int64_t>(values.size())}, kDLInt) {
    std::copy(values.begin(), values.end(), data.begin());
  }
};

int pack(const ManifestEntry &entry, std::initializer_list<Tensor *> tensors,
         PackedCall &call) {
  std::vector<qm_value> values;
  for (Tensor *tensor : tensors)
    values.push_back(qm_tensor(&tensor->dl));
  return packArguments(entry.signature, values.data(), values.size(), call);
}

// [T, H, D] is [1, H, T, D] with the strides that it has, and lse [H, T]
// likewise.
TEST(SequenceLengths, PackedTensorsMayLackTheBatch) {
  ManifestEntry entry = entryWith(cu, "1");
  Tensor q({10, 4, 8}), k({7, 2, 8}), v({7, 2, 8}), o({10, 4, 8}), lse({4, 10});
  Numbers starts({0, 3, 3, 10}), keyStarts({0, 0, 5, 7});
  PackedCall call;
  ASSERT_EQ(pack(entry, {&q, &k, &v, &starts, &keyStarts, &o, &lse}, call),
            QM_OK)
      << lastError();
  EXPECT_EQ(std::vector<int64_t>(call.slots + 1, call.slots + 9),
            (std::vector<int64_t>{1, 4, 10, 8, 320, 8, 32, 1}));
  EXPECT_EQ(std::vector<int64_t>(call.slots + 43, call.slots + 49),
            (std::vector<int64_t>{1, 4, 10, 40, 10, 1}));
  // 4 heads, each floor(10 / 4) + 3 sequences.
  EXPECT_EQ(call.tiles(4), 4 * (2 + 3));
  Numbers nothing({0});
  ASSERT_EQ(pack(entry, {&q, &k, &v, &nothing, &nothing, &o, &lse}, call),
            QM_OK);
  EXPECT_EQ(call.tiles(4), 0);
}

TEST(SequenceLengths, PackedTensorsMayHaveTheBatch) {
  ManifestEntry entry = entryWith(cu, "1");
  Tensor q({1, 4, 10, 8}), k({1, 2, 7, 8}), v({1, 2, 7, 8}), o({1, 4, 10, 8}),
      lse({1, 4, 10});
  Numbers starts({0, 10}), keyStarts({0, 7});
  PackedCall call;
  EXPECT_EQ(pack(entry, {&q, &k, &v, &starts, &keyStarts, &o, &lse}, call),
            QM_OK)
      << lastError();
}

TEST(SequenceLengths, StartsAscendWithinTheTokens) {
  ManifestEntry entry = entryWith(cu, "1");
  Tensor q({10, 4, 8}), k({7, 2, 8}), v({7, 2, 8}), o({10, 4, 8}), lse({4, 10});
  Numbers good({0, 4, 7});
  struct Case {
    std::vector<int32_t> starts;
    const char *message;
  };
  for (const Case &bad :
       {Case{{0, 5, 4}, "'cu_q' is 4 at 2, not from 5 to 10"},
        Case{{0, 5, 11}, "'cu_q' is 11 at 2, not from 5 to 10"},
        Case{{-1, 5, 10}, "'cu_q' is -1 at 0, not from 0 to 10"},
        Case{{0, 5}, "extent 0 of 'cu_q' is 2 but extent 0 of 'cu_kv' is 3"}}) {
    Numbers starts(bad.starts);
    PackedCall call;
    EXPECT_NE(pack(entry, {&q, &k, &v, &starts, &good, &o, &lse}, call), QM_OK);
    EXPECT_NE(strstr(lastError(), bad.message), nullptr) << lastError();
  }
  Numbers empty({});
  PackedCall call;
  EXPECT_EQ(pack(entry, {&q, &k, &v, &empty, &empty, &o, &lse}, call),
            QM_ERROR_TENSOR_SIZE);
}

TEST(SequenceLengths, PaddedLengthsAreWithinTheBatchEntry) {
  ManifestEntry entry = entryWith(len, "-1");
  Tensor q({3, 4, 10, 8}), k({3, 2, 7, 8}), v({3, 2, 7, 8}), o({3, 4, 10, 8}),
      lse({3, 4, 10});
  Numbers queries({10, 0, 3}), keys({7, 1, 0});
  PackedCall call;
  ASSERT_EQ(pack(entry, {&q, &k, &v, &queries, &keys, &o, &lse}, call), QM_OK)
      << lastError();
  EXPECT_EQ(call.tiles(4), 3 * 4 * 3);
  Numbers tooLong({7, 8, 0});
  EXPECT_EQ(pack(entry, {&q, &k, &v, &queries, &tooLong, &o, &lse}, call),
            QM_ERROR_TENSOR_SIZE);
  EXPECT_NE(strstr(lastError(), "'len_kv' is 8 at 1, not from 0 to 7"), nullptr)
      << lastError();
  Numbers few({7, 1});
  EXPECT_EQ(pack(entry, {&q, &k, &v, &queries, &few, &o, &lse}, call),
            QM_ERROR_TENSOR_SHAPE);
}

// Without packed sequences a tensor of rank 3 is a mistake.
TEST(SequenceLengths, OnlyPackedTensorsMayLackTheBatch) {
  ManifestEntry entry = entryWith("", "-1");
  Tensor q({10, 4, 8}), k({7, 2, 8}), v({7, 2, 8}), o({10, 4, 8}), lse({4, 10});
  PackedCall call;
  EXPECT_EQ(pack(entry, {&q, &k, &v, &o, &lse}, call), QM_ERROR_TENSOR_RANK);
}

TEST(SequenceLengths, ManifestsHaveOneKindOfLengths) {
  for (const std::string &bad :
       {lengthsArgument("cu_kv"), lengthsArgument("len_kv"), cu + len}) {
    std::vector<ManifestEntry> entries;
    std::string text =
        R"({"qm_manifest": 1, "kernels": [{"name": "f", "target": "cpu",
        "entry": "f", "image": "f.so", "tile_m": 4, "tile_n": 8, "args": [)" +
        bad.substr(0, bad.size() - 1);
    for (const char *name : {"q", "k", "v", "o"})
      text += std::string(R"(,{"name": ")") + name +
              R"(", "kind": "tensor", "dtype": "f32", "shape": [-1,4,-1,8], )" +
              R"("role": ")" + name + "\"}";
    text += R"(], "schedule": {}, "precision": {}}]})";
    EXPECT_EQ(parseManifest(text, "a test", entries),
              QM_ERROR_MANIFEST_INVALID);
  }
}

} // namespace
