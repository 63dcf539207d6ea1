// Sequences of different lengths: which one a tile is of, and where it lies.
// See lowering/README.md. No sequence is entered while these are emitted.
#pragma once

#include "lowering/gpu/Arguments.h"

namespace qm::gpu {

/// What CTA or tile `index` of packed sequences means: a head, and a tile among
/// the numbers of the head.
struct PackedPlace {
  Int head, tile;
};
/// Heads of a token lie side by side in memory, so their tiles run together;
/// unless the keys and values of sequences of average length would not stay in
/// L2 then: `rowBytes` of a key and its value. `longestFirst`: late rows first.
PackedPlace placePacked(LocBuilder &b, Arguments &arguments, Int index,
                        int64_t tileM, int64_t rowBytes, bool longestFirst);

/// The packed sequence of tile `tile` of a head, which becomes a tile of the
/// sequence. The first numbers are the first tiles of all sequences, which need
/// no search. After them sequence s has the numbers from floor(start / tileM)
/// up to those of the next: at least as many as it has further tiles, and no
/// table is needed to find them. The lanes of a warp look at 32 sequences at a
/// time, first at those where it would be if all were of one length.
Int findSequence(LocBuilder &b, Arguments &arguments, Int lane, Int &tile,
                 int64_t tileM);

/// Where packed or padded sequence `number` lies.
Sequence readSequence(LocBuilder &b, Arguments &arguments, Int number);

} // namespace qm::gpu
