//===- MergePartials.h - join attention over parts of the keys --*- C++ -*-===//
//
// Attention over a set of keys is a weighted mean of attention over its parts,
// with the weights e^lse. Rings over devices, keys split for decoding and a
// shared prefix all end here. Host memory, f32, compact row-major.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace qm::runtime {

/// Attention of `rows` query rows over one part of the keys: `o` is
/// [rows, columns], `lse` (natural logarithm) is [rows]. A row without a key
/// has lse -inf; its `o` is not read.
struct Partial {
  const float *o;
  const float *lse;
};

/// Attention over all of `count` disjoint parts, into o and lse of the same
/// shapes:
///
///   lse = log(sum of e^lse_p),   o = sum of e^(lse_p - lse) o_p
///
/// A row that one part alone has keys for is that part's, bit for bit; a row
/// that none has is o = 0, lse = -inf. NaN in a part with keys shows in the
/// result; an lse of +inf gives NaN. Sums run in f64 and in the order of the
/// parts. The outputs may be those of a part.
void mergePartials(const Partial *parts, int64_t count, int64_t rows,
                   int64_t columns, float *o, float *lse);

} // namespace qm::runtime
