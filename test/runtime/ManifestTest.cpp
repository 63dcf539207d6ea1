//===- ManifestTest.cpp - good manifests are read, bad ones named ---------===//

#include "runtime/Manifest.h"
#include "runtime/Error.h"
#include "test/runtime/Probe.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace qm::runtime;

namespace {

int parse(const std::string &text, std::vector<ManifestEntry> &entries) {
  return parseManifest(text, "test.json", entries);
}

/// Text with the first `from` replaced.
std::string edited(std::string text, const std::string &from,
                   const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string good =
    probe::manifest({probe::entry("sm_80", "probe.cubin")});

TEST(Manifest, IsReadWhole) {
  std::vector<ManifestEntry> entries;
  ASSERT_EQ(parse(good, entries), QM_OK) << lastError();
  ASSERT_EQ(entries.size(), 1u);
  const ManifestEntry &entry = entries[0];
  EXPECT_EQ(entry.signature.kernel, "probe");
  EXPECT_EQ(entry.target, "sm_80");
  EXPECT_EQ(entry.entry, "probe_entry");
  EXPECT_EQ(entry.image, "probe.cubin");
  EXPECT_EQ(entry.tileM, 4);
  EXPECT_EQ(entry.tileN, 8);
  EXPECT_EQ(entry.threads, 128);
  EXPECT_EQ(entry.sharedBytes, 1024);
  EXPECT_FALSE(entry.isCpu());
  const Signature &signature = entry.signature;
  EXPECT_EQ(signature.slots, probe::slots);
  EXPECT_EQ(signature.q, 0);
  EXPECT_EQ(signature.o, 6);
  EXPECT_EQ(signature.lse, 7);
  ASSERT_EQ(signature.arguments.size(), 8u);
  EXPECT_EQ(signature.arguments[3].name, "bias");
  EXPECT_EQ(signature.arguments[3].role, Role::Buffer);
  EXPECT_EQ(signature.arguments[1].shape, (std::vector<int64_t>{-1, 2, -1, 8}));
  EXPECT_EQ(signature.arguments[4].dtype, DataType::I32);
  EXPECT_TRUE(signature.arguments[4].isScalar());
}

TEST(Manifest, ACpuEntryNeedsNoThreads) {
  std::string text =
      probe::manifest({probe::entry("cpu", "probe.so", R"("threads": null)")});
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(text, entries), QM_OK) << lastError();
}

TEST(Manifest, EveryTruncationIsAnError) {
  std::vector<ManifestEntry> entries;
  for (size_t length = 0; length < good.size(); ++length)
    ASSERT_EQ(parse(good.substr(0, length), entries), QM_ERROR_MANIFEST_INVALID)
        << length;
  EXPECT_TRUE(entries.empty());
}

TEST(Manifest, EveryDamagedByteIsSurvived) {
  for (size_t at = 0; at < good.size(); ++at)
    for (char byte : {'\0', '\xff', '-', '9', '"', '['}) {
      std::string text = good;
      text[at] = byte;
      std::vector<ManifestEntry> entries;
      parse(text, entries); // an error or not, but no crash
    }
}

TEST(Manifest, DeepNestingIsSurvived) {
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(std::string(1000000, '['), entries),
            QM_ERROR_MANIFEST_INVALID);
}

TEST(Manifest, AnotherVersionIsNamed) {
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(
      parse(edited(good, "\"qm_manifest\": 1", "\"qm_manifest\": 2"), entries),
      QM_ERROR_MANIFEST_VERSION);
  EXPECT_STREQ(lastError(),
               "QM0505: test.json has manifest version 2, this runtime reads "
               "version 1\nhelp: build it with the qmc that belongs to this "
               "runtime");
}

