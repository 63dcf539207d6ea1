//===- mask.h - masks as values ---------------------------------*- C++ -*-===//
//
// A mask says which pairs (query i, key j) are kept. Library masks and
// lambdas combine with `&&`, `||`, `!` and `shift`; the compiler derives from
// the whole which key blocks are empty, partial or full, so a lambda costs no
// more than a library mask.
// This header is the value and its algebra; masks.h is the library.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/buffer.h>
#include <qm/math.h>

namespace qm {

class Mask {
public:
  struct Function {
    virtual ~Function() = default;
    virtual Bool operator()(Batch b, Head h, Query i, Key j) const = 0;
    int references = 0;
  };

  explicit Mask(Function *function);
  Mask(const Mask &other);
  Mask &operator=(const Mask &other);
  ~Mask();

  /// Whether a pair is kept; for use inside score functions and other masks.
  Bool operator()(Batch b, Head h, Query i, Key j) const;

  /// This mask seen from moved axes: keeps (i, j) iff it keeps (i + queries, j
  /// + keys).
  Mask shift(detail::IntArg queries, detail::IntArg keys) const;

private:
  Function *function;
};

namespace detail {

/// A mask operand; see operand.h.
struct MaskArg {
  Mask mask;
  Where where;
  MaskArg(const Mask &mask, Where where = Where::current())
      : mask(mask), where(where) {}
};

template <class F>
concept MaskLambda =
    requires(const F &f, Batch b, Head h, Query i, Key j) { f(b, h, i, j); };

/// What a mask function returns: Bool, or bool for a constant.
template <class F>
inline constexpr bool returnsCondition = [] {
  if constexpr (MaskLambda<F>)
    return isOneOf<decltype(value<F>()(value<Batch>(), value<Head>(),
                                       value<Query>(), value<Key>())),
                   Bool, bool>;
  return false;
}();

template <class F>
struct MaskFunction final : Mask::Function {
  F function;
  explicit MaskFunction(const F &function) : function(function) {}
  Bool operator()(Batch b, Head h, Query i, Key j) const override {
    return function(b, h, i, j);
  }
};

} // namespace detail

Mask operator&&(detail::MaskArg a, detail::MaskArg b);
Mask operator||(detail::MaskArg a, detail::MaskArg b);
Mask operator!(detail::MaskArg a);

/// No mask.
/// Keeps: every pair
Mask full();

/// A function (Batch, Head, Query, Key) -> Bool.
template <class F>
Mask custom(const F &function) {
  static_assert(detail::MaskLambda<F>,
                "a mask function takes four arguments: (Batch b, Head h, "
                "Query i, Key j)");
  static_assert(!detail::MaskLambda<F> || detail::returnsCondition<F>,
                "a mask keeps or drops a pair: its function returns a Bool, as "
                "in `return i >= j;` (numbers are not masks; an additive bias "
                "belongs in spec.score)");
  // A lambda that holds a Spec by value was refused where it was written.
  constexpr bool isCopyable = __is_constructible(F, const F &);
  if constexpr (detail::returnsCondition<F> && isCopyable)
    return Mask(new detail::MaskFunction<F>(function));
  else
    return full();
}

} // namespace qm
