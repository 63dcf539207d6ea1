// qm-gpu-kernels FOLDER [NAME...]: compiles the kernels that check_kernels.py
// runs. Writes FOLDER/NAME.ptx for each, the manifest FOLDER/kernels.json, and
// prints where compile time went and what ptxas found.
#include "test/lowering/sm80/KernelCompiler.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace qm;
using namespace qm::test;

namespace {
struct Entry {
  std::string name, spec;
  Shape shape;
};
} // namespace

/// Every mask and modifier in both types and head dims, the shapes of the
/// benchmark, and a few other schedules.
static std::vector<Entry> entries() {
  std::vector<Entry> list;
  auto add = [&](llvm::StringRef spec, const Shape &shape,
                 llvm::StringRef suffix) {
    list.push_back({llvm::formatv("{0}_{1}_d{2}{3}", spec, shape.element,
                                  shape.headDim, suffix),
                    spec.str(), shape});
  };
  for (const char *spec : {"full", "causal", "causal_br", "window", "softcap",
                           "alibi", "document"})
    for (int headDim : {64, 128})
      for (const char *element : {"bf16", "f16"})
        add(spec, {element, headDim, headDim}, "");
  for (const char *spec : {"full", "causal"}) {
    add(spec, {"bf16", 128, 128, 16, 16}, "_bench");
    add(spec, {"bf16", 64, 64, 32, 32}, "_bench");
    add(spec, {"bf16", 128, 128, 16, 16, {"schedule.stages=3"}},
        "_bench_stages3");
    add(spec, {"bf16", 64, 64, 32, 32, {"schedule.stages=3"}},
        "_bench_stages3");
  }
  add("causal_br", {"bf16", 64, 128}, "_dv128");
  add("causal_br", {"bf16", 128, 64}, "_dv64");
  add("window",
      {"bf16", 64, 64, 4, 2, {"schedule.tile_m=64", "schedule.tile_n=32"}},
      "_64x32");
  add("document",
      {"f16", 128, 128, 4, 2, {"schedule.stages=3", "schedule.tile_n=32"}},
      "_128x32x3");
  return list;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: qm-gpu-kernels FOLDER [NAME...]\n";
    return 1;
  }
  std::string folder = argv[1];
  llvm::sys::fs::create_directories(folder);
  std::vector<llvm::StringRef> wanted(argv + 2, argv + argc);
  KernelCompiler compiler;
  std::vector<lowering::KernelInfo> kernels;
  llvm::outs() << "kernel: ms in passes, translation, LLVM, code generation, "
                  "ptxas; registers, spill bytes (stores/loads) of sm_80 | of "
                  "sm_90\n";
  for (Entry &entry : entries()) {
    if (!wanted.empty() && !llvm::is_contained(wanted, entry.name))
      continue;
    auto kernel = compiler.compile(
        KernelCompiler::specText(entry.spec, entry.shape), entry.shape);
    if (failed(kernel))
      return 1;
    kernel->info.image = entry.name + ".ptx";
    if (llvm::Error error = ptx::writeAtomically(
            folder + "/" + kernel->info.image, kernel->ptx)) {
      llvm::errs() << llvm::toString(std::move(error)) << "\n";
      return 1;
    }
    llvm::outs() << llvm::formatv(
        "{0,-28} {1,4:F0} {2,4:F0} {3,4:F0} {4,4:F0}", entry.name,
        1e3 * kernel->passes, 1e3 * kernel->times.translate,
        1e3 * kernel->times.optimize, 1e3 * kernel->times.codegen);
    for (const char *target : {"sm_80", "sm_90"}) {
      auto assembled = compiler.assemble(*kernel, target);
      if (failed(assembled))
        return 1;
      if (llvm::StringRef(target) == "sm_90") {
        if (llvm::Error error = ptx::writeAtomically(
                folder + "/" + entry.name + ".sm_90.cubin", assembled->cubin)) {
          llvm::errs() << llvm::toString(std::move(error)) << "\n";
          return 1;
        }
      }
      const ptx::KernelResources *used =
          assembled->report.find(kernel->info.name);
      llvm::outs() << llvm::formatv(
          " | {0,4:F0} ms {1,3} regs {2}/{3}", 1e3 * assembled->report.seconds,
          used->registers, used->spillStores, used->spillLoads);
    }
    llvm::outs() << "\n";
    kernels.push_back(std::move(kernel->info));
  }
  std::string json = llvm::formatv(
      "{0:2}", llvm::json::Value(lowering::makeManifest(kernels)));
  if (llvm::Error error =
          ptx::writeAtomically(folder + "/kernels.json", json)) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
