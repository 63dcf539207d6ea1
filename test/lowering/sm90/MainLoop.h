// The main loop of a cubin, by its disassembly.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace qm::test {

/// How often each instruction occurs, by its name up to the first dot.
using InstructionCounts = std::map<std::string, int>;

/// The first innermost loop that issues products, in a disassembly by
/// `cuobjdump -sass`; empty if there is none.
InstructionCounts countMainLoopOf(llvm::StringRef disassembly);

/// That of a cubin. Nothing where no cuobjdump is in PATH or beside ptxas.
std::optional<InstructionCounts> countMainLoop(llvm::StringRef cubin);

} // namespace qm::test
