//===- Buffer.cpp - loads from captured buffers ---------------------------===//
#include "dialect/dsl/Trace.h"

namespace qm::detail {

Gather Gather::with(const Operand &subscript) const {
  Gather next = *this;
  next.subscripts[next.count++] = subscript.node;
  return next;
}

void Gather::markSorted() const {
  trace->arguments[buffer].sorted = true;
  trace->finished = false;
}

/// The element, converted to what the front end computes in.
Node *Gather::load(Where where) const {
  DType stored = trace->arguments[buffer].type;
  // An i1 buffer holds bytes.
  DType loaded = stored == DType::I1 ? DType::I8 : stored;
  Node *element = trace->add({.kind = Node::Kind::Load,
                              .type = loaded,
                              .integer = buffer,
                              .operands = {subscripts, subscripts + count},
                              .where = where});
  for (Node *subscript : element->operands)
    if (subscript->owner && subscript->owner != trace)
      attach(element, diag::Id::ForeignValue,
             "buffer '" + trace->arguments[buffer].name + "' of the spec '" +
                 trace->name + "' is indexed by a value of the spec '" +
                 subscript->owner->name + "'",
             "declare the buffer in the spec that uses it");

  switch (stored) {
  case DType::F32:
  case DType::I32:
    return element;
  case DType::F16:
  case DType::BF16:
    return operation("arith.extf", DType::F32, {element}, where);
  case DType::I8:
  case DType::I16:
    return operation("arith.extsi", DType::I32, {element}, where);
  case DType::I64:
    return operation("arith.trunci", DType::I32, {element}, where);
  case DType::I1:
    break;
  }
  Node *zero = trace->add(
      {.kind = Node::Kind::Integer, .type = DType::I8, .where = where});
  return operation("arith.cmpi ne,", DType::I1, {element, zero}, where);
}

} // namespace qm::detail
