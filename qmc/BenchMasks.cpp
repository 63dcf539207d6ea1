//===- BenchMasks.cpp - the masks that suites name ------------------------===//
#include "qmc/BenchMasks.h"
#include "qmc/BenchScores.h"

#include <qm/attention.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace qm;
using namespace qm::driver;

namespace {

struct NamedMask {
  llvm::StringLiteral name;
  void (*describe)(Spec &spec);
};

/// Sizes are part of the names: test/perf/gpu_masks.py holds the same masks as
/// PyTorch writes them.
const NamedMask masks[] = {
    {"full", [](Spec &) {}},
    {"causal", [](Spec &spec) { spec.mask(causal(TopLeft)); }},
    {"window_1024", [](Spec &spec) { spec.mask(slidingWindow(1024)); }},
    {"prefix_4096",
     [](Spec &spec) { spec.mask(prefix(4096) || causal(TopLeft)); }},
    {"documents_1500",
     [](Spec &spec) {
       auto ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
       spec.mask(document(ids) && causal(TopLeft));
     }},
    {"dilated_1024_4", [](Spec &spec) { spec.mask(dilatedWindow(1024, 4)); }},
    {"natten_128x128_13",
     [](Spec &spec) { spec.mask(natten2d({128, 128}, {13, 13})); }},
    {"sink_4_window_1024", [](Spec &spec) { spec.mask(sinkWindow(4, 1024)); }},
    {"chunked_8192", [](Spec &spec) { spec.mask(chunkedCausal(8192)); }},
    {"block_diffusion_8192_32",
     [](Spec &spec) { spec.mask(blockDiffusion(8192, 32)); }},
    // A lambda of no library: stripes that turn with the query, and the near
    // past.
    {"custom",
     [](Spec &spec) {
       spec.mask([](Batch, Head h, Query i, Key j) {
         Bool stripe = (i / 512 + 3 * (j / 256) + h) % 4 == 1;
         return i >= j && (stripe || i - j < 700);
       });
     }},
    // Any mask below the diagonal, one bit a pair.
    {"bits_causal",
     [](Spec &spec) {
       auto words = spec.buffer("words", i32, spec.queryLength(), dynamic);
       spec.mask(packedBits(words) && causal(TopLeft));
     }},
};

const NamedMask *find(llvm::StringRef name) {
  for (const NamedMask &mask : masks)
    if (mask.name == name)
      return &mask;
  return nullptr;
}

} // namespace

std::string qm::driver::benchMaskNames() {
  return llvm::join(
      llvm::map_range(masks, [](const NamedMask &mask) { return mask.name; }),
      ", ");
}

bool qm::driver::isBenchMask(llvm::StringRef name) { return find(name); }

std::string qm::driver::benchSpecText(const BenchCell &cell) {
  Spec spec(cell.kernel().c_str());
  spec.heads(int(cell.heads)).kvHeads(int(cell.kvHeads));
  spec.headDim(int(cell.headDim)).valueHeadDim(int(cell.valueDim));
  if (cell.dtype == "f16")
    spec.dtype(f16);
  else if (cell.dtype == "bf16")
    spec.dtype(bf16);
  else
    spec.dtype(f32);
  find(cell.mask)->describe(spec);
  if (!cell.score.empty())
    describeBenchScore(cell.score, spec);
  // The masks and the sizes are checked before: there is nothing to report.
  return spec.mlir();
}
