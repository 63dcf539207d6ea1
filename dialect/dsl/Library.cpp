//===- Library.cpp - what library masks and scores share ------------------===//
#include "dialect/dsl/Library.h"

namespace qm::detail {
namespace {

/// Works under AtPlace: the place is the library function's.
Where here() { return Where::current(); }

template <class Known, class Symbolic>
Index fold(const Index &a, const Index &b, const Known &known,
           const Symbolic &symbolic) {
  std::optional<long long> x = constantOf(a), y = constantOf(b);
  return x && y ? Index(integer(known(*x, *y), here())) : symbolic(a, b);
}

/// A node of its own, so that the mistake spoils this use of the value only.
Node *spoiled(Node *value, const char *add, Node *zero,
              const std::string &message, const std::string &help) {
  Node *node = operation(add, value->type, {value, zero}, here());
  attach(node, diag::Id::LibraryArgument, message, help);
  return node;
}

} // namespace

Index position(const Query &i, Alignment alignment) {
  if (alignment == TopLeft)
    return i;
  return i + (Index(extent("key", here())) - Index(extent("query", here())));
}

std::optional<long long> constantOf(const Index &value) {
  if (value.node->kind == Node::Kind::Integer && !value.node->problem)
    return value.node->integer;
  return std::nullopt;
}

Index times(const Index &a, const Index &b) {
  return fold(
      a, b, [](long long x, long long y) { return x * y; },
      [](const Index &x, const Index &y) { return x * y; });
}

Index quotient(const Index &a, const Index &b) {
  // Sizes are not negative, so truncation is floor.
  if (constantOf(b).value_or(1) < 1 || constantOf(a).value_or(0) < 0)
    return a / b;
  return fold(
      a, b, [](long long x, long long y) { return x / y; },
      [](const Index &x, const Index &y) { return x / y; });
}

Index minus(const Index &a, const Index &b) {
  return fold(
      a, b, [](long long x, long long y) { return x - y; },
      [](const Index &x, const Index &y) { return x - y; });
}

Index require(const Index &value, bool holds, const std::string &message,
              const std::string &help) {
  if (holds)
    return value;
  return Index(
      spoiled(value.node, "arith.addi", integer(0LL, here()), message, help));
}

Float require(const Float &value, bool holds, const std::string &message,
              const std::string &help) {
  if (holds)
    return value;
  return Float(
      spoiled(value.node, "arith.addf", real(0, here()), message, help));
}

Index atLeast(const Index &argument, long long least, const char *function,
              const char *what) {
  std::optional<long long> value = constantOf(argument);
  return require(argument, !value || *value >= least,
                 std::string(function) + ": " + what + " is " +
                     std::to_string(value.value_or(0)) + ", at least " +
                     std::to_string(least) + " is needed",
                 "write a larger number, or give it at launch with spec.param");
}

Index atLeast(const IntArg &argument, long long least, const char *function,
              const char *what) {
  return atLeast(Index(argument.node), least, function, what);
}

} // namespace qm::detail
