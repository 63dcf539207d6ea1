//===- DataType.h - element types of the launch contract --------*- C++ -*-===//
#pragma once

#include "runtime/qm.h"

#include <cstdint>
#include <string_view>

namespace qm::runtime {

enum class DataType : uint8_t { F16, BF16, F32, F64, I1, I8, I16, I32, I64 };

/// "bf16" and the like, as in manifests; false if there is no such type.
bool parseDataType(std::string_view name, DataType &type);
const char *dataTypeName(DataType type);
/// The same of a tensor's type; null if no argument has it.
const char *dataTypeName(DLDataType type);

/// Bytes of one element in memory; i1 is a byte, 0 or 1.
int64_t bytesPerElement(DataType type);

/// The DLPack type a tensor of this element type has.
DLDataType toDLPack(DataType type);

/// Whether a tensor's DLPack type means `type`. i1 may be DLPack 1.x's bool, or
/// an unsigned integer of 1 or 8 bits, as older producers write it.
bool matches(DLDataType actual, DataType type);

} // namespace qm::runtime
