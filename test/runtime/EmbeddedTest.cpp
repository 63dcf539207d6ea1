//===- EmbeddedTest.cpp - libraries in object files -----------------------===//

#include "runtime/PackageFormat.h"
#include "runtime/qm.h"
#include "test/runtime/MakePackage.h"
#include "test/runtime/Probe.h"
#include "test/runtime/TempFolder.h"
#include "test/runtime/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <thread>

using probe::Arguments;

namespace {

/// CPU code, a cubin for sm_80 and PTX for sm_80.
std::string package() {
  std::string text = probe::manifest(
      {probe::entry("cpu", "cpu:probe_entry", R"("format": "cpu")"),
       probe::entry("sm_80", probe::imageName(0), R"("format": "cubin")"),
       probe::entry("sm_80", probe::imageName(1), R"("format": "ptx")")});
  return probe::makePackage(text, {probe::cubin(), probe::ptx()});
}

int launch(qm_embedded &embedded, const Arguments &arguments) {
  std::vector<qm_value> values = arguments.values();
  return qm_embedded_launch(&embedded, 0, values.data(), values.size(),
                            nullptr);
}

class Embedded : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1); }
  ~Embedded() override { qm_embedded_close(&embedded); }

  const std::string bytes = package();
  qm_embedded embedded = probe::embed(bytes);
};

TEST_F(Embedded, RunsOnTheCpu) {
  Arguments arguments;
  ASSERT_EQ(launch(embedded, arguments), QM_OK) << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreRight());
}

TEST_F(Embedded, UnpacksAnImageWhenItIsFirstUsed) {
  Arguments arguments({kDLCUDA, 0});
  void *driver = dlopen(QM_FAKE_CUDA, RTLD_NOW);
  auto *fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(driver, "fakeCuda"))();
  int loads = fake->loads, unloads = fake->unloads;
  qm_library *library = nullptr;
  ASSERT_EQ(qm_embedded_open(&embedded, &library), QM_OK) << qm_last_error();
  EXPECT_EQ(fake->loads, loads);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(launch(embedded, arguments), QM_OK) << qm_last_error();
  EXPECT_EQ(fake->loads, loads + 1);
  EXPECT_EQ(qm_embedded_close(&embedded), QM_OK);
  EXPECT_EQ(fake->unloads, unloads + 1);
  dlclose(driver);
}

TEST_F(Embedded, IsOneLibraryForAllAndComesBackAfterClose) {
  qm_library *first = nullptr, *second = nullptr;
  ASSERT_EQ(qm_embedded_open(&embedded, &first), QM_OK) << qm_last_error();
  ASSERT_EQ(qm_embedded_open(&embedded, &second), QM_OK);
  EXPECT_EQ(first, second);
  qm_library_destroy(first); // it is not the caller's
  const char *text = nullptr;
  ASSERT_EQ(qm_library_manifest(first, &text), QM_OK) << qm_last_error();
  EXPECT_NE(strstr(text, "\"qm_manifest\": 1"), nullptr);
  EXPECT_EQ(qm_embedded_close(&embedded), QM_OK);
  EXPECT_EQ(qm_embedded_close(&embedded), QM_OK);
  EXPECT_EQ(qm_library_manifest(first, &text), QM_ERROR_INVALID_HANDLE);
  Arguments arguments;
  EXPECT_EQ(launch(embedded, arguments), QM_OK) << qm_last_error();
}

TEST_F(Embedded, ManyThreadsMayUseItFirst) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      Arguments arguments;
      right +=
          launch(embedded, arguments) == QM_OK && arguments.outputsAreRight();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
}

