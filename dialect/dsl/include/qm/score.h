//===- score.h - score functions as values ----------------------*- C++ -*-===//
//
// What spec.score takes is a function (Score, Batch, Head, Query, Key) ->
// Float. A ScoreFunction is one that can be kept, passed and put before
// another:
//
//   spec.score(softcap(30).then(alibi(slopes)));
//
// reads in the order of application. A lambda becomes one with customScore, and
// a ScoreFunction can be called inside a lambda.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/declare.h>

namespace qm {

class ScoreFunction {
public:
  struct Function {
    virtual ~Function() = default;
    virtual Float operator()(Score s, Batch b, Head h, Query i,
                             Key j) const = 0;
    int references = 0;
  };

  explicit ScoreFunction(Function *function);
  ScoreFunction(const ScoreFunction &other);
  ScoreFunction &operator=(const ScoreFunction &other);
  ~ScoreFunction();

  Float operator()(Score s, Batch b, Head h, Query i, Key j) const;

  /// This function first, then `next` on its result.
  ScoreFunction then(const ScoreFunction &next) const;

private:
  Function *function;
};

namespace detail {

template <class F>
struct ScoreLambdaFunction final : ScoreFunction::Function {
  F function;
  explicit ScoreLambdaFunction(const F &function) : function(function) {}
  Float operator()(Score s, Batch b, Head h, Query i, Key j) const override {
    return function(s, b, h, i, j);
  }
};

} // namespace detail

/// A lambda (Score, Batch, Head, Query, Key) -> Float as a value.
template <class F>
ScoreFunction customScore(const F &function) {
  static_assert(detail::ScoreLambda<F>,
                "a score function takes five arguments: (Score s, Batch b, "
                "Head h, Query i, Key j)");
  return ScoreFunction(new detail::ScoreLambdaFunction<F>(function));
}

} // namespace qm
