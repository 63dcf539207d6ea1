//===- Validate.cpp - mistakes that only the whole spec shows -------------===//
#include "dialect/dsl/Trace.h"

#include <unordered_set>

namespace qm::detail {
namespace {

class Validator {
public:
  explicit Validator(Trace &trace) : trace(trace) {}

  void run() {
    trace.finalProblems.clear();
    checkShape();
    checkNames();
    checkFunction(trace.score, Scope::Score);
    checkFunction(trace.mask, Scope::Mask);
    checkFunction(trace.sink, Scope::Sink);
  }

private:
  void report(diag::Id id, Where where, std::string message, std::string help) {
    trace.finalProblems.push_back(
        {id, std::move(message), std::move(help), where});
  }

  void checkShape() {
    if (!trace.heads.isSet)
      report(diag::Id::SpecIncomplete, trace.where,
             "spec '" + trace.name +
                 "' does not say how many query heads it has",
             "add spec.heads(n)");
    if (!trace.headDim.isSet)
      report(diag::Id::SpecIncomplete, trace.where,
             "spec '" + trace.name + "' does not say how wide a head is",
             "add spec.headDim(d)");
    long long heads = trace.heads.value, kvHeads = trace.kvHeadCount();
    if (heads > 0 && kvHeads > 0 && heads % kvHeads != 0)
      report(diag::Id::SpecHeadsNotDivisible, trace.kvHeads.where,
             "spec '" + trace.name + "': " + std::to_string(heads) +
                 " query heads are not a multiple of " +
                 std::to_string(kvHeads) + " key/value heads",
             "query head h reads key/value head h / (heads / kvHeads): change "
             "one of the two");
  }

  /// The names of lengths are taken where there are any.
  void checkNames() {
    for (bool ofKeys : {false, true})
      for (const FunctionArgument &argument : trace.arguments)
        if (const char *taken = trace.lengthsName(ofKeys);
            taken && argument.name == taken)
          report(diag::Id::BadName, argument.where,
                 "'" + argument.name + "' is the name of the " +
                     (ofKeys ? "keys'" : "queries'") + " lengths",
                 "choose another name");
  }

  void checkFunction(const Property<Node *> &root, Scope scope) {
    if (!root.isSet)
      return;
    if (root.value->owner && root.value->owner != &trace)
      return foreign(root.value, root.where);
    if (isForeignArgument(root.value, scope))
      return outOfScope(root.where);
    for (Node *node : reachable(root.value)) {
      // A mistake of a value shared by both functions is told once.
      if (node->problem && reported.insert(node).second)
        trace.finalProblems.push_back(*node->problem);
      for (Node *operand : node->operands)
        if (isForeignArgument(operand, scope) && reported.insert(node).second)
          outOfScope(node->where);
    }
  }

  bool isForeignArgument(const Node *node, Scope scope) const {
    return node->kind == Node::Kind::Argument && node->owner == &trace &&
           node->scope != scope;
  }

  void foreign(const Node *node, Where where) {
    report(diag::Id::ForeignValue, where,
           "a value of the spec '" + node->owner->name +
               "' is used in the spec '" + trace.name + "'",
           "declare it again in '" + trace.name + "'");
  }

  void outOfScope(Where where) {
    report(diag::Id::OutOfScope, where,
           "this value was computed from the arguments of another function of "
           "the spec '" +
               trace.name + "'",
           "compute it from the arguments of this function");
  }

  Trace &trace;
  std::unordered_set<const Node *> reported;
};

} // namespace

void validate(Trace &trace) { Validator(trace).run(); }

} // namespace qm::detail
