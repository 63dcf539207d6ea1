//===- StatusTest.cpp - qm.h's statuses are the runtime's diagnostics -----===//

#include "dialect/DiagnosticIds.h"
#include "runtime/qm.h"

#include <gtest/gtest.h>
#include <set>

namespace {

// Each enumerator of qm_status by hand: C has no list of them.
const int statuses[] = {
    QM_ERROR_NULL_ARGUMENT,       QM_ERROR_STRUCT_SIZE,
    QM_ERROR_MANIFEST_UNREADABLE, QM_ERROR_MANIFEST_INVALID,
    QM_ERROR_MANIFEST_VERSION,    QM_ERROR_IMAGE_UNREADABLE,
    QM_ERROR_UNKNOWN_KERNEL,      QM_ERROR_NO_IMAGE_FOR_DEVICE,
    QM_ERROR_ARGUMENT_COUNT,      QM_ERROR_ARGUMENT_KIND,
    QM_ERROR_TENSOR_DEVICE,       QM_ERROR_TENSOR_DTYPE,
    QM_ERROR_TENSOR_RANK,         QM_ERROR_TENSOR_SIZE,
    QM_ERROR_TENSOR_SHAPE,        QM_ERROR_TENSOR_STRIDE,
    QM_ERROR_TENSOR_ALIGNMENT,    QM_ERROR_TENSOR_NULL,
    QM_ERROR_HEAD_GROUPS,         QM_ERROR_INDEX_RANGE,
    QM_ERROR_CPU_ENTRY,           QM_ERROR_NO_DRIVER,
    QM_ERROR_DRIVER_SYMBOL,       QM_ERROR_DRIVER_CALL,
    QM_ERROR_NO_SUCH_DEVICE,      QM_ERROR_IMAGE_REJECTED,
    QM_ERROR_IMAGE_UNSUPPORTED,   QM_ERROR_KERNEL_LIMITS,
    QM_ERROR_STREAM_CONTEXT,      QM_ERROR_CASE_FILE,
    QM_ERROR_OUT_OF_MEMORY,       QM_ERROR_INTERNAL,
    QM_ERROR_INVALID_HANDLE,      QM_ERROR_NO_KERNEL,
    QM_ERROR_LIBRARY_FILE,        QM_ERROR_STREAM_CAPTURE};

TEST(Status, IsTheNumberOfADiagnostic) {
  for (int status : statuses)
    EXPECT_NE(qm::diag::find(status), nullptr) << status;
}

TEST(Status, EveryDiagnosticOfTheRuntimeIsAStatus) {
  std::set<unsigned> known(std::begin(statuses), std::end(statuses));
#define QM_DIAGNOSTIC(name, number, title, text)                               \
  EXPECT_TRUE(known.count(number)) << #name;
#include "dialect/diagnostics/Runtime.def"
#undef QM_DIAGNOSTIC
}

} // namespace
