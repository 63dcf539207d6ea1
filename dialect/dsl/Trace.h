//===- Trace.h - the expression graph of a spec -----------------*- C++ -*-===//
//
// What the public headers call detail::Node and detail::Trace. A node is one
// MLIR operation (or a leaf); operators with no single operation, such as
// floor modulo, are expanded when they are built. Nodes own nothing and live as
// long as their trace.
//
// Constants and extents of the call mean the same in every spec: they have no
// owner and are shared by all traces of a thread, one node a place and value.
//
// A mistake in an expression is kept on its node, and reported by the spec that
// uses the node.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/DiagnosticIds.h"

#include <qm/declare.h>

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace qm::detail {

/// A mistake of the user.
struct Problem {
  diag::Id id;
  std::string message;
  std::string help;
  Where where;
};

/// The functions of a spec; an argument belongs to one.
enum class Scope : unsigned char { Score, Mask, Sink };

struct Node {
  enum class Kind : unsigned char {
    Integer,   ///< `integer`, of type I32 or I8
    Real,      ///< `real`, F32
    Boolean,   ///< `integer`, I1
    Extent,    ///< `mnemonic` names the extent
    Argument,  ///< `integer` counts s, b, h, i, j; of `scope`
    Parameter, ///< function argument `integer` (buffers and scalars)
    Load,      ///< element of function argument `integer`
    Operation  ///< `mnemonic`
  };
  Kind kind;
  DType type; ///< Of the result; I1 is a condition here.
  Scope scope = Scope::Score;
  const char *mnemonic = nullptr; ///< As printed: "arith.cmpi sge,"
  const char *flags = "";         ///< As printed behind the operands.
  long long integer = 0;
  double real = 0;
  std::vector<Node *> operands{};
  Trace *owner = nullptr;
  Where where;
  std::unique_ptr<Problem> problem{};

  bool isBoolean(bool value) const {
    return kind == Kind::Boolean && (integer != 0) == value;
  }
};

/// A captured buffer or run-time scalar.
struct FunctionArgument {
  std::string name;
  DType type;
  std::vector<Dimension> dimensions; ///< Empty for a scalar.
  Where where;
  bool sorted = false; ///< Along the last dimension.
};

/// A property that is set at most once.
template <class T>
struct Property {
  T value{};
  bool isSet = false;
  Where where{};
};

class Trace {
public:
  Trace(const char *name, Where where) : name(name), where(where) {}

  std::string name;
  Where where;
  Property<long long> heads, kvHeads, headDim, valueHeadDim;
  Property<float> scale;
  Property<DType> dtype{DType::BF16};
  Property<bool> returnLse, returnRowMax;
  Property<Lengths> lengths{Lengths::Whole};
  Property<Node *> score, mask, sink;
  std::vector<FunctionArgument> arguments;

  Node *add(Node node);
  void report(diag::Id id, Where where, std::string message, std::string help);

  /// The arguments that hold lengths; null without.
  const char *lengthsName(bool ofKeys) const {
    if (lengths.value == Lengths::Whole)
      return nullptr;
    if (lengths.value == Lengths::Packed)
      return ofKeys ? "cu_kv" : "cu_q";
    return ofKeys ? "len_kv" : "len_q";
  }

  long long kvHeadCount() const {
    return (kvHeads.isSet ? kvHeads : heads).value;
  }
  long long valueWidth() const {
    return (valueHeadDim.isSet ? valueHeadDim : headDim).value;
  }

  std::deque<Problem> problems; ///< Of declarations; grows as they are made.
  std::deque<Problem> finalProblems; ///< Of the whole; made anew by Validate.
  std::deque<std::string> codes;     ///< Keeps the strings of Diagnostic alive.
  bool finished = false;
  std::string text; ///< MLIR; meaningful when finished without problems.

private:
  std::deque<Node> nodes;
};

/// While one exists, nodes are said to be made at its place, not where the
/// library's own source makes them.
class AtPlace {
public:
  explicit AtPlace(Where where);
  ~AtPlace();
  AtPlace(const AtPlace &) = delete;
  AtPlace &operator=(const AtPlace &) = delete;

private:
  Where place;
  const Where *previous;
};

/// An operation on nodes; its owner is that of the operands.
Node *operation(const char *mnemonic, DType type,
                std::initializer_list<Node *> operands, Where where);
Node *extent(const char *kind, Where where);
void attach(Node *node, diag::Id id, std::string message, std::string help);

// Finishing a spec.

/// Nodes that `root` needs, operands before users; each once.
std::vector<Node *> reachable(Node *root);
/// Fills trace.finalProblems.
void validate(Trace &trace);
/// The MLIR text of a valid trace.
std::string emit(const Trace &trace);

} // namespace qm::detail
