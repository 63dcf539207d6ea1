// The launch contract of a kernel as data: arguments, their slots, tile and
// resources. README.md one level up says what a slot is. `qmc build
// --emit=json` writes it as the manifest.
#pragma once

#include "dialect/AttnOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace qm::lowering {

struct ArgumentInfo {
  std::string name;
  /// q, k, v, buffer, scalar, o, lse; cu_q and cu_kv of packed sequences, len_q
  /// and len_kv of padded ones.
  std::string role;
  std::string dtype;          ///< f16, bf16, f32, f64, i8, i16, i32, i64
  std::vector<int64_t> shape; ///< -1: known at run time; empty for a scalar
  /// Of a buffer, for each dimension: the extent of the call, "batch", "query"
  /// or "key", that it has (or 1), "" where it has one of its own. Empty: none.
  std::vector<std::string> follows;
  bool tensor = false;
  unsigned slot = 0; ///< first slot: pointer, or the scalar's value

  unsigned rank() const { return shape.size(); }
  unsigned extentSlot(unsigned dimension) const { return slot + 1 + dimension; }
  unsigned strideSlot(unsigned dimension) const {
    return slot + 1 + rank() + dimension;
  }
  unsigned slotCount() const { return tensor ? 1 + 2 * rank() : 1; }
};

/// One parameter of a kernel that copies tiles by tensor maps: how to encode
/// the map of an operand. Dimensions are those of the operand from the last to
/// the first, extents and strides those of the call.
struct TensorMapInfo {
  unsigned argument;    ///< number of the operand
  int64_t columns;      ///< box extent along the last dimension, elements
  int64_t rows;         ///< box extent along the sequence; 1 in the others
  int64_t swizzleBytes; ///< width of the shared-memory swizzle
};

/// How the rows of a call divide into sequences.
enum class Sequences {
  Whole,  ///< a batch entry is one, Sq queries and Skv keys
  Padded, ///< a batch entry begins with one, of a length of its own
  Packed  ///< one after the other along the only batch entry
};

struct KernelInfo {
  std::string name;
  std::string target;
  std::vector<ArgumentInfo> arguments;
  Sequences sequences = Sequences::Whole;
  /// Numbers of the arguments that hold lengths (Padded) or starts (Packed).
  unsigned queryLengths = 0, keyLengths = 0;
  int64_t tileM = 0, tileN = 0;
  unsigned threads = 1;     ///< of a CTA; 1 on a CPU
  unsigned sharedBytes = 0; ///< dynamic shared memory of a CTA
  /// A CTA runs tile after tile: the grid need not be larger than this many
  /// CTAs a multiprocessor. 0: one CTA a tile.
  unsigned ctasPerSm = 0;
  std::vector<TensorMapInfo> tensorMaps; ///< parameters after the slots
  /// Not 0: CTAs take tiles from one of so many counters of the image. One more
  /// parameter, an i32 after the maps, says which: no other launch that may run
  /// at the same time has it. A negative number: no counter, a fixed order.
  unsigned tileCounters = 0;
  std::string image; ///< file name of the image, set by who writes it
  llvm::json::Object schedule, precision;

  /// Arguments of `kernel` and, if it is scheduled, its tile and threads.
  /// `sharedBytes` is the lowering's to say: the integer attribute
  /// `attn.shared_bytes` of the lowered function.
  static KernelInfo get(attn::KernelOp kernel);

  unsigned slotCount() const;
  /// CPU tiles or CTAs of the call with these slots.
  int64_t countTiles(llvm::ArrayRef<int64_t> slots) const;
  llvm::json::Object toJson() const;
};

/// {"qm_manifest": 1, "kernels": [...]}
llvm::json::Object makeManifest(llvm::ArrayRef<KernelInfo> kernels);

} // namespace qm::lowering
