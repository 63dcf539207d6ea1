//===- SpecText.cpp - reads and evaluates the text of a spec --------------===//
#include "test/dialect/dsl/SpecText.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace qm::test {
namespace {

Line parse(const std::string &source) {
  static const std::regex shape(
      R"re(\s*(?:(%\S+) = )?(.*?) loc\("(.*)":(\d+):\d+\)$)re");
  std::smatch match;
  if (!std::regex_match(source, match, shape))
    throw std::runtime_error("no location in: " + source);
  Line line;
  line.result = match[1];
  line.text = match[2];
  line.userFile = match[3];
  line.userLine = std::stoi(match[4]);

  size_t colon = line.text.rfind(" : ");
  std::string head = line.text.substr(0, colon);
  if (colon != std::string::npos)
    line.type = line.text.substr(colon + 3);
  size_t space = head.find(' ');
  line.mnemonic = head.substr(0, space);
  std::string rest = head.substr(space + 1);
  if (line.mnemonic.compare(0, 9, "arith.cmp") == 0) {
    size_t comma = rest.find(',');
    line.mnemonic += " " + rest.substr(0, comma);
    rest = rest.substr(comma + 1);
  }
  // Operands are separated by commas, those of a load by brackets too.
  std::replace_if(
      rest.begin(), rest.end(), [](char c) { return std::strchr(",[]", c); },
      ' ');
  std::istringstream words(rest);
  for (std::string word; words >> word;)
    line.operands.push_back(word);
  return line;
}

int32_t wrap(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

Scalar constant(const Line &line) {
  const std::string &text = line.operands[0];
  if (text == "true" || text == "false")
    return {text == "true", 0};
  if (line.type != "f32")
    return {std::stoll(text), 0};
  if (text.compare(0, 2, "0x") == 0) {
    uint32_t bits = static_cast<uint32_t>(std::stoul(text, nullptr, 16));
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return {0, value};
  }
  return {0, std::stof(text)};
}

using Binary = std::function<int64_t(int64_t, int64_t)>;
using BinaryFloat = std::function<float(float, float)>;
using Compare = std::function<bool(float, float)>;
using Unary = std::function<float(float)>;

const std::map<std::string, Binary> integerOps = {
    {"arith.addi", [](int64_t a, int64_t b) { return wrap(a + b); }},
    {"arith.subi", [](int64_t a, int64_t b) { return wrap(a - b); }},
    {"arith.muli", [](int64_t a, int64_t b) { return wrap(a * b); }},
    {"arith.floordivsi",
     [](int64_t a, int64_t b) { return wrap(floorDivide(a, b)); }},
    {"arith.minsi", [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"arith.maxsi", [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"arith.andi", [](int64_t a, int64_t b) { return a & b; }},
    {"arith.ori", [](int64_t a, int64_t b) { return a | b; }},
    {"arith.xori", [](int64_t a, int64_t b) { return a ^ b; }},
    {"arith.shli", [](int64_t a, int64_t b) { return wrap(a << b); }},
    {"arith.shrsi", [](int64_t a, int64_t b) { return a >> b; }},
    {"arith.cmpi eq", [](int64_t a, int64_t b) { return a == b; }},
    {"arith.cmpi ne", [](int64_t a, int64_t b) { return a != b; }},
    {"arith.cmpi slt", [](int64_t a, int64_t b) { return a < b; }},
    {"arith.cmpi sle", [](int64_t a, int64_t b) { return a <= b; }},
    {"arith.cmpi sgt", [](int64_t a, int64_t b) { return a > b; }},
    {"arith.cmpi sge", [](int64_t a, int64_t b) { return a >= b; }},
};

const std::map<std::string, BinaryFloat> floatOps = {
    {"arith.addf", [](float a, float b) { return a + b; }},
    {"arith.subf", [](float a, float b) { return a - b; }},
    {"arith.mulf", [](float a, float b) { return a * b; }},
    {"arith.divf", [](float a, float b) { return a / b; }},
    {"arith.minimumf",
     [](float a, float b) { return std::isnan(a) || a < b ? a : b; }},
    {"arith.maximumf",
     [](float a, float b) { return std::isnan(a) || a > b ? a : b; }},
};

const std::map<std::string, Compare> floatCompares = {
    {"arith.cmpf oeq", [](float a, float b) { return a == b; }},
    {"arith.cmpf une", [](float a, float b) { return a != b; }},
    {"arith.cmpf olt", [](float a, float b) { return a < b; }},
    {"arith.cmpf ole", [](float a, float b) { return a <= b; }},
    {"arith.cmpf ogt", [](float a, float b) { return a > b; }},
    {"arith.cmpf oge", [](float a, float b) { return a >= b; }},
};

const std::map<std::string, Unary> floatFunctions = {
    {"arith.negf", [](float x) { return -x; }},
    {"arith.extf", [](float x) { return x; }},
    {"math.absf", [](float x) { return std::fabs(x); }},
    {"math.exp", [](float x) { return std::exp(x); }},
    {"math.exp2", [](float x) { return std::exp2(x); }},
    {"math.log", [](float x) { return std::log(x); }},
    {"math.tanh", [](float x) { return std::tanh(x); }},
    {"math.sqrt", [](float x) { return std::sqrt(x); }},
    {"math.rsqrt", [](float x) { return 1 / std::sqrt(x); }},
    {"math.erf", [](float x) { return std::erf(x); }},
    {"math.sin", [](float x) { return std::sin(x); }},
    {"math.cos", [](float x) { return std::cos(x); }},
};

bool isFloatType(const std::string &type) {
  return type == "f32" || type.find("f16>") != std::string::npos ||
         type.find("f32>") != std::string::npos;
}

Scalar load(const Line &line, const Array &buffer,
            const std::vector<Scalar> &indices) {
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d)
    offset = offset * buffer.shape[d] +
             std::clamp<int64_t>(indices[d].integer, 0, buffer.shape[d] - 1);
  float element = buffer.elements[offset];
  if (isFloatType(line.type))
    return {0, element};
  return {static_cast<int64_t>(element), 0};
}

} // namespace

SpecText::SpecText(const char *mlir) {
  if (!mlir)
    throw std::runtime_error("the spec has diagnostics");
  std::istringstream lines(mlir);
  std::vector<Line> *region = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("    score (") == 0)
      region = &score;
    else if (line.find("    mask (") == 0)
      region = &mask;
    else if (line == "    }")
      region = nullptr;
    else if (region)
      region->push_back(parse(line));
  }
}

