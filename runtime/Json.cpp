//===- Json.cpp - a JSON text as values -----------------------------------===//

#include "runtime/Json.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace qm::runtime;
using nlohmann::json;

namespace {

/// Values are destroyed by recursion: this bounds its depth.
constexpr size_t maxDepth = 64;

/// What the parser calls, piece by piece. Each function returns whether to go
/// on.
class Builder : public json::json_sax_t {
public:
  explicit Builder(JsonValue &root) : root(root) {}

  bool null() override { return add(JsonValue::Kind::Null); }
  bool boolean(bool value) override {
    return add(JsonValue::Kind::Boolean) && ((last->integer = value), true);
  }
  bool number_integer(int64_t value) override {
    return add(JsonValue::Kind::Integer) && ((last->integer = value), true);
  }
  bool number_unsigned(uint64_t value) override {
    if (value > INT64_MAX)
      return number_float(static_cast<double>(value), "");
    return number_integer(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string &) override {
    return add(JsonValue::Kind::Real) && ((last->real = value), true);
  }
  bool string(std::string &value) override {
    return add(JsonValue::Kind::Text) &&
           ((last->text = std::move(value)), true);
  }
  bool binary(json::binary_t &) override { return false; }
  bool start_array(size_t) override { return open(JsonValue::Kind::Array); }
  bool start_object(size_t) override { return open(JsonValue::Kind::Object); }
  bool end_array() override { return close(); }
  bool end_object() override { return close(); }
  bool key(std::string &name) override {
    std::vector<JsonValue> &fields = parents.back()->items;
    place = nullptr;
    for (JsonValue &field : fields)
      if (field.name == name)
        place = &field;
    if (place)
      *place = JsonValue();
    else
      place = &fields.emplace_back();
    place->name = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &) override {
    return false;
  }

private:
  /// A new value where the text is now: the root, after a key, or the next
  /// element.
  bool add(JsonValue::Kind kind) {
    if (parents.empty())
      last = &root;
    else if (parents.back()->isArray())
      last = &parents.back()->items.emplace_back();
    else
      last = place;
    last->kind = kind;
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (parents.size() == maxDepth)
      return false;
    add(kind);
    parents.push_back(last);
    return true;
  }
  bool close() {
    parents.pop_back();
    return true;
  }

  JsonValue &root;
  /// The arrays and objects that are not closed yet. While one is open nothing
  /// is added beside it, so that these stay where they are.
  std::vector<JsonValue *> parents;
  JsonValue *place = nullptr, *last = nullptr;
};

} // namespace

const JsonValue *JsonValue::find(std::string_view name) const {
  if (isObject())
    for (const JsonValue &field : items)
      if (field.name == name)
        return &field;
  return nullptr;
}

std::string JsonValue::describe() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return integer ? "true" : "false";
  case Kind::Integer:
    return std::to_string(integer);
  case Kind::Real: {
    char number[32];
    snprintf(number, sizeof number, "%g", real);
    return number;
  }
  case Kind::Text:
    return "\"" + text + "\"";
  case Kind::Array:
    return "an array";
  case Kind::Object:
    return "an object";
  }
  return "";
}

bool qm::runtime::parseJson(std::string_view text, JsonValue &value) {
  Builder builder(value);
  return json::sax_parse(text, &builder);
}