TEST(Manifest, AWorkspaceIsForALaterRuntime) {
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(
      parse(edited(good, "\"tile_m\"", "\"workspace_bytes\": 64, \"tile_m\""),
            entries),
      QM_ERROR_MANIFEST_VERSION);
  EXPECT_NE(strstr(lastError(),
                   "it needs 64 bytes of workspace a launch, which "
                   "this runtime does not know"),
            nullptr)
      << lastError();
  EXPECT_EQ(
      parse(edited(good, "\"tile_m\"", "\"workspace_bytes\": 0, \"tile_m\""),
            entries),
      QM_OK);
}

struct Damage {
  const char *from, *to, *message;
};

class DamagedManifest : public testing::TestWithParam<Damage> {};

TEST_P(DamagedManifest, IsNamed) {
  auto [from, to, message] = GetParam();
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(edited(good, from, to), entries), QM_ERROR_MANIFEST_INVALID);
  EXPECT_NE(std::string(lastError()).find(message), std::string::npos)
      << lastError();
  EXPECT_TRUE(entries.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedManifest,
    testing::Values(
        Damage{"qm_manifest", "other_file", "no field 'qm_manifest'"},
        Damage{"\"qm_manifest\": 1", "\"qm_manifest\": \"1\"",
               "not a version number"},
        Damage{"\"qm_manifest\": 1", "\"qm_manifest\": 1.0",
               "not a version number"},
        Damage{"\"kernels\"", "\"kernel\"", "field 'kernels' is missing"},
        Damage{"[{\"name\": \"probe\"", "[7, {\"name\": \"probe\"",
               "not an object"},
        Damage{"\"name\": \"probe\"", "\"name\": \"\"", "non-empty string"},
        Damage{"\"entry\": \"probe_entry\"", "\"entry\": 5",
               "in kernel 'probe', field 'entry'"},
        Damage{"probe_entry", "probe\\u0000entry", "NUL"},
        Damage{"\"image\": \"probe.cubin\"", "\"image\": \"../probe.cubin\"",
               "not a file beside the manifest"},
        Damage{"\"image\": \"probe.cubin\"", "\"image\": \"/etc/passwd\"",
               "not a file beside the manifest"},
        Damage{"\"tile_m\": 4", "\"tile_m\": 0", "field 'tile_m' is 0"},
        Damage{"\"tile_m\": 4", "\"tile_m\": -4", "field 'tile_m' is -4"},
        Damage{"\"tile_m\": 4", "\"tile_m\": 4.5", "field 'tile_m' is 4.5"},
        Damage{"\"tile_m\": 4", "\"tile_m\": 99999999999999999999999",
               "not an integer"},
        Damage{"\"tile_n\": 8", "\"tile_n\": 18446744073709551615",
               "not an integer"},
        Damage{"\"threads\": 128", "\"threads\": 1025", "from 1 to 1024"},
        Damage{"\"shared_bytes\": 1024", "\"shared_bytes\": -1",
               "field 'shared_bytes' is -1"},
        Damage{"\"args\"", "\"arguments\"", "field 'args' is missing"},
        Damage{"[-1, 4, -1, 8]", "[-1, 4, -2, 8]", "an extent of 'shape'"},
        Damage{"[-1, 4, -1, 8]", "[-1, 4, 0, 8]", "an extent of 'shape'"},
        Damage{"[-1, 4, -1, 8]", "[-1, 4, 4294967296, 8]",
               "an extent of 'shape'"},
        Damage{"[-1, 4, -1, 8]", "[4, -1, 8]",
               "has rank 3, its role 'q' needs 4"},
        Damage{"[-1, 4, -1, 8]", "5", "'shape' must be an array"},
        Damage{"[-1]", "[1,1,1,1,1,1,1,1,1]", "at most 8 extents"},
        Damage{"\"dtype\": \"f32\"", "\"dtype\": \"fp8\"",
               "argument 'q' has the unknown dtype 'fp8'"},
        Damage{"\"role\": \"q\"", "\"role\": \"query\"",
               "argument 'q' has the unknown role 'query'"},
        Damage{"\"role\": \"k\"", "\"role\": \"q\"",
               "two arguments have the role 'q'"},
        Damage{"\"role\": \"buffer\"", "\"role\": \"scalar\"",
               "has kind 'tensor' but role 'scalar'"},
        Damage{"\"dtype\": \"i32\"", "\"dtype\": \"i64\"",
               "scalar 'window' has dtype 'i64'"}));

