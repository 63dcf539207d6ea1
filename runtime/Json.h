//===- Json.h - a JSON text as values ---------------------------*- C++ -*-===//
//
// nlohmann's parser with values of our own: destroying one allocates nothing,
// so that running out of memory while a manifest is read is an exception and
// not the end of the program; and reading one is twice as fast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qm::runtime {

struct JsonValue {
  enum class Kind : uint8_t {
    Null,
    Boolean,
    Integer, ///< what fits an int64_t
    Real,
    Text,
    Array,
    Object
  };
  Kind kind = Kind::Null;
  int64_t integer = 0; ///< of a Boolean: 0 or 1
  double real = 0;
  std::string text;
  /// Elements of an Array; fields of an Object, in the order of the text, of
  /// one name the last.
  std::vector<JsonValue> items;
  std::string name; ///< of a field

  bool isNull() const { return kind == Kind::Null; }
  bool isText() const { return kind == Kind::Text; }
  bool isArray() const { return kind == Kind::Array; }
  bool isObject() const { return kind == Kind::Object; }
  bool isIntegerBetween(int64_t least, int64_t most) const {
    return kind == Kind::Integer && integer >= least && integer <= most;
  }
  /// The field of that name, or null.
  const JsonValue *find(std::string_view name) const;

  /// For messages: the number or text, else what it is.
  std::string describe() const;
};

/// False if `text` is not JSON, or is nested deeper than any file of ours.
bool parseJson(std::string_view text, JsonValue &value);

} // namespace qm::runtime
