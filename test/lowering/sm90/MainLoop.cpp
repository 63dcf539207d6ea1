// Reads the disassembly of a cubin. A line is
//         /*3a20*/   @!P3 BRA P5, 0x3a20 ;   /* 0xfffffe0005cb947 */
#include "test/lowering/sm90/MainLoop.h"

#include "lowering/ptx/Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <vector>

using namespace llvm;
using namespace qm::test;

namespace {
struct Instruction {
  uint64_t address;
  StringRef text; ///< without its predicate

  StringRef name() const {
    return text.take_until([](char c) { return c == '.' || c == ' '; });
  }
};
} // namespace

static std::vector<Instruction> readInstructions(StringRef disassembly) {
  std::vector<Instruction> instructions;
  SmallVector<StringRef> lines;
  disassembly.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line = line.trim();
    uint64_t address;
    if (!line.consume_front("/*") || line.consumeInteger(16, address) ||
        !line.consume_front("*/") || !line.contains(';'))
      continue;
    StringRef text = line.split(';').first.trim();
    if (text.starts_with("@"))
      text = text.split(' ').second.trim();
    instructions.push_back({address, text});
  }
  return instructions;
}

/// The target of a branch, or nothing.
static std::optional<uint64_t> branchTarget(const Instruction &instruction) {
  uint64_t target;
  if (instruction.name() != "BRA" ||
      instruction.text.rsplit("0x").second.getAsInteger(16, target))
    return std::nullopt;
  return target;
}

InstructionCounts qm::test::countMainLoopOf(StringRef disassembly) {
  std::vector<Instruction> all = readInstructions(disassembly);
  for (const Instruction &branch : all) {
    std::optional<uint64_t> target = branchTarget(branch);
    if (!target || *target >= branch.address)
      continue;
    InstructionCounts counts;
    for (const Instruction &instruction : all)
      if (instruction.address >= *target &&
          instruction.address <= branch.address)
        ++counts[instruction.name().str()];
    if (counts.count("HGMMA"))
      return counts;
  }
  return {};
}

std::optional<InstructionCounts> qm::test::countMainLoop(StringRef cubin) {
  std::string ptxas = qm::ptx::findPtxas("");
  StringRef besidePtxas = sys::path::parent_path(ptxas);
  auto program = sys::findProgramByName("cuobjdump");
  if (!program)
    program = sys::findProgramByName("cuobjdump", {besidePtxas});
  SmallString<128> input, output;
  if (!program || sys::fs::createTemporaryFile("qm", "cubin", input) ||
      sys::fs::createTemporaryFile("qm", "sass", output))
    return std::nullopt;
  FileRemover removeInput(input), removeOutput(output);
  if (Error error = qm::ptx::writeAtomically(input, cubin)) {
    consumeError(std::move(error));
    return std::nullopt;
  }
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output),
                                          std::nullopt};
  if (sys::ExecuteAndWait(*program, {*program, "-sass", input}, std::nullopt,
                          redirects) != 0)
    return std::nullopt;
  auto text = MemoryBuffer::getFile(output);
  if (!text)
    return std::nullopt;
  return countMainLoopOf((*text)->getBuffer());
}
