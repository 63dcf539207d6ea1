// What the loops of a kernel are made of, counted in its machine code: no
// disassembler needed.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace qm::test {

/// Instructions of an innermost loop with matrix instructions, the rarely taken
/// rescaling of the accumulator in it included.
struct MainLoop {
  unsigned all = 0, mma = 0, ldmatrix = 0, exponents = 0, copies = 0;
  /// Words of local memory, where ptxas spills.
  unsigned localLoads = 0, localStores = 0;
};

/// Reads a cubin for sm_75 to sm_89, whose branches are encoded alike.
std::vector<MainLoop> findMainLoops(llvm::StringRef cubin,
                                    llvm::StringRef kernel);

} // namespace qm::test
