//===- Emit.cpp - the MLIR text of a spec ---------------------------------===//
//
// Prints level "spec" of dialect/README.md. Text, not MLIR objects: the front
// end must not link MLIR. Every operation carries the user's file, line and
// column.
//
//===----------------------------------------------------------------------===//
#include "dialect/dsl/Trace.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <unordered_map>

namespace qm::detail {
namespace {

const char *name(DType type) {
  switch (type) {
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F32:
    return "f32";
  case DType::I1:
    return "i1";
  case DType::I8:
    return "i8";
  case DType::I16:
    return "i16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  }
  return "";
}

/// The shortest decimal that reads back as the same f32; hex bits for inf and
/// NaN.
std::string literal(float value) {
  char buffer[40];
  if (!std::isfinite(value)) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    std::snprintf(buffer, sizeof(buffer), "0x%08X", bits);
    return buffer;
  }
  std::string text(buffer,
                   std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  // MLIR wants a point: 1e+10 is 1.0e+10.
  size_t end = text.find('e');
  if (text.find('.') == std::string::npos)
    text.insert(end == std::string::npos ? text.size() : end, ".0");
  return text;
}

std::string location(Where where) {
  std::string file;
  for (const char *c = where.file_name(); *c; ++c) {
    if (*c == '"' || *c == '\\')
      file += '\\';
    file += *c;
  }
  return " loc(\"" + file + "\":" + std::to_string(where.line()) + ":" +
         std::to_string(where.column()) + ")";
}

class Emitter {
public:
  explicit Emitter(const Trace &trace) : trace(trace) {}

  std::string run() {
    std::string q = operand(trace.heads.value, trace.headDim.value);
    std::string k = operand(trace.kvHeadCount(), trace.headDim.value);
    std::string v = operand(trace.kvHeadCount(), trace.valueWidth());
    std::string o = operand(trace.heads.value, trace.valueWidth());
    std::string results = o, values = "%o";
    for (auto [asked, value] :
         {std::pair(trace.returnLse.isSet, "%lse"),
          std::pair(trace.returnRowMax.isSet, "%row_max")})
      if (asked) {
        results += ", tensor<" + batch() + "x" +
                   std::to_string(trace.heads.value) + "x?xf32>";
        values += std::string(", ") + value;
      }

    out =
        "func.func @" + trace.name + "(%q: " + q + ", %k: " + k + ", %v: " + v;
    for (bool ofKeys : {false, true})
      if (const char *lengths = trace.lengthsName(ofKeys))
        out += std::string(ofKeys ? ", %" : ",\n    %") + lengths +
               ": tensor<?xi32> {attn.name = \"" + lengths + "\"}";
    for (const FunctionArgument &argument : trace.arguments)
      out += ",\n    " + valueName(argument) + ": " + typeOf(argument) +
             " {attn.name = \"" + argument.name + "\"" + followsText(argument) +
             "}" + location(argument.where);
    out += ")\n    -> (" + results + ") {\n";
    out += "  " + values + " = attn.attention q(%q) k(%k) v(%v)";
    if (trace.lengths.value != Lengths::Whole)
      out += std::string(trace.lengths.value == Lengths::Packed ? " packed(%"
                                                                : " padded(%") +
             trace.lengthsName(false) + ", %" + trace.lengthsName(true) + ")";
    if (trace.scale.isSet)
      out += " scale(" + literal(trace.scale.value) + ")";
    if (trace.returnRowMax.isSet)
      out += " row_max";
    out += "\n";
    emitScore();
    emitMask();
    emitSink();
    out += "    : " + q + ", " + k + ", " + v + "\n   -> " + results +
           location(trace.where) + "\n";
    out +=
        "  return " + values + " : " + results + location(trace.where) + "\n";
    out += "}" + location(trace.where) + "\n";
    return std::move(out);
  }

private:
  /// Packed sequences share the only batch entry.
  std::string batch() const {
    return trace.lengths.value == Lengths::Packed ? "1" : "?";
  }

  std::string operand(long long heads, long long width) const {
    return "tensor<" + batch() + "x" + std::to_string(heads) + "x?x" +
           std::to_string(width) + "x" + name(trace.dtype.value) + ">";
  }

  std::string extentText(const Dimension &dimension) const {
    switch (dimension.source) {
    case Dimension::Fixed:
      return std::to_string(dimension.value);
    case Dimension::Heads:
      return std::to_string(trace.heads.value);
    case Dimension::KvHeads:
      return std::to_string(trace.kvHeadCount());
    default:
      return "?";
    }
  }

  /// The extent of a call that a dimension is declared as, or "". In packed
  /// calls rows and keys count from the start of a sequence, and a buffer has
  /// as many as the longest needs.
  const char *followed(const Dimension &dimension) const {
    bool packed = trace.lengths.value == Lengths::Packed;
    switch (dimension.source) {
    case Dimension::BatchSize:
      return "batch";
    case Dimension::QueryLength:
      return packed ? "" : "query";
    case Dimension::KeyLength:
      return packed ? "" : "key";
    default:
      return "";
    }
  }

  std::string followsText(const FunctionArgument &argument) const {
    std::string list;
    bool any = false;
    for (const Dimension &dimension : argument.dimensions) {
      any |= *followed(dimension) != 0;
      list += (list.empty() ? "\"" : ", \"") +
              std::string(followed(dimension)) + "\"";
    }
    return any ? ", attn.follows = [" + list + "]" : "";
  }

  std::string typeOf(const FunctionArgument &argument) const {
    if (argument.dimensions.empty())
      return name(argument.type);
    std::string text = "tensor<";
    for (const Dimension &dimension : argument.dimensions)
      text += extentText(dimension) + "x";
    return text + name(argument.type == DType::I1 ? DType::I8 : argument.type) +
           ">";
  }

  /// `$` keeps an argument called "b" apart from the batch index.
  static std::string valueName(const FunctionArgument &argument) {
    bool clashes =
        argument.name.size() == 1 && std::strchr("sbhij", argument.name[0]);
    return "%" + argument.name + (clashes ? "$" : "");
  }

  void emitScore() {
    if (!trace.score.isSet)
      return;
    const Node *root = trace.score.value;
    if (root->kind == Node::Kind::Argument && root->integer == 0)
      return; // The identity.
    out += "    score (%s, %b, %h, %i, %j) {\n";
    emitRegion(trace.score.value, "f32", trace.score.where);
  }

  void emitMask() {
    if (!trace.mask.isSet || trace.mask.value->isBoolean(true))
      return;
    out += "    mask (%b, %h, %i, %j) {\n";
    emitRegion(trace.mask.value, "i1", trace.mask.where);
  }

  void emitSink() {
    if (!trace.sink.isSet)
      return;
    out += "    sink (%b, %h) {\n";
    emitRegion(trace.sink.value, "f32", trace.sink.where);
  }

  void emitRegion(Node *root, const char *type, Where where) {
    values.clear();
    constants.clear();
    for (const Node *node : reachable(root))
      emitNode(*node);
    out += "      attn.yield " + values[root] + " : " + type + location(where) +
           "\n    }\n";
  }

  void emitNode(const Node &node) {
    switch (node.kind) {
    case Node::Kind::Argument:
      values[&node] = std::string("%") + "sbhij"[node.integer];
      return;
    case Node::Kind::Parameter:
      values[&node] = valueName(trace.arguments[node.integer]);
      return;
    case Node::Kind::Integer:
      return constant(node,
                      std::to_string(node.integer) + " : " + name(node.type));
    case Node::Kind::Real:
      return constant(node, literal(static_cast<float>(node.real)) + " : f32");
    case Node::Kind::Boolean:
      return constant(node, node.integer ? "true" : "false");
    case Node::Kind::Extent:
      return constant(node, std::string(node.mnemonic) + " : i32",
                      "attn.extent ");
    case Node::Kind::Load: {
      const FunctionArgument &buffer = trace.arguments[node.integer];
      return define(
          node, "attn.load " + valueName(buffer) + "[" + operandList(node) +
                    (buffer.sorted ? "] sorted : " : "] : ") + typeOf(buffer));
    }
    case Node::Kind::Operation:
      return define(node, std::string(node.mnemonic) + " " + operandList(node) +
                              node.flags + " : " + operationType(node));
    }
  }

  void define(const Node &node, const std::string &text) {
    std::string value = "%" + std::to_string(counter++);
    out += "      " + value + " = " + text + location(node.where) + "\n";
    values[&node] = std::move(value);
  }

  /// One operation a region and value.
  void constant(const Node &node, const std::string &text,
                const char *mnemonic = "arith.constant ") {
    std::string &known = constants[mnemonic + text];
    if (known.empty()) {
      define(node, mnemonic + text);
      known = values[&node];
    }
    values[&node] = known;
  }

  std::string operandList(const Node &node) {
    std::string list;
    for (const Node *operand : node.operands)
      list += (list.empty() ? "" : ", ") + values[operand];
    return list;
  }

  /// Casts name both types, comparisons that of their operands.
  static std::string operationType(const Node &node) {
    DType from = node.operands.back()->type;
    bool isComparison = std::strncmp(node.mnemonic, "arith.cmp", 9) == 0;
    if (isComparison || from == node.type)
      return name(from);
    return std::string(name(from)) + " to " + name(node.type);
  }

  const Trace &trace;
  std::string out;
  int counter = 0;
  std::unordered_map<const Node *, std::string> values;
  std::map<std::string, std::string> constants;
};

} // namespace

std::string emit(const Trace &trace) { return Emitter(trace).run(); }

} // namespace qm::detail
