//===- Trace.cpp - building the expression graph --------------------------===//
#include "dialect/dsl/Trace.h"

#include <cstring>
#include <map>
#include <tuple>
#include <unordered_set>

namespace qm::detail {
namespace {

thread_local const Where *currentPlace = nullptr;

Where placeOf(Where where) { return currentPlace ? *currentPlace : where; }

/// Nodes without an owner. Leaves are one a place and value, so that tracing
/// the same code again adds nothing.
struct Commons {
  using Key = std::tuple<Node::Kind, DType, long long, unsigned long long,
                         const char *, const char *, unsigned, unsigned>;
  std::deque<Node> nodes;
  std::map<Key, Node *> leaves;

  Node *add(Node node) { return &nodes.emplace_back(std::move(node)); }

  Node *leaf(Node node) {
    node.where = placeOf(node.where);
    unsigned long long bits;
    std::memcpy(&bits, &node.real, sizeof(bits));
    Key key{node.kind,         node.type,
            node.integer,      bits,
            node.mnemonic,     node.where.file_name(),
            node.where.line(), node.where.column()};
    Node *&entry = leaves[key];
    if (!entry)
      entry = add(std::move(node));
    return entry;
  }
};

Commons &commons() {
  thread_local Commons instance;
  return instance;
}

Node *tooLarge(const std::string &value, Where where) {
  Node node{
      .kind = Node::Kind::Integer, .type = DType::I32, .where = placeOf(where)};
  Node *result = commons().add(std::move(node));
  attach(result, diag::Id::IntegerTooLarge,
         "the integer " + value + " does not fit in 32 bits",
         "indices are signed 32-bit; write a float literal if a number of "
         "this size is meant");
  return result;
}

} // namespace

AtPlace::AtPlace(Where where) : place(where), previous(currentPlace) {
  currentPlace = &place;
}
AtPlace::~AtPlace() { currentPlace = previous; }

Node *Trace::add(Node node) {
  node.owner = this;
  node.where = placeOf(node.where);
  return &nodes.emplace_back(std::move(node));
}

void Trace::report(diag::Id id, Where where, std::string message,
                   std::string help) {
  problems.push_back({id, std::move(message), std::move(help), where});
  finished = false;
}

void attach(Node *node, diag::Id id, std::string message, std::string help) {
  node->problem = std::make_unique<Problem>(
      Problem{id, std::move(message), std::move(help), node->where});
}

Node *integer(long long value, Where where) {
  if (value < INT32_MIN || value > INT32_MAX)
    return tooLarge(std::to_string(value), where);
  return commons().leaf({.kind = Node::Kind::Integer,
                         .type = DType::I32,
                         .integer = value,
                         .where = where});
}

Node *integer(unsigned long long value, Where where) {
  if (value > INT32_MAX)
    return tooLarge(std::to_string(value), where);
  return integer(static_cast<long long>(value), where);
}

Node *real(double value, Where where) {
  return commons().leaf({.kind = Node::Kind::Real,
                         .type = DType::F32,
                         .real = static_cast<float>(value),
                         .where = where});
}

Node *boolean(bool value, Where where) {
  return commons().leaf({.kind = Node::Kind::Boolean,
                         .type = DType::I1,
                         .integer = value,
                         .where = where});
}

Node *extent(const char *kind, Where where) {
  return commons().leaf({.kind = Node::Kind::Extent,
                         .type = DType::I32,
                         .mnemonic = kind,
                         .where = where});
}

Node *operation(const char *mnemonic, DType type,
                std::initializer_list<Node *> operands, Where where) {
  Trace *owner = nullptr, *other = nullptr;
  for (Node *operand : operands) {
    if (!owner)
      owner = operand->owner;
    else if (operand->owner && operand->owner != owner)
      other = operand->owner;
  }
  Node node{.kind = Node::Kind::Operation,
            .type = type,
            .mnemonic = mnemonic,
            .operands = operands,
            .where = placeOf(where)};
  Node *result =
      owner ? owner->add(std::move(node)) : commons().add(std::move(node));
  if (other)
    attach(result, diag::Id::ForeignValue,
           "values of the specs '" + owner->name + "' and '" + other->name +
               "' are used together",
           "declare what both need in each of them");
  return result;
}

std::vector<Node *> reachable(Node *root) {
  // An explicit stack: a score built by a loop can be deeper than the call
  // stack.
  std::vector<Node *> order;
  std::unordered_set<Node *> seen{root};
  std::vector<std::pair<Node *, size_t>> stack{{root, 0}};
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (next == node->operands.size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    Node *operand = node->operands[next++];
    if (seen.insert(operand).second)
      stack.emplace_back(operand, 0);
  }
  return order;
}

} // namespace qm::detail