Scalar SpecText::evaluate(const std::vector<Line> &region, const Call &call,
                          Scalar s, const int (&at)[4]) const {
  std::map<std::string, Scalar> values{{"%s", s},
                                       {"%b", {at[0], 0}},
                                       {"%h", {at[1], 0}},
                                       {"%i", {at[2], 0}},
                                       {"%j", {at[3], 0}}};
  for (const auto &[name, value] : call.scalars)
    values["%" + name] = value;
  std::map<std::string, int64_t> extents{{"batch", call.batch},
                                         {"heads", call.heads},
                                         {"kv_heads", call.kvHeads},
                                         {"query", call.query},
                                         {"key", call.key}};

  for (const Line &line : region) {
    const std::string &op = line.mnemonic;
    if (op == "attn.yield")
      return values.at(line.operands[0]);
    Scalar &result = values[line.result];
    if (op == "arith.constant") {
      result = constant(line);
      continue;
    }
    if (op == "attn.extent") {
      result = {extents.at(line.operands[0]), 0};
      continue;
    }
    std::vector<Scalar> x;
    for (const std::string &operand : line.operands)
      if (values.count(operand))
        x.push_back(values.at(operand));
    if (op == "attn.load") {
      result = load(line, call.buffers.at(line.operands[0].substr(1)), x);
    } else if (auto f = integerOps.find(op); f != integerOps.end()) {
      result = {f->second(x.at(0).integer, x.at(1).integer), 0};
    } else if (auto f = floatOps.find(op); f != floatOps.end()) {
      result = {0, f->second(x.at(0).real, x.at(1).real)};
    } else if (auto f = floatCompares.find(op); f != floatCompares.end()) {
      result = {f->second(x.at(0).real, x.at(1).real), 0};
    } else if (auto f = floatFunctions.find(op); f != floatFunctions.end()) {
      result = {0, f->second(x.at(0).real)};
    } else if (op == "math.absi") {
      result = {std::abs(x.at(0).integer), 0};
    } else if (op == "arith.select") {
      result = x.at(0).integer ? x.at(1) : x.at(2);
    } else if (op == "arith.sitofp" || op == "arith.uitofp") {
      result = {0, static_cast<float>(x.at(0).integer)};
    } else if (op == "arith.fptosi") {
      result = {static_cast<int64_t>(x.at(0).real), 0};
    } else if (op == "arith.extsi" || op == "arith.extui") {
      result = x.at(0);
    } else if (op == "arith.trunci") {
      result = {wrap(x.at(0).integer), 0};
    } else {
      throw std::runtime_error("unknown operation " + op);
    }
  }
  throw std::runtime_error("a region without attn.yield");
}

float SpecText::evaluateScore(const Call &call, float s, int b, int h, int i,
                              int j) const {
  return score.empty() ? s : evaluate(score, call, {0, s}, {b, h, i, j}).real;
}

bool SpecText::evaluateMask(const Call &call, int b, int h, int i,
                            int j) const {
  return mask.empty() || evaluate(mask, call, {}, {b, h, i, j}).integer != 0;
}

} // namespace qm::test
