//===- FollowedExtentsTest.cpp - buffers that fit the call, or do not -----===//
//
// A buffer declared over the batch, the queries or the keys has as many
// elements as the call has of them, or one for all. Any other number is an
// error: read with clamped indices, it would give wrong numbers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Error.h"
#include "runtime/PackArguments.h"
#include "test/runtime/Probe.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace qm::runtime;
using probe::Arguments;

namespace {

/// The probe's manifest with `follows` in the buffer's argument.
int parse(const std::string &follows, std::vector<ManifestEntry> &entries) {
  std::string text = probe::manifest({probe::entry("cpu", "probe.so")});
  const std::string role = R"("role": "buffer")";
  text.insert(text.find(role), R"("follows": )" + follows + ", ");
  return parseManifest(text, "a test", entries);
}

/// A call with batch 4, 6 queries and 5 keys.
int pack(const std::string &follows, int64_t extent) {
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(follows, entries), QM_OK) << lastError();
  Arguments arguments({kDLCPU, 0}, 4, 6, 5);
  arguments.bias.shape[0] = extent;
  std::vector<qm_value> values = arguments.values();
  PackedCall call;
  return packArguments(entries.front().signature, values.data(), values.size(),
                       call);
}

TEST(FollowedExtents, AreThoseOfTheCall) {
  EXPECT_EQ(pack(R"(["batch"])", 4), QM_OK);
  EXPECT_EQ(pack(R"(["query"])", 6), QM_OK);
  EXPECT_EQ(pack(R"(["key"])", 5), QM_OK);
}

TEST(FollowedExtents, OneElementIsForAll) {
  for (const char *follows : {R"(["batch"])", R"(["query"])", R"(["key"])"})
    EXPECT_EQ(pack(follows, 1), QM_OK) << follows;
}

TEST(FollowedExtents, AnyNumberWhereNothingIsFollowed) {
  EXPECT_EQ(pack(R"([""])", 3), QM_OK);
}

TEST(FollowedExtents, OthersAreRefused) {
  EXPECT_EQ(pack(R"(["batch"])", 2), QM_ERROR_TENSOR_SHAPE);
  EXPECT_STREQ(
      lastError(),
      "QM0515: extent 0 of buffer 'bias' is 2, but the call has 4 batch "
      "entries\nhelp: pass one element for each, or one for all");
  EXPECT_EQ(pack(R"(["query"])", 7), QM_ERROR_TENSOR_SHAPE);
  EXPECT_NE(strstr(lastError(), "6 queries"), nullptr) << lastError();
  EXPECT_EQ(pack(R"(["key"])", 6), QM_ERROR_TENSOR_SHAPE);
  EXPECT_NE(strstr(lastError(), "5 keys"), nullptr) << lastError();
}

TEST(FollowedExtents, BadManifestsAreRefused) {
  std::vector<ManifestEntry> entries;
  for (const char *follows :
       {R"(["heads"])", R"(["batch", "query"])", "[]", "7", "[1]", "\"batch\""})
    EXPECT_EQ(parse(follows, entries), QM_ERROR_MANIFEST_INVALID) << follows;
  EXPECT_NE(strstr(lastError(), "'follows' of argument 'bias'"), nullptr)
      << lastError();
}

} // namespace
