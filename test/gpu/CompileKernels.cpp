// qm-gpu-kernels FOLDER [PART...]: compiles the kernels that check_kernels.py
// runs, or those whose names have one of the parts. Writes FOLDER/NAME.ptx for
// each, the manifest FOLDER/kernels.json, and prints where compile time went
// and what ptxas found.
#include "test/lowering/gpu/KernelCompiler.h"

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

static Shape makeShape(const char *element, int headDim, int valueDim,
                       std::vector<std::string> overrides = {}) {
  Shape shape;
  shape.element = element;
  shape.headDim = headDim;
  shape.valueDim = valueDim;
  shape.overrides = std::move(overrides);
  return shape;
}

/// Schedules that are compared: by name, what they override.
using Variant = std::pair<const char *, std::vector<std::string>>;
static const std::vector<std::string> ring{
    "schedule.ping_pong=0", "schedule.warps=4", "schedule.tile_m=128",
    "schedule.stages=2"};
static const std::vector<std::string> ring3{
    "schedule.ping_pong=0", "schedule.warps=4", "schedule.tile_m=128",
    "schedule.stages=3"};
static const std::vector<std::string> pingPong{
    "schedule.ping_pong=1", "schedule.warps=8", "schedule.tile_m=256",
    "schedule.stages=3", "schedule.tile_n=64"};
static const std::vector<std::string> narrowPingPong{
    "schedule.ping_pong=1", "schedule.warps=8", "schedule.tile_m=128",
    "schedule.stages=3", "schedule.tile_n=32"};
static std::vector<std::string> withKeys(std::vector<std::string> overrides,
                                         int keys) {
  overrides.push_back("schedule.tile_n=" + std::to_string(keys));
  return overrides;
}

