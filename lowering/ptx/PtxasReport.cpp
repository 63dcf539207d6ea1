// Reads the text that `ptxas -v` prints:
//
//   ptxas info    : Compiling entry function 'f' for 'sm_80'
//   ptxas info    : Function properties for f
//       8 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
//   ptxas info    : Used 255 registers, used 1 barriers, 8 bytes cumulative
//   stack size, 424 bytes cmem[0]
#include "lowering/ptx/PtxasReport.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace qm::ptx;

const KernelResources *PtxasReport::find(StringRef kernel) const {
  for (const KernelResources &resources : kernels)
    if (resources.kernel == kernel)
      return &resources;
  return nullptr;
}

/// The text between the first two single quotes.
static StringRef quoted(StringRef line) {
  return line.split('\'').second.split('\'').first;
}

/// Reads "24 bytes spill stores" and the like: a comma-separated list of a
/// number and what it counts.
static void readCounts(StringRef line, KernelResources &kernel) {
  SmallVector<StringRef> parts;
  line.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    part.consume_front("Used ");
    part.consume_front("used ");
    unsigned count;
    if (part.consumeInteger(10, count))
      continue;
    part = part.trim();
    if (part == "registers")
      kernel.registers = count;
    else if (part == "barriers")
      kernel.barriers = count;
    else if (part == "bytes stack frame")
      kernel.stackFrame = count;
    else if (part == "bytes spill stores")
      kernel.spillStores = count;
    else if (part == "bytes spill loads")
      kernel.spillLoads = count;
    else if (part == "bytes smem")
      kernel.sharedBytes = count;
    else if (part.starts_with("bytes cmem"))
      kernel.constantBytes += count;
  }
}

PtxasReport qm::ptx::parsePtxasReport(StringRef text) {
  PtxasReport report;
  report.text = text.str();
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    StringRef message = line.split(" : ").second.trim();
    bool info = line.starts_with("ptxas info");
    if (info && message.starts_with("Compiling entry function"))
      report.kernels.emplace_back().kernel = quoted(message).str();
    else if (!report.kernels.empty() &&
             (line.contains("spill stores") || message.starts_with("Used ")))
      readCounts(line.contains(" : ") ? message : line.trim(),
                 report.kernels.back());
    else if (!message.starts_with("Function properties") &&
             !message.starts_with("Compile time") &&
             !message.contains("bytes gmem"))
      report.notes.push_back(line.trim().str());
  }
  return report;
}
