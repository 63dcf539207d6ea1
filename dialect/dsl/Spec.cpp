//===- Spec.cpp - the builder of a spec -----------------------------------===//
#include "dialect/dsl/Trace.h"

#include <qm/spec.h>

#include <cctype>
#include <cmath>

using namespace qm::detail;

namespace qm {
namespace {

bool isIdentifier(const std::string &name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    return false;
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
      return false;
  return true;
}

/// Sets a property, once.
template <class T>
void set(Trace &trace, Property<T> &property, const char *what, T value,
         Where where) {
  if (property.isSet)
    return trace.report(diag::Id::SetTwice, where,
                        "spec." + std::string(what) + " of '" + trace.name +
                            "' is set twice",
                        "remove one of the two");
  property.value = value;
  property.isSet = true;
  property.where = where;
  trace.finished = false;
}

void setExtent(Trace &trace, Property<long long> &property, const char *what,
               long long value, Where where) {
  if (value < 1)
    trace.report(diag::Id::ExtentNotPositive, where,
                 "spec." + std::string(what) + "(" + std::to_string(value) +
                     "): the extent must be at least 1",
                 "write a positive number");
  set(trace, property, what, value, where);
}

/// Adds a buffer or scalar, after looking at its name.
int addArgument(Trace &trace, const Name &name, DType type,
                std::vector<Dimension> dimensions) {
  std::string text = name.text ? name.text : "";
  bool taken = text == "q" || text == "k" || text == "v" || text == "o" ||
               text == "lse" || text == "row_max";
  if (!isIdentifier(text))
    trace.report(
        diag::Id::BadName, name.where, "'" + text + "' cannot name an argument",
        "use letters, digits and underscores, not starting with a digit");
  else if (taken)
    trace.report(diag::Id::BadName, name.where,
                 "'" + text + "' is the name of an operand",
                 "q, k, v, o, lse and row_max are taken; choose another name");
  for (const FunctionArgument &argument : trace.arguments)
    if (argument.name == text)
      trace.report(diag::Id::DuplicateName, name.where,
                   "an argument '" + text + "' was declared before, at line " +
                       std::to_string(argument.where.line()),
                   "give every buffer and scalar its own name");
  trace.arguments.push_back({text, type, std::move(dimensions), name.where});
  trace.finished = false;
  return static_cast<int>(trace.arguments.size()) - 1;
}

Node *parameter(Trace &trace, const Name &name, DType type) {
  int index = addArgument(trace, name, type, {});
  return trace.add({.kind = Node::Kind::Parameter,
                    .type = type,
                    .integer = index,
                    .where = name.where});
}

Coordinates coordinates(Trace &trace, Scope scope, Where where) {
  auto argument = [&](int index) {
    return trace.add({.kind = Node::Kind::Argument,
                      .type = index == 0 ? DType::F32 : DType::I32,
                      .scope = scope,
                      .integer = index,
                      .where = where});
  };
  return {Score(Float(argument(0))), Batch(Index(argument(1))),
          Head(Index(argument(2))), Query(Index(argument(3))),
          Key(Index(argument(4)))};
}

} // namespace

Spec::Spec(const char *name, Where where)
    : trace(new Trace(name ? name : "", where)) {
  if (!isIdentifier(trace->name))
    trace->report(
        diag::Id::BadName, where, "'" + trace->name + "' cannot name a spec",
        "use letters, digits and underscores, not starting with a digit");
}

Spec::~Spec() { delete trace; }

Spec &Spec::heads(int count, Where where) {
  setExtent(*trace, trace->heads, "heads", count, where);
  return *this;
}
Spec &Spec::kvHeads(int count, Where where) {
  setExtent(*trace, trace->kvHeads, "kvHeads", count, where);
  return *this;
}
Spec &Spec::headDim(int extent, Where where) {
  setExtent(*trace, trace->headDim, "headDim", extent, where);
  return *this;
}
Spec &Spec::valueHeadDim(int extent, Where where) {
  setExtent(*trace, trace->valueHeadDim, "valueHeadDim", extent, where);
  return *this;
}

Spec &Spec::scale(float factor, Where where) {
  if (!std::isfinite(factor))
    trace->report(diag::Id::BadScale, where,
                  "spec.scale(" + std::to_string(factor) +
                      "): the scale must be finite",
                  "leave it out for 1/sqrt(headDim)");
  set(*trace, trace->scale, "scale", factor, where);
  return *this;
}
Spec &Spec::returnLse(Where where) {
  set(*trace, trace->returnLse, "returnLse", true, where);
  return *this;
}
Spec &Spec::returnRowMax(Where where) {
  set(*trace, trace->returnRowMax, "returnRowMax", true, where);
  return *this;
}
Spec &Spec::setLengths(Lengths lengths, const char *what, Where where) {
  if (trace->lengths.isSet && trace->lengths.value != lengths)
    trace->report(diag::Id::SetTwice, where,
                  "'" + trace->name + "' is both packed and padded",
                  "remove one of the two");
  else
    set(*trace, trace->lengths, what, lengths, where);
  return *this;
}
Spec &Spec::packed(Where where) {
  return setLengths(Lengths::Packed, "packed", where);
}
Spec &Spec::padded(Where where) {
  return setLengths(Lengths::Padded, "padded", where);
}
Spec &Spec::setDType(DType type, Where where) {
  set(*trace, trace->dtype, "dtype", type, where);
  return *this;
}

Extent<Batch> Spec::batch(Where where) const {
  return Extent<Batch>(extent("batch", where));
}
Extent<Head> Spec::heads(Where where) const {
  return Extent<Head>(extent("heads", where));
}
Extent<KvHead> Spec::kvHeads(Where where) const {
  return Extent<KvHead>(extent("kv_heads", where));
}
Extent<Query> Spec::queryLength(Where where) const {
  return Extent<Query>(extent("query", where));
}
Extent<Key> Spec::keyLength(Where where) const {
  return Extent<Key>(extent("key", where));
}

Gather Spec::addBuffer(const Name &name, DType type,
                       const Dimension *dimensions, int rank) {
  for (int i = 0; i < rank; ++i)
    if (dimensions[i].source == Dimension::Fixed && dimensions[i].value < 1)
      trace->report(
          diag::Id::ExtentNotPositive, name.where,
          "dimension " + std::to_string(i) + " of buffer '" +
              (name.text ? name.text : "") + "' has extent " +
              std::to_string(dimensions[i].value),
          "write a positive extent, or qm::dynamic for one known at launch");
  int index = addArgument(*trace, name, type, {dimensions, dimensions + rank});
  return {trace, index, 0, {}};
}

Index Spec::param(Name name, Type<DType::I32>) {
  return Index(parameter(*trace, name, DType::I32));
}
Float Spec::param(Name name, Type<DType::F32>) {
  return Float(parameter(*trace, name, DType::F32));
}

Coordinates Spec::beginScore(Where where) {
  return coordinates(*trace, Scope::Score, where);
}

void Spec::endScore(Node *result, Where where) {
  set(*trace, trace->score, "score", result, where);
}

Coordinates Spec::beginSink(Where where) {
  return coordinates(*trace, Scope::Sink, where);
}

void Spec::endSink(Node *result, Where where) {
  set(*trace, trace->sink, "sink", result, where);
}

Spec &Spec::mask(const Mask &mask, Where where) {
  Coordinates at = coordinates(*trace, Scope::Mask, where);
  set(*trace, trace->mask, "mask", mask(at.b, at.h, at.i, at.j).node, where);
  return *this;
}

const char *Spec::name() const { return trace->name.c_str(); }

const char *Spec::mlir() {
  if (!trace->finished) {
    validate(*trace);
    bool valid = trace->problems.empty() && trace->finalProblems.empty();
    trace->text = valid ? emit(*trace) : "";
    trace->finished = true;
  }
  return trace->text.empty() ? nullptr : trace->text.c_str();
}

int Spec::diagnosticCount() {
  mlir();
  return static_cast<int>(trace->problems.size() + trace->finalProblems.size());
}

Diagnostic Spec::diagnostic(int index) {
  if (index < 0 || index >= diagnosticCount())
    return {"", "", 0, 0, "", ""};
  size_t i = static_cast<size_t>(index), early = trace->problems.size();
  const Problem &problem =
      i < early ? trace->problems[i] : trace->finalProblems[i - early];
  trace->codes.push_back(diag::code(problem.id));
  return {trace->codes.back().c_str(),
          problem.where.file_name(),
          static_cast<int>(problem.where.line()),
          static_cast<int>(problem.where.column()),
          problem.message.c_str(),
          problem.help.c_str()};
}

} // namespace qm
