//===- CompareOutput.cpp - an output against what it must be --------------===//

#include "runtime/tools/CompareOutput.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace qm::runtime;

namespace {

template <typename T>
T read(const char *bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

double readHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                     : exponent == 31
                         ? (fraction ? std::numeric_limits<double>::quiet_NaN()
                                     : std::numeric_limits<double>::infinity())
                         : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// Share of the tolerance that an error takes: at most 1 passes. Infinite where
/// only equality would do.
double share(double got, double expected, const CaseArgument &argument) {
  if (got == expected)
    return 0;
  double tolerance =
      argument.absolute + argument.relative * std::fabs(expected);
  double ratio = std::fabs(got - expected) / tolerance;
  bool comparable = std::isfinite(got) && std::isfinite(expected);
  return comparable && !std::isnan(ratio)
             ? ratio
             : std::numeric_limits<double>::infinity();
}

std::string position(const std::vector<int64_t> &index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i)
    text += (i ? ", " : "") + std::to_string(index[i]);
  return text + "]";
}

/// Steps a row-major index; false after the last.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i])
      return true;
    index[i] = 0;
  }
  return false;
}

} // namespace

double qm::runtime::readElement(DataType type, const char *bytes) {
  switch (type) {
  case DataType::F16:
    return readHalf(read<uint16_t>(bytes));
  case DataType::BF16:
    return std::bit_cast<float>(uint32_t{read<uint16_t>(bytes)} << 16);
  case DataType::F32:
    return read<float>(bytes);
  case DataType::F64:
    return read<double>(bytes);
  case DataType::I1:
  case DataType::I8:
    return read<int8_t>(bytes);
  case DataType::I16:
    return read<int16_t>(bytes);
  case DataType::I32:
    return read<int32_t>(bytes);
  case DataType::I64:
    return static_cast<double>(read<int64_t>(bytes));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

OutputError qm::runtime::compareOutput(const CaseArgument &argument,
                                       const std::string &storage,
                                       char poison) {
  OutputError error;
  int64_t size = bytesPerElement(argument.dtype);
  std::string rest = storage; // with the elements poisoned again
  std::vector<int64_t> index(argument.shape.size());
  for (size_t i = 0; i < argument.expected.size(); ++i) {
    int64_t at = argument.offset;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * argument.strides[d] * size;
    double got = readElement(argument.dtype, storage.data() + at);
    double expected = argument.expected[i];
    if (std::isnan(expected)) { // of no sequence: stays as it was
      advance(index, argument.shape);
      continue;
    }
    double taken = share(got, expected, argument);
    if (taken > 1 && error.flaw.empty()) {
      char numbers[128];
      snprintf(numbers, sizeof numbers, " is %.9g, expected %.9g +- %.3g", got,
               expected,
               argument.absolute + argument.relative * std::fabs(expected));
      error.flaw = "'" + argument.name + "'" + position(index) + numbers;
    }
    if (got != expected) // covers a NaN and unequal infinities as well
      error.maxError =
          std::max(error.maxError, std::isnan(got - expected)
                                       ? std::numeric_limits<double>::infinity()
                                       : std::fabs(got - expected));
    error.worst = std::max(error.worst, taken);
    memset(rest.data() + at, poison, size);
    advance(index, argument.shape);
  }
  size_t touched = rest.find_first_not_of(poison);
  if (touched != std::string::npos && error.flaw.empty())
    error.flaw = "'" + argument.name + "' was written outside its elements, " +
                 "at byte " + std::to_string(touched) + " of its storage";
  return error;
}
