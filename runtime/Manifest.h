//===- Manifest.h - what a manifest says ------------------------*- C++ -*-===//
//
// The launch contract (lowering/README.md) as data, read from the JSON that
// `qmc build` writes. Parsing checks everything the rest of the runtime relies
// on, so a damaged or foreign file is an error here and never a crash later.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/DataType.h"
#include "runtime/cpu/Level.h"

#include <string>
#include <string_view>
#include <vector>

namespace qm::runtime {

enum class ImageFormat : uint8_t { Cubin, Ptx, Cpu };

/// "cubin", "ptx" or "cpu", as in manifests.
const char *formatName(ImageFormat format);

enum class Role : uint8_t {
  Q,
  K,
  V,
  Buffer,
  Scalar,
  O,
  Lse,
  RowMax,
  CuQ, ///< where packed sequences start, and the last one ends; i32
  CuKv,
  LenQ, ///< lengths of padded sequences, i32
  LenKv
};
constexpr int roleCount = 12;

/// "q", "lse" and so on, as in manifests.
const char *roleName(Role role);

/// The extent of a call that a buffer's dimension has; else it is 1, and every
/// index reads the only element.
enum class Follows : uint8_t { Nothing, Batch, Query, Key };

struct Argument {
  std::string name;
  Role role;
  DataType dtype;
  std::vector<int64_t> shape; ///< -1: a run-time extent; empty for a scalar
  std::vector<Follows> follows = {}; ///< for each dimension; empty: nothing

  bool isScalar() const { return role == Role::Scalar; }
  bool isOutput() const { return role == Role::O || isStatistic(); }
  /// One f32 a row.
  bool isStatistic() const { return role == Role::Lse || role == Role::RowMax; }
  bool isLengths() const { return role >= Role::CuQ; }
  /// q, k, v or o: rows of a head dim, which kernels read and write in units of
  /// 16 bytes.
  bool isWide() const { return role <= Role::V || role == Role::O; }
  int rank() const { return static_cast<int>(shape.size()); }
  int64_t slots() const { return isScalar() ? 1 : 1 + 2 * rank(); }
  bool operator==(const Argument &) const = default;
};

/// Dimensions a tensor may have.
constexpr int maxRank = 8;

/// Slots a kernel may have: what fits the 4096 bytes of kernel parameters that
/// every NVIDIA GPU takes.
constexpr int64_t maxSlots = 512;

/// What a caller must pass, the same for every image of a kernel.
struct Signature {
  std::string kernel;
  std::vector<Argument> arguments;
  /// Positions; -1 for what there is not.
  int q = -1, k = -1, v = -1, o = -1, lse = -1, rowMax = -1;
  int cuQ = -1, cuKv = -1, lenQ = -1, lenKv = -1;
  int64_t slots = 0;

  /// Sequences lie one after the other along the only batch entry.
  bool isPacked() const { return cuQ >= 0; }
  bool operator==(const Signature &) const = default;
};

/// A kernel parameter after the slots: how the GPU's tensor copies see an
/// argument. Dimensions are the argument's, from the last to the first.
struct TensorMap {
  int argument = 0;          ///< position; a tensor of rank 2 to 5
  int64_t slot = 0;          ///< its first slot
  std::vector<uint32_t> box; ///< extents of one copy, elements
  int64_t swizzleBytes = 0;  ///< 0, 32, 64 or 128

  bool operator==(const TensorMap &) const = default;
};

/// Tensor maps a kernel may have.
constexpr size_t maxTensorMaps = 8;

/// What a manifest's "when" may limit, in the order of `Conditions`.
enum class Quantity : uint8_t { Batch, Heads, KvHeads, Groups, Query, Key };
constexpr int quantityCount = 6;
const char *quantityName(Quantity quantity);

/// The calls that a kernel is for: inclusive bounds of their extents.
struct Conditions {
  int64_t least[quantityCount] = {};
  int64_t most[quantityCount] = {INT64_MAX, INT64_MAX, INT64_MAX,
                                 INT64_MAX, INT64_MAX, INT64_MAX};

  bool operator==(const Conditions &) const = default;
};

/// One entry of the manifest's "kernels": one image for one target.
struct ManifestEntry {
  Signature signature;
  std::string operatorName; ///< the kernel's own where there is none
  Conditions when;
  std::string target; ///< "sm_80", "sm_90a", "cpu"
  std::string entry;  ///< symbol in the image
  std::string image;  ///< file beside the manifest, or a content hash
  /// Of an image that is named by its hash: what it is.
  ImageFormat format = ImageFormat::Cpu;
  int64_t tileM = 0; ///< query rows a tile
  int64_t tileN = 0; ///< keys a block
  int64_t threads = 0;
  int64_t sharedBytes = 0;
  /// A CTA runs tile after tile, and the grid has at most this many CTAs a
  /// multiprocessor; 0: one CTA a tile.
  int64_t ctasPerSm = 0;
  std::vector<TensorMap> tensorMaps;
  /// Counters of the image for a run-time order of tiles; 0: the order is
  /// fixed.
  int64_t tileCounters = 0;

  bool isCpu() const { return cpu::levelOf(target) >= 0; }
};

/// Parses a manifest; `origin` names it in messages. Returns a qm_status.
int parseManifest(std::string_view text, const char *origin,
                  std::vector<ManifestEntry> &entries);

} // namespace qm::runtime
