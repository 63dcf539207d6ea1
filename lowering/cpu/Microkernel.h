//===- Microkernel.h - outer products held in registers ---------*- C++ -*-===//
//
// Both products of attention are sums of outer products once everything lies
// transposed, with query rows along the vector:
//
//   scores   S^T[key][rows]     = sum over d   of K[key][d]   * Q^T[d][rows]
//   output   O^T[column][rows] += sum over key of V[key][column] *
//   P^T[key][rows]
//
// A micro kernel keeps `rows of the result` x `vectors` accumulators in
// registers; each step loads the vectors of one row of Q^T or P^T and
// broadcasts one scalar of K or V a result row. K and V are read where they
// lie.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/VectorBuilder.h"

namespace qm::cpu {

/// Rows of f32 vectors in scratch: row r, vector v is at element
/// r * vectors * lanes + v * lanes.
struct TransposedTile {
  mlir::Value base;
  int64_t vectors; ///< registers a row

  mlir::Value vectorAddress(VectorBuilder &b, mlir::Value row,
                            int64_t vector) const;
  mlir::Value vectorAddress(VectorBuilder &b, int64_t row,
                            int64_t vector) const;
};

/// Rows of f32 in memory, `stride` elements apart.
struct ScalarRows {
  mlir::Value base, stride;
};

/// scores[key] = K[key] . Q^T for keys 0 <= key < keys (run time).
void emitScores(VectorBuilder &b, ScalarRows k, TransposedTile q,
                TransposedTile scores, mlir::Value keys, int64_t headDim,
                int64_t microRows);

/// output[column] = alpha * output[column] + sum of V[key][column] * P^T[key]
/// for columns 0 <= column < headDim; `alpha` has one value a vector of rows.
void emitAccumulate(VectorBuilder &b, ScalarRows v, TransposedTile p,
                    TransposedTile output, mlir::ValueRange alpha,
                    mlir::Value keys, int64_t headDim, int64_t microRows);

} // namespace qm::cpu
