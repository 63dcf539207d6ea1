//===- ManifestArguments.cpp - what a caller must pass --------------------===//

#include "runtime/ManifestReader.h"

#include <algorithm>
#include <iterator>

using namespace qm::runtime;

namespace {

// In the order of Role.
constexpr const char *roleNames[] = {"q",      "k",     "v",     "buffer",
                                     "scalar", "o",     "lse",   "row_max",
                                     "cu_q",   "cu_kv", "len_q", "len_kv"};
static_assert(std::size(roleNames) == roleCount);

bool readShape(ManifestReader &reader, const JsonValue &value,
               std::vector<int64_t> &shape) {
  if (!value.isArray() || value.items.size() > maxRank)
    return reader.invalid(
        "field 'shape' must be an array of at most 8 extents");
  for (const JsonValue &extent : value.items) {
    if (!extent.isIntegerBetween(-1, INT32_MAX) || extent.integer == 0)
      return reader.invalid("an extent of 'shape' must be -1 or from 1 to " +
                            std::to_string(INT32_MAX));
    shape.push_back(extent.integer);
  }
  return true;
}

// In the order of Follows.
constexpr const char *followsNames[] = {"", "batch", "query", "key"};

bool readFollows(ManifestReader &reader, const JsonValue &value,
                 Argument &argument) {
  bool valid = value.isArray() && value.items.size() == argument.shape.size() &&
               argument.role == Role::Buffer;
  for (size_t i = 0; valid && i < value.items.size(); ++i) {
    auto known = std::find(std::begin(followsNames), std::end(followsNames),
                           value.items[i].isText() ? value.items[i].text : "?");
    valid = known != std::end(followsNames);
    if (valid)
      argument.follows.push_back(
          static_cast<Follows>(known - std::begin(followsNames)));
  }
  return valid || reader.invalid("'follows' of argument '" + argument.name +
                                 "' must name batch, query, key or nothing for "
                                 "each dimension of a buffer");
}

bool readArgument(ManifestReader &reader, const JsonValue &value,
                  Argument &argument) {
  if (!value.isObject())
    return reader.invalid("an element of 'args' is not an object");
  std::string kind, role, dtype;
  if (!reader.text(value, "name", argument.name) ||
      !reader.text(value, "kind", kind) || !reader.text(value, "role", role) ||
      !reader.text(value, "dtype", dtype))
    return false;

  auto known = std::find(std::begin(roleNames), std::end(roleNames), role);
  if (known == std::end(roleNames))
    return reader.invalid("argument '" + argument.name +
                          "' has the unknown role '" + role + "'");
  argument.role = static_cast<Role>(known - std::begin(roleNames));
  if (!parseDataType(dtype, argument.dtype))
    return reader.invalid("argument '" + argument.name +
                          "' has the unknown dtype '" + dtype + "'");
  if (kind != (argument.isScalar() ? "scalar" : "tensor"))
    return reader.invalid("argument '" + argument.name + "' has kind '" + kind +
                          "' but role '" + role + "'");
  if (argument.isScalar()) {
    if (argument.dtype != DataType::I32 && argument.dtype != DataType::F32)
      return reader.invalid("scalar '" + argument.name + "' has dtype '" +
                            dtype + "', not i32 or f32");
    return true;
  }
  const JsonValue *shape = reader.field(value, "shape");
  if (!shape || !readShape(reader, *shape, argument.shape))
    return false;
  const JsonValue *follows = value.find("follows");
  return !follows || readFollows(reader, *follows, argument);
}

/// q, k, v and o have rank 4 and agree in their static extents; statistics have
/// rank 3, lengths rank 1.
bool checkSignature(ManifestReader &reader, Signature &signature) {
  int *positions[roleCount] = {
      &signature.q,   &signature.k,    &signature.v,    nullptr,
      nullptr,        &signature.o,    &signature.lse,  &signature.rowMax,
      &signature.cuQ, &signature.cuKv, &signature.lenQ, &signature.lenKv};
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument &argument = signature.arguments[i];
    signature.slots += argument.slots();
    int *position = positions[static_cast<int>(argument.role)];
    if (!position)
      continue;
    if (*position >= 0)
      return reader.invalid(std::string("two arguments have the role '") +
                            roleName(argument.role) + "'");
    *position = static_cast<int>(i);
    int rank = argument.isStatistic() ? 3 : argument.isLengths() ? 1 : 4;
    if (argument.rank() != rank)
      return reader.invalid("argument '" + argument.name + "' has rank " +
                            std::to_string(argument.rank()) + ", its role '" +
                            roleName(argument.role) + "' needs " +
                            std::to_string(rank));
  }
  if (signature.q < 0 || signature.k < 0 || signature.v < 0 || signature.o < 0)
    return reader.invalid("'args' must have one argument of each of the roles "
                          "q, k, v and o");
  bool together = (signature.cuKv < 0 || signature.cuQ >= 0) &&
                  (signature.lenKv < 0 || signature.lenQ >= 0) &&
                  (signature.cuQ < 0 || signature.lenQ < 0);
  if (!together)
    return reader.invalid("'args' have cu_q, with cu_kv or for both, or len_q, "
                          "with len_kv or for both");
  if (signature.slots > maxSlots)
    return reader.invalid("'args' need " + std::to_string(signature.slots) +
                          " slots, the limit is " + std::to_string(maxSlots));
  return true;
}

} // namespace

const char *qm::runtime::roleName(Role role) {
  return roleNames[static_cast<int>(role)];
}

bool qm::runtime::readSignature(ManifestReader &reader, const JsonValue &entry,
                                Signature &signature) {
  const JsonValue *arguments = reader.field(entry, "args");
  if (!arguments)
    return false;
  if (!arguments->isArray())
    return reader.invalid("field 'args' must be an array");
  for (const JsonValue &argument : arguments->items) {
    signature.arguments.emplace_back();
    if (!readArgument(reader, argument, signature.arguments.back()))
      return false;
  }
  return checkSignature(reader, signature);
}
