//===- OutOfMemoryTest.cpp - every allocation may fail --------------------===//
//
// Loading a library is tried with its first allocation failing, then with its
// second, and so on until it succeeds: each time there is a status and no
// library, and (the sanitizer's build says so) nothing is lost.
//
//===----------------------------------------------------------------------===//

#include "runtime/qm.h"
#include "test/runtime/MakePackage.h"
#include "test/runtime/Probe.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

/// Allocations until one fails; negative: none does.
static thread_local long untilFailure = -1;

static void *allocate(size_t bytes) {
  if (untilFailure >= 0 && untilFailure-- == 0)
    throw std::bad_alloc();
  if (void *memory = malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t bytes) { return allocate(bytes); }
void *operator new[](size_t bytes) { return allocate(bytes); }
void operator delete(void *memory) noexcept { free(memory); }
void operator delete[](void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
void operator delete[](void *memory, size_t) noexcept { free(memory); }

namespace {

/// Runs `make` with the nth allocation failing, for each n until it succeeds;
/// how many times it failed.
template <typename Make>
long failEach(Make make) {
  for (long n = 0;; ++n) {
    untilFailure = n;
    int status = make();
    untilFailure = -1;
    if (status == QM_OK)
      return n;
    if (status != QM_ERROR_OUT_OF_MEMORY) {
      ADD_FAILURE() << "allocation " << n << ": " << qm_last_error();
      return n;
    }
  }
}

TEST(OutOfMemory, ALibraryFromMemoryIsThereOrNot) {
  std::string text = probe::manifest({probe::entry("cpu", "a")});
  qm_image image = {sizeof image, "a", nullptr, 0, probe::run};
  qm_library *library = nullptr;
  long failures = failEach([&] {
    int status =
        qm_library_create(text.data(), text.size(), &image, 1, &library);
    EXPECT_EQ(status == QM_OK, library != nullptr);
    return status;
  });
  EXPECT_GT(failures, 20);
  qm_library_destroy(library);
}

TEST(OutOfMemory, AnEmbeddedLibraryIsThereOrNot) {
  std::string text = probe::manifest(
      {probe::entry("cpu", "cpu:probe_entry", R"("format": "cpu")")});
  std::string package = probe::makePackage(text, {});
  qm_embedded embedded = probe::embed(package);
  qm_library *library = nullptr;
  EXPECT_GT(failEach([&] { return qm_embedded_open(&embedded, &library); }),
            20);
  qm_embedded_close(&embedded);
}

TEST(OutOfMemory, AMissingKernelIsNamedOrNot) {
  qm_library *library = probe::cpuLibrary();
  const qm_operator *op = nullptr;
  ASSERT_EQ(qm_library_operator_at(library, 0, &op), QM_OK);
  probe::Arguments arguments;
  arguments.q.dl.dtype = {kDLFloat, 16, 1};
  std::vector<qm_value> values = arguments.values();
  EXPECT_GT(failEach([&] {
              int status =
                  qm_operator_launch(op, values.data(), values.size(), nullptr);
              return status == QM_ERROR_NO_KERNEL ? QM_OK : status;
            }),
            1);
  EXPECT_TRUE(arguments.outputsAreUntouched());
  qm_library_destroy(library);
}

} // namespace