TEST_F(Embedded, AnotherAbiIsRefused) {
  embedded.abi_version = QM_ABI_VERSION + 1;
  EXPECT_EQ(launch(embedded, Arguments()), QM_ERROR_LIBRARY_FILE);
  EXPECT_NE(strstr(qm_last_error(), "was built for ABI version 2"), nullptr)
      << qm_last_error();
  embedded = probe::embed(bytes);
  embedded.size = 8;
  EXPECT_EQ(launch(embedded, Arguments()), QM_ERROR_LIBRARY_FILE);
  EXPECT_EQ(qm_embedded_open(nullptr, nullptr), QM_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(qm_embedded_close(nullptr), QM_ERROR_NULL_ARGUMENT);
}

TEST_F(Embedded, ACutPackageIsRefused) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of that size: a read past it is one the sanitizer sees.
    std::unique_ptr<char[]> copy(new char[size ? size : 1]);
    memcpy(copy.get(), bytes.data(), size);
    qm_embedded cut = probe::embed(bytes);
    cut.data = copy.get();
    cut.bytes = size;
    Arguments arguments;
    ASSERT_EQ(launch(cut, arguments), QM_ERROR_LIBRARY_FILE) << size;
    ASSERT_TRUE(arguments.outputsAreUntouched());
  }
}

TEST_F(Embedded, ADamagedPackageIsRefusedOrRight) {
  for (size_t at = 0; at < bytes.size(); ++at)
    for (unsigned char flip : {0x01, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      qm_embedded copy = probe::embed(damaged);
      for (DLDevice device : {DLDevice{kDLCPU, 0}, DLDevice{kDLCUDA, 0}}) {
        Arguments arguments(device);
        int status = launch(copy, arguments);
        ASSERT_TRUE(status == QM_OK || status == QM_ERROR_LIBRARY_FILE ||
                    status == QM_ERROR_IMAGE_REJECTED)
            << at << ": " << qm_last_error();
        if (status == QM_OK && device.device_type == kDLCPU) {
          ASSERT_TRUE(arguments.outputsAreRight()) << at;
        }
      }
      qm_embedded_close(&copy);
    }
}

TEST_F(Embedded, AMissingImageIsNamed) {
  std::string text = probe::manifest(
      {probe::entry("sm_80", probe::imageName(7), R"("format": "cubin")")});
  std::string other = probe::makePackage(text, {probe::cubin()});
  qm_embedded copy = probe::embed(other);
  EXPECT_EQ(launch(copy, Arguments()), QM_ERROR_IMAGE_UNREADABLE);
  text = probe::manifest(
      {probe::entry("cpu", "cpu:elsewhere", R"("format": "cpu")")});
  other = probe::makePackage(text, {});
  copy = probe::embed(other);
  EXPECT_EQ(launch(copy, Arguments()), QM_ERROR_IMAGE_UNREADABLE);
  EXPECT_NE(strstr(qm_last_error(), "'cpu:elsewhere' (cpu)"), nullptr)
      << qm_last_error();
}

TEST_F(Embedded, AnImageOfAnotherFormatThanTheManifestsIsRefused) {
  std::string text = probe::manifest(
      {probe::entry("sm_80", probe::imageName(0), R"("format": "cubin")")});
  std::string other = probe::makePackage(text, {probe::ptx()});
  qm_embedded copy = probe::embed(other);
  EXPECT_EQ(launch(copy, Arguments({kDLCUDA, 0})), QM_ERROR_IMAGE_REJECTED);
  EXPECT_NE(strstr(qm_last_error(), "is ptx, the manifest says cubin"), nullptr)
      << qm_last_error();
  qm_embedded_close(&copy);
}

TEST(SharedObject, AForeignOrCutOneIsRefused) {
  TempFolder folder;
  std::ifstream file(QM_PROBE_CPU, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  std::string bytes = all.str();
  qm_library *library = nullptr;
  std::string whole = folder.write("whole.so", bytes);
  EXPECT_EQ(qm_library_load(whole.c_str(), &library), QM_ERROR_LIBRARY_FILE);
  EXPECT_NE(strstr(qm_last_error(), "holds no attention kernels"), nullptr)
      << qm_last_error();
  for (size_t size :
       {size_t(4), size_t(100), bytes.size() / 2, bytes.size() - 1}) {
    std::string cut = folder.write("cut.so", bytes.substr(0, size));
    EXPECT_EQ(qm_library_load(cut.c_str(), &library), QM_ERROR_LIBRARY_FILE);
    EXPECT_NE(strstr(qm_last_error(), "cut short"), nullptr) << qm_last_error();
    EXPECT_EQ(library, nullptr);
  }
}

} // namespace