TEST(Manifest, TensorMapsAreRead) {
  std::vector<ManifestEntry> entries;
  std::string fields = R"("ctas_per_sm": 1, "tile_counters": 9, "tensor_maps": [
    {"argument": "v", "box": [64, 96, 1, 1], "swizzle_bytes": 128}])";
  ASSERT_EQ(
      parse(probe::manifest({probe::entry("sm_90a", "a", fields)}), entries),
      QM_OK)
      << lastError();
  EXPECT_EQ(entries[0].ctasPerSm, 1);
  EXPECT_EQ(entries[0].tileCounters, 9);
  EXPECT_EQ(entries[0].tensorMaps,
            (std::vector<TensorMap>{{2, 18, {64, 96, 1, 1}, 128}}));
}

TEST(Manifest, BadTensorMapsAreNamed) {
  for (auto [fields, message] :
       {std::pair(R"("tensor_maps": 5)", "must be an array"),
        std::pair(R"("tensor_maps": [1])", "not an object"),
        std::pair(R"("tensor_maps": [{"argument": "x", "swizzle_bytes": 0}])",
                  "names 'x', which is no tensor"),
        std::pair(R"("tensor_maps": [{"argument": "cap", "swizzle_bytes": 0}])",
                  "names 'cap', which is no tensor"),
        std::pair(R"("tensor_maps": [{"argument": "q", "swizzle_bytes": 48}])",
                  "'swizzle_bytes' is 48"),
        std::pair(R"("tensor_maps": [{"argument": "q", "swizzle_bytes": 0}])",
                  "field 'box' is missing"),
        std::pair(R"("tensor_maps": [{"argument": "q", "swizzle_bytes": 0,
                     "box": [64, 1, 1]}])",
                  "'box' of 'q'"),
        std::pair(R"("tensor_maps": [{"argument": "q", "swizzle_bytes": 0,
                     "box": [64, 257, 1, 1]}])",
                  "'box' of 'q'"),
        std::pair(R"("ctas_per_sm": 0)", "field 'ctas_per_sm' is 0"),
        std::pair(R"("tile_counters": 1025)",
                  "field 'tile_counters' is 1025")}) {
    std::vector<ManifestEntry> entries;
    EXPECT_EQ(
        parse(probe::manifest({probe::entry("sm_90a", "a", fields)}), entries),
        QM_ERROR_MANIFEST_INVALID);
    EXPECT_NE(std::string(lastError()).find(message), std::string::npos)
        << lastError();
  }
}

TEST(Manifest, MissingOutputIsNamed) {
  std::string text = good;
  text = edited(text, "\"shape\": [-1, 4, -1, 8], \"role\": \"o\"",
                "\"shape\": [-1, 4, -1, 8], \"role\": \"buffer\"");
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(text, entries), QM_ERROR_MANIFEST_INVALID);
  EXPECT_NE(std::string(lastError()).find("roles q, k, v and o"),
            std::string::npos);
}

TEST(Manifest, TooManySlotsAreRefused) {
  std::string many;
  for (int i = 0; i < 40; ++i)
    many += R"({"name": "b", "kind": "tensor", "dtype": "f32",
      "shape": [-1,-1,-1,-1,-1,-1,-1,-1], "role": "buffer"},)";
  std::string text = edited(good, "\"args\": [", "\"args\": [" + many);
  std::vector<ManifestEntry> entries;
  EXPECT_EQ(parse(text, entries), QM_ERROR_MANIFEST_INVALID);
  EXPECT_NE(std::string(lastError()).find("728 slots, the limit is 512"),
            std::string::npos)
      << lastError();
}

} // namespace
