//===- spec.h - the description of one attention operator -------*- C++ -*-===//
#pragma once

#include <qm/declare.h>
#include <qm/mask.h>

namespace qm {

/// One attention operator:
///
///   t = score(scale * q.k, b, h, i, j), -inf where the mask is false,
///   O = softmax over j (t) V,  lse = natural log of the softmax's denominator
///
/// q [B, Hq, Sq, D], k [B, Hkv, Skv, D], v [B, Hkv, Skv, Dv], O [B, Hq, Sq,
/// Dv], lse [B, Hq, Sq]. B, Sq and Skv are known at launch. Query head h reads
/// key/value head h / (Hq / Hkv). A row with no kept key has O = 0, lse = -inf.
///
/// Setters may come in any order, each once; mistakes are collected and
/// reported together, never thrown.
class Spec {
public:
  /// `name` names the kernel: a C identifier.
  explicit Spec(const char *name, Where where = Where::current());
  ~Spec();
  Spec(const Spec &)
      QM_DELETED("a Spec is not copied: capture by reference, [&]");
  Spec &operator=(const Spec &) = delete;

  Spec &heads(int count, Where where = Where::current());
  Spec &kvHeads(int count, Where where = Where::current()); ///< Default: heads.
  Spec &headDim(int extent, Where where = Where::current());
  Spec &valueHeadDim(int extent,
                     Where where = Where::current()); ///< Default: headDim.
  Spec &scale(float factor,
              Where where = Where::current()); ///< Default: 1/sqrt(headDim).
  Spec &returnLse(Where where = Where::current());
  /// One more output, `row_max` [B, Hq, Sq]: the largest kept score of each
  /// row, -inf where there is none.
  Spec &returnRowMax(Where where = Where::current());

  /// Sequences of different lengths, one after the other: q, O [1, Hq, T, D],
  /// k, v [1, Hkv, Tkv, D], lse [1, Hq, T]. Two arguments after v, `cu_q` and
  /// `cu_kv`, i32, say where sequences start and the last one ends
  /// ("cu_seqlens", one element more than there are sequences); equal starts
  /// are an empty one.
  Spec &packed(Where where = Where::current());
  /// Batch entries of different lengths: two arguments after v, `len_q` and
  /// `len_kv`, i32 of [B]. Memory past a length is neither read nor written.
  Spec &padded(Where where = Where::current());
  // In both, b is the number of the sequence, i and j count from its start, and
  // batch(), queryLength() and keyLength() are those of the region's sequence.

  /// Element type of q, k, v and O. Default: bf16.
  template <DType T>
  Spec &dtype(Type<T>, Where where = Where::current()) {
    static_assert(T == DType::F16 || T == DType::BF16 || T == DType::F32,
                  "q, k and v are f16, bf16 or f32");
    return setDType(T, where);
  }

  /// The extents of the call: buffer dimensions, and values in expressions.
  Extent<Batch> batch(Where where = Where::current()) const;
  Extent<Head> heads(Where where = Where::current()) const;
  Extent<KvHead> kvHeads(Where where = Where::current()) const;
  Extent<Query> queryLength(Where where = Where::current()) const;
  Extent<Key> keyLength(Where where = Where::current()) const;

  /// A captured buffer; arguments of the kernel in the order of declaration.
  /// Extents: integers, qm::dynamic, or extents of the call (see buffer.h).
  template <DType T, class... Extents>
  auto buffer(detail::Name name, Type<T>, const Extents &...extents) {
    constexpr int rank = sizeof...(Extents);
    static_assert(rank >= 1, "a buffer has at least one dimension; for a "
                             "single number use spec.param(name, type)");
    static_assert(rank <= detail::maxRank, "a buffer has at most 8 dimensions");
    const detail::Dimension dimensions[] = {detail::dimension(extents)...};
    return Buffer<typename detail::LoadedAs<T>::type,
                  typename detail::KindOf<Extents>::type...>(
        addBuffer(name, T, dimensions, rank));
  }
  template <DType T, class E, decltype(sizeof(0)) N>
  void buffer(detail::Name, Type<T>, const E (&)[N])
      QM_DELETED("write the extents without braces: "
                 "spec.buffer(\"slopes\", f32, spec.heads())");

  /// A number given at launch.
  Index param(detail::Name name, Type<DType::I32>);
  Float param(detail::Name name, Type<DType::F32>);

  /// The score function (Score, Batch, Head, Query, Key) -> Float, called once.
  template <class F>
  Spec &score(const F &function, Where where = Where::current()) {
    static_assert(detail::ScoreLambda<F>,
                  "a score function takes five arguments: (Score s, Batch b, "
                  "Head h, Query i, Key j)");
    if constexpr (detail::ScoreLambda<F>) {
      detail::Coordinates at = beginScore(where);
      using Result = decltype(function(at.s, at.b, at.h, at.i, at.j));
      constexpr bool isBool = detail::isOneOf<Result, Bool, bool>;
      static_assert(!isBool,
                    "a score function returns a number; a condition "
                    "belongs in spec.mask, or write select(c, s, -infinity)");
      if constexpr (!isBool)
        endScore(detail::FloatArg(function(at.s, at.b, at.h, at.i, at.j), where)
                     .node,
                 where);
    }
    return *this;
  }

  /// Which pairs are kept. Default: all.
  Spec &mask(const Mask &mask, Where where = Where::current());
  template <class F>
  Spec &mask(const F &function, Where where = Where::current()) {
    return mask(custom(function), where);
  }

  /// Attention sinks (GPT-OSS): one more logit of every row, without a value.
  /// exp(sink) joins the denominator, so that O shrinks and lse grows; a row
  /// with no kept key has O = 0, lse = sink. A function (Batch, Head) -> Float,
  /// called once, or a buffer over spec.heads().
  template <class F>
  Spec &sink(const F &function, Where where = Where::current()) {
    static_assert(detail::SinkLambda<F>,
                  "a sink is a function of two arguments, (Batch b, Head h), "
                  "or a buffer of floats over spec.heads()");
    if constexpr (detail::SinkLambda<F>) {
      detail::Coordinates at = beginSink(where);
      endSink(detail::FloatArg(function(at.b, at.h), where).node, where);
    }
    return *this;
  }
  template <class Kind>
  Spec &sink(const Buffer<Float, Kind> &logits,
             Where where = Where::current()) {
    static_assert(detail::isOneOf<Kind, Head, Index>,
                  "sinks are one a query head: declare the buffer with "
                  "spec.heads()");
    return sink([&](Batch, Head h) { return logits[h]; }, where);
  }

  /// The spec as MLIR text (`func.func` with `attn.attention`), or null if
  /// there are diagnostics. Lives as long as the Spec or until it changes.
  const char *mlir();
  const char *name() const;

  int diagnosticCount(); ///< Complete after mlir().
  Diagnostic diagnostic(int index);

private:
  friend struct detail::Registry;
  Spec &setDType(DType type, Where where);
  Spec &setLengths(detail::Lengths lengths, const char *what, Where where);
  detail::Gather addBuffer(const detail::Name &name, DType type,
                           const detail::Dimension *dimensions, int rank);
  detail::Coordinates beginScore(Where where);
  void endScore(detail::Node *result, Where where);
  detail::Coordinates beginSink(Where where);
  void endSink(detail::Node *result, Where where);

  detail::Trace *trace;
};

} // namespace qm
