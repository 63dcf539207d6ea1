//===- HandlesTest.cpp - handles that are none ----------------------------===//

#include "runtime/Handles.h"
#include "runtime/qm.h"
#include "test/runtime/Probe.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace qm::runtime;

namespace {

TEST(Handles, AFreedHandleIsAnError) {
  qm_library *library = probe::cpuLibrary();
  const qm_kernel *kernel = probe::kernelOf(library);
  const qm_operator *op = nullptr;
  ASSERT_EQ(qm_library_operator_at(library, 0, &op), QM_OK);
  qm_library_destroy(library);

  probe::Arguments arguments;
  std::vector<qm_value> values = arguments.values();
  EXPECT_EQ(qm_launch(kernel, values.data(), values.size(), nullptr),
            QM_ERROR_INVALID_HANDLE);
  EXPECT_NE(strstr(qm_last_error(), "QM0522: qm_launch: kernel is not a live"),
            nullptr)
      << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreUntouched());
  EXPECT_EQ(qm_operator_launch(op, values.data(), values.size(), nullptr),
            QM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(qm_library_find(library, "probe", &kernel),
            QM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(qm_library_kernel_count(library), 0u);
  EXPECT_EQ(qm_library_operator_count(library), 0u);
  qm_library_destroy(library); // a second time: nothing happens
}

TEST(Handles, ANewLibraryDoesNotReviveAnOldHandle) {
  qm_library *first = probe::cpuLibrary();
  const qm_kernel *kernel = probe::kernelOf(first);
  qm_library_destroy(first);
  qm_library *second = probe::cpuLibrary();
  EXPECT_NE(first, second);
  qm_kernel_info info = {sizeof info, nullptr, 0, 0};
  EXPECT_EQ(qm_kernel_get_info(kernel, &info), QM_ERROR_INVALID_HANDLE);
  qm_library_destroy(second);
}

TEST(Handles, HandlesOfAnotherKindAndPointersAreErrors) {
  qm_library *library = probe::cpuLibrary();
  const void *handle = probe::kernelOf(library);
  const qm_kernel *kernel = nullptr;
  EXPECT_EQ(qm_library_find(static_cast<const qm_library *>(handle), "probe",
                            &kernel),
            QM_ERROR_INVALID_HANDLE);
  int local = 0;
  for (const void *wild : {static_cast<const void *>(&local),
                           reinterpret_cast<const void *>(~uintptr_t(0)),
                           reinterpret_cast<const void *>(uintptr_t(3))})
    EXPECT_EQ(qm_kernel_check(static_cast<const qm_kernel *>(wild), nullptr, 0),
              QM_ERROR_INVALID_HANDLE);
  qm_library_destroy(library);
}

TEST(Handles, ManyThreadsMakeAndDropThem) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      int object = 0;
      for (int round = 0; round < 2000; ++round) {
        std::set<void *> made;
        for (int j = 0; j < 8; ++j)
          made.insert(makeHandle(HandleKind::Kernel, &object));
        ASSERT_EQ(made.size(), 8u);
        for (void *handle : made) {
          ASSERT_EQ(findHandle(HandleKind::Kernel, handle), &object);
          dropHandle(handle);
          ASSERT_EQ(findHandle(HandleKind::Kernel, handle), nullptr);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
