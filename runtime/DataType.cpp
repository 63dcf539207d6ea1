//===- DataType.cpp - element types of the launch contract ----------------===//

#include "runtime/DataType.h"

using namespace qm::runtime;

namespace {

/// kDLBool of DLPack 1.x; Debian's header (0.6) does not name it.
constexpr uint8_t dlBool = 6;

struct TypeRow {
  const char *name;
  uint8_t bytes;
  DLDataType dlpack;
};

// In the order of DataType.
constexpr TypeRow table[] = {
    {"f16", 2, {kDLFloat, 16, 1}}, {"bf16", 2, {kDLBfloat, 16, 1}},
    {"f32", 4, {kDLFloat, 32, 1}}, {"f64", 8, {kDLFloat, 64, 1}},
    {"i1", 1, {dlBool, 8, 1}},     {"i8", 1, {kDLInt, 8, 1}},
    {"i16", 2, {kDLInt, 16, 1}},   {"i32", 4, {kDLInt, 32, 1}},
    {"i64", 8, {kDLInt, 64, 1}},
};

const TypeRow &row(DataType type) { return table[static_cast<int>(type)]; }

} // namespace

bool qm::runtime::parseDataType(std::string_view name, DataType &type) {
  for (const TypeRow &entry : table)
    if (name == entry.name) {
      type = static_cast<DataType>(&entry - table);
      return true;
    }
  return false;
}

const char *qm::runtime::dataTypeName(DataType type) { return row(type).name; }

const char *qm::runtime::dataTypeName(DLDataType type) {
  for (const TypeRow &entry : table)
    if (matches(type, static_cast<DataType>(&entry - table)))
      return entry.name;
  return nullptr;
}

int64_t qm::runtime::bytesPerElement(DataType type) { return row(type).bytes; }

DLDataType qm::runtime::toDLPack(DataType type) { return row(type).dlpack; }

bool qm::runtime::matches(DLDataType actual, DataType type) {
  if (actual.lanes != 1)
    return false;
  if (type == DataType::I1 && actual.code == kDLUInt)
    return actual.bits == 1 || actual.bits == 8;
  DLDataType expected = row(type).dlpack;
  return actual.code == expected.code && actual.bits == expected.bits;
}