/// Every mask and modifier in both types and head dims, other head dims, other
/// schedules, and the shapes of the benchmark.
static std::vector<Entry> entries() {
  std::vector<Entry> list;
  auto add = [&](llvm::StringRef spec, const Shape &shape,
                 llvm::StringRef suffix) {
    list.push_back({llvm::formatv("{0}_{1}_d{2}{3}", spec, shape.element,
                                  shape.headDim, suffix),
                    spec.str(), shape});
  };
  auto bench = [&](int headDim, const std::vector<Variant> &variants,
                   const char *element = "bf16") {
    for (const char *spec : {"full", "causal"})
      for (const Variant &variant : variants) {
        Shape shape = makeShape(element, headDim, headDim, variant.second);
        shape.heads = shape.kvHeads = 2048 / headDim;
        add(spec, shape, std::string("_bench") + variant.first);
      }
  };
  for (const char *spec : {"full", "causal", "causal_br", "window", "softcap",
                           "alibi", "document"})
    for (int headDim : {64, 128}) {
      for (const char *element : {"bf16", "f16"})
        add(spec, makeShape(element, headDim, headDim), "");
      // Both schedules, whatever is the default there.
      add(spec, makeShape("bf16", headDim, headDim, withKeys(ring, 64)),
          "_ring");
      add(spec, makeShape("bf16", headDim, headDim, pingPong), "_pp");
    }
  for (int headDim : {8, 40, 72, 80, 96, 160, 192, 256})
    for (const char *spec : {"full", "causal"})
      add(spec, makeShape("bf16", headDim, headDim), "");
  for (auto [headDim, valueDim] :
       {std::pair{192, 128}, {64, 128}, {128, 64}, {40, 256}, {256, 24}})
    for (const char *spec : {"full", "causal_br"})
      add(spec, makeShape("bf16", headDim, valueDim),
          "_dv" + std::to_string(valueDim));
  add("window",
      makeShape("bf16", 64, 64, {"schedule.tile_m=64", "schedule.tile_n=32"}),
      "_64x32");
  add("document", makeShape("f16", 128, 128, withKeys(ring3, 32)), "_128x32x3");
  for (int headDim : {128, 64})
    bench(headDim, {{"", {}},
                    {"_pp", pingPong},
                    {"_ring2", withKeys(ring, 64)},
                    {"_ring3", withKeys(ring3, 64)}});
  bench(64, {{"_ring3_n128", withKeys(ring3, 128)},
             {"_ring2_n128", withKeys(ring, 128)}});
  bench(96, {{"", {}},
             {"_pp", pingPong},
             {"_ring2", withKeys(ring, 64)},
             {"_ring3", withKeys(ring3, 64)}});
  bench(256, {{"", {}},
              {"_128x64x2",
               {"schedule.ping_pong=0", "schedule.tile_m=128",
                "schedule.warps=8", "schedule.tile_n=64", "schedule.stages=2"}},
              {"_64x64x2",
               {"schedule.ping_pong=0", "schedule.tile_m=64",
                "schedule.warps=4", "schedule.tile_n=64", "schedule.stages=2"}},
              {"_pp", narrowPingPong}});
  for (const char *spec : {"full", "causal"})
    add(spec, makeShape("bf16", 256, 256, narrowPingPong), "_pp");
  add("table", makeShape("bf16", 64, 64), "");
  // f32 as sums of two bf16, and rounded to tf32.
  const std::vector<std::string> tf32{"precision.operands=tf32"};
  for (int headDim : {64, 128}) {
    for (const char *spec : {"full", "causal", "causal_br", "window", "softcap",
                             "alibi", "document"})
      add(spec, makeShape("f32", headDim, headDim), "");
    for (const char *spec : {"full", "causal"})
      add(spec, makeShape("f32", headDim, headDim, tf32), "_tf32");
    bench(headDim, {{"", {}}, {"_tf32", tf32}}, "f32");
  }
  for (auto [headDim, valueDim] : {std::pair{8, 8},
                                   {40, 40},
                                   {72, 72},
                                   {96, 96},
                                   {192, 128},
                                   {256, 256},
                                   {40, 128}})
    add("causal_br", makeShape("f32", headDim, valueDim),
        "_dv" + std::to_string(valueDim));
  // sm_75: f16 only; the code runs on later GPUs as well.
  auto addTuring = [&](llvm::StringRef spec, int headDim, int valueDim,
                       llvm::StringRef suffix) {
    add(spec, {"f16", headDim, valueDim, 4, 2, {}, "sm_75"}, suffix);
  };
  for (const char *spec : {"full", "causal", "causal_br", "window", "softcap",
                           "alibi", "document"})
    for (int headDim : {64, 128})
      addTuring(spec, headDim, headDim, "_sm75");
  for (int headDim : {8, 40, 80, 96, 120, 256})
    addTuring("causal", headDim, headDim, "_sm75");
  addTuring("causal_br", 64, 128, "_dv128_sm75");
  addTuring("causal_br", 128, 64, "_dv64_sm75");
  for (const char *spec : {"full", "causal"}) {
    add(spec, {"f16", 128, 128, 16, 16, {}, "sm_75"}, "_bench_sm75");
    add(spec, {"f16", 64, 64, 32, 32, {}, "sm_75"}, "_bench_sm75");
  }
  return list;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: qm-gpu-kernels FOLDER [PART...]\n";
    return 1;
  }
  std::string folder = argv[1];
  llvm::sys::fs::create_directories(folder);
  std::vector<llvm::StringRef> wanted(argv + 2, argv + argc);
  KernelCompiler compiler;
  std::vector<lowering::KernelInfo> kernels;
  llvm::outs()
      << "kernel: ms in passes, translation, LLVM, code generation, "
         "ptxas; registers, spill bytes (stores/loads) of its target | of "
         "sm_90\n";
  for (Entry &entry : entries()) {
    if (!wanted.empty() && llvm::none_of(wanted, [&](llvm::StringRef part) {
          return llvm::StringRef(entry.name).contains(part);
        }))
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
    for (llvm::StringRef target : {entry.shape.target.c_str(), "sm_90"}) {
      auto assembled = compiler.assemble(*kernel, target);
      if (failed(assembled))
        return 1;
      if (target == "sm_90") {
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
