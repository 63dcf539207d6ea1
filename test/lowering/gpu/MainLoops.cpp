// Instructions of sm_70 and later are 16 bytes; the opcode is the low 12 bits
// of the first half, a branch's distance the high 32.
#include "test/lowering/gpu/MainLoops.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace qm::test;

namespace {

enum Opcode : unsigned {
  Branch = 0x947,
  Mma16 = 0x23c,
  Mma8 = 0x237, // m16n8k8 and m8n8k4
  Ldmatrix = 0x83b,
  SpecialFunction = 0x308,
  CopyAsync = 0xfae,
  LoadLocal = 0x983,
  StoreLocal = 0x387
};

struct Loop {
  size_t begin, end; // first instruction, and the branch back to it
};

constexpr size_t instructionBytes = 16;

} // namespace

static StringRef findCode(StringRef cubin, StringRef kernel) {
  auto file = object::ELFFile<object::ELF64LE>::create(cubin);
  if (!file) {
    consumeError(file.takeError());
    return {};
  }
  auto sections = file->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return {};
  }
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    auto contents = file->getSectionContents(section);
    if (name && contents && *name == (".text." + kernel).str())
      return toStringRef(*contents);
    consumeError(name.takeError());
    consumeError(contents.takeError());
  }
  return {};
}

static unsigned opcodeAt(StringRef code, size_t index) {
  return support::endian::read64le(code.data() + index * instructionBytes) &
         0xfff;
}

static MainLoop countInstructions(StringRef code, Loop loop) {
  MainLoop counts;
  for (size_t i = loop.begin; i <= loop.end; ++i) {
    ++counts.all;
    switch (opcodeAt(code, i)) {
    case Mma16:
    case Mma8:
      ++counts.mma;
      break;
    case Ldmatrix:
      ++counts.ldmatrix;
      break;
    case SpecialFunction:
      ++counts.exponents;
      break;
    case CopyAsync:
      ++counts.copies;
      break;
    case LoadLocal:
      ++counts.localLoads;
      break;
    case StoreLocal:
      ++counts.localStores;
      break;
    default:
      break;
    }
  }
  return counts;
}

std::vector<MainLoop> qm::test::findMainLoops(StringRef cubin,
                                              StringRef kernel) {
  StringRef code = findCode(cubin, kernel);
  std::vector<Loop> loops;
  for (size_t i = 0, e = code.size() / instructionBytes; i < e; ++i) {
    if (opcodeAt(code, i) != Branch)
      continue;
    // From the instruction after the branch, in bytes.
    auto distance = int32_t(support::endian::read32le(
        code.data() + i * instructionBytes + sizeof(uint32_t)));
    int64_t target = int64_t(i) + 1 + distance / int64_t(instructionBytes);
    if (target >= 0 && target < int64_t(i))
      loops.push_back({size_t(target), i});
  }
  std::vector<MainLoop> main;
  for (Loop loop : loops) {
    MainLoop counts = countInstructions(code, loop);
    bool innermost = llvm::none_of(loops, [&](Loop inner) {
      return inner.begin >= loop.begin && inner.end < loop.end &&
             countInstructions(code, inner).mma;
    });
    if (counts.mma && innermost)
      main.push_back(counts);
  }
  return main;
}
