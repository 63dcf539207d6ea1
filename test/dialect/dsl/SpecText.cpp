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

Scalar load(const Array &buffer, bool isFloat,
            const std::vector<size_t> &indices,
            const std::vector<Scalar> &values) {
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d)
    offset =
        offset * buffer.shape[d] +
        std::clamp<int64_t>(values[indices[d]].integer, 0, buffer.shape[d] - 1);
  double element = buffer.elements[offset];
  if (isFloat)
    return {0, static_cast<float>(element)};
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

Evaluator::Evaluator(const std::vector<Line> &region, const Call &call) {
  for (const char *argument : {"%s", "%b", "%h", "%i", "%j"})
    slot(argument);
  for (const auto &[name, value] : call.scalars)
    values[slot("%" + name)] = value;
  const std::map<std::string, int64_t> extents{{"batch", call.batch},
                                               {"heads", call.heads},
                                               {"kv_heads", call.kvHeads},
                                               {"query", call.query},
                                               {"key", call.key}};
  for (const Line &line : region) {
    if (line.mnemonic == "attn.yield")
      result = slot(line.operands[0]);
    else if (line.mnemonic == "arith.constant")
      values[slot(line.result)] = constant(line);
    else if (line.mnemonic == "attn.extent")
      values[slot(line.result)] = {extents.at(line.operands[0]), 0};
    else
      steps.push_back(compile(line, call));
  }
  if (region.empty() || region.back().mnemonic != "attn.yield")
    throw std::runtime_error("a region without attn.yield");
}

size_t Evaluator::slot(const std::string &name) {
  auto [at, isNew] = slots.try_emplace(name, values.size());
  if (isNew)
    values.emplace_back();
  return at->second;
}

Evaluator::Step Evaluator::compile(const Line &line, const Call &call) {
  using Values = std::vector<Scalar>;
  const std::string &op = line.mnemonic;
  std::vector<size_t> x;
  for (const std::string &operand : line.operands)
    if (auto known = slots.find(operand); known != slots.end())
      x.push_back(known->second);
  if (op == "attn.load") {
    const Array *buffer = &call.buffers.at(line.operands[0].substr(1));
    bool isFloat = isFloatType(line.type);
    return [=, to = slot(line.result)](Values &v) {
      v[to] = load(*buffer, isFloat, x, v);
    };
  }
  size_t to = slot(line.result), a = x.at(0), b = x.size() > 1 ? x[1] : a;
  if (auto f = integerOps.find(op); f != integerOps.end())
    return
        [=](Values &v) { v[to] = {f->second(v[a].integer, v[b].integer), 0}; };
  if (auto f = floatOps.find(op); f != floatOps.end())
    return [=](Values &v) { v[to] = {0, f->second(v[a].real, v[b].real)}; };
  if (auto f = floatCompares.find(op); f != floatCompares.end())
    return [=](Values &v) { v[to] = {f->second(v[a].real, v[b].real), 0}; };
  if (auto f = floatFunctions.find(op); f != floatFunctions.end())
    return [=](Values &v) { v[to] = {0, f->second(v[a].real)}; };
  if (op == "math.absi")
    return [=](Values &v) { v[to] = {std::abs(v[a].integer), 0}; };
  if (op == "arith.select")
    return [=, c = x.at(2)](Values &v) { v[to] = v[a].integer ? v[b] : v[c]; };
  if (op == "arith.sitofp" || op == "arith.uitofp")
    return [=](Values &v) { v[to] = {0, static_cast<float>(v[a].integer)}; };
  if (op == "arith.fptosi")
    return [=](Values &v) { v[to] = {static_cast<int64_t>(v[a].real), 0}; };
  if (op == "arith.extsi" || op == "arith.extui")
    return [=](Values &v) { v[to] = v[a]; };
  if (op == "arith.trunci")
    return [=](Values &v) { v[to] = {wrap(v[a].integer), 0}; };
  throw std::runtime_error("unknown operation " + op);
}

Scalar Evaluator::operator()(float s, int b, int h, int i, int j) {
  values[0] = {0, s};
  const int at[] = {b, h, i, j};
  for (int k = 0; k < 4; ++k)
    values[k + 1] = {at[k], 0};
  for (const Step &step : steps)
    step(values);
  return values[result];
}

float SpecText::evaluateScore(const Call &call, float s, int b, int h, int i,
                              int j) const {
  return score.empty() ? s : Evaluator(score, call)(s, b, h, i, j).real;
}

bool SpecText::evaluateMask(const Call &call, int b, int h, int i,
                            int j) const {
  return mask.empty() || Evaluator(mask, call)(0, b, h, i, j).integer != 0;
}

} // namespace qm::test
