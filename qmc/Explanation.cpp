//===- Explanation.cpp - what to expect of a kernel on a target -----------===//
#include "qmc/Explanation.h"
#include "qmc/BlockPicture.h"
#include "qmc/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <thread>

using namespace llvm;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;

Occupancy qm::driver::computeOccupancy(const TargetInfo &target,
                                       int64_t threads, int64_t registers,
                                       int64_t sharedBytes) {
  Occupancy occupancy;
  occupancy.registers = registers;
  occupancy.sharedBytes = sharedBytes;
  int64_t registersPerCta =
      threads * alignTo(std::max<int64_t>(registers, 1), 8);
  // Of every CTA, from sm_80 on.
  int64_t systemBytes = target.sm >= 80 ? 1024 : 0;
  std::pair<const char *, int64_t> limits[] = {
      {"registers", target.registersPerSm / registersPerCta},
      {"shared memory", target.sharedBytesPerSm /
                            std::max<int64_t>(sharedBytes + systemBytes, 1)},
      {"threads", target.threadsPerSm / threads},
      {"CTAs", target.ctasPerSm}};
  const auto *least =
      min_element(limits, [](auto &a, auto &b) { return a.second < b.second; });
  occupancy.limit = least->first;
  occupancy.ctas = least->second;
  occupancy.fraction =
      double(occupancy.ctas * threads) / double(target.threadsPerSm);
  return occupancy;
}

double qm::driver::hostPeakFlops(const TargetInfo &target, unsigned threads,
                                 std::string &note) {
  double megahertz = 0;
  if (auto file = MemoryBuffer::getFileAsStream("/proc/cpuinfo"))
    for (line_iterator line(**file); !line.is_at_end(); ++line) {
      double value;
      if (line->starts_with("cpu MHz") &&
          !line->split(':').second.trim().getAsDouble(value))
        megahertz = std::max(megahertz, value);
    }
  if (megahertz == 0) {
    note = "the clock of this CPU is not known";
    return 0;
  }
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  note = std::to_string(threads) + " threads at " +
         threeDigits(megahertz * 1e-3) + " GHz, two f32 vector FMA a cycle";
  return threads * megahertz * 1e6 * (target.vectorBytes / 4) * 2 * 2;
}

static std::string listFields(const json::Object &object) {
  SmallVector<std::string> fields;
  for (const auto &[key, value] : object) {
    std::string text = value.getAsString()
                           ? value.getAsString()->str()
                           : std::to_string(*value.getAsInteger());
    if (text != "0")
      fields.push_back((StringRef(key) + " " + text).str());
  }
  sort(fields);
  return join(fields, ", ");
}

static std::string describe(const Occupancy &o, StringRef how) {
  return (Twine(o.registers) + " registers a thread (" + how + "), " +
          grouped(o.sharedBytes) + " bytes of shared memory; " + Twine(o.ctas) +
          " CTAs a multiprocessor, " + threeDigits(100 * o.fraction) +
          " % of its warps (limit: " + o.limit + ")")
      .str();
}

static std::string milliseconds(double seconds) {
  return threeDigits(seconds * 1e3) + " ms";
}

double Explanation::pairs() const {
  return double(extents.batch) * extents.heads * extents.query * extents.key;
}

const passes::LengthVariant *Explanation::variantForCall() const {
  for (const passes::LengthVariant &variant : lengthVariants)
    if (extents.query >= variant.leastQueries &&
        extents.key >= variant.leastKeys)
      return &variant;
  return nullptr;
}

/// "schedule.tile_m=192" as "tile_m 192".
static std::string listSettings(const passes::ScheduleOverrides &settings) {
  return join(map_range(settings,
                        [](StringRef setting) {
                          setting.consume_front("schedule.");
                          auto [field, value] = setting.split('=');
                          return (field + " " + value).str();
                        }),
              ", ");
}

/// The most cells a side of a picture of characters.
static constexpr int64_t textCells = 64;

void Explanation::print(raw_ostream &os) const {
  auto line = [&](StringRef key, const Twine &text) {
    os << "  " << left_justify(key, 11) << text << '\n';
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  os << kernel.name << " on " << target->name << " (" << target->description
     << ")\n";
  line("call", "B " + number(extents.batch) + ", Hq " + number(extents.heads) +
                   ", Hkv " + number(extents.kvHeads) + ", Sq " +
                   number(extents.query) + ", Skv " + number(extents.key) +
                   ", D " + number(headDim) + ", Dv " + number(valueDim));
  line("precision", listFields(kernel.precision));
  line("schedule", listFields(kernel.schedule));
  for (const std::string &reason : reasons)
    line("", reason);
  for (const passes::LengthVariant &variant : lengthVariants)
    line("library", "has " + kernel.name + "_" + variant.name +
                        " as well, for calls of at least " +
                        number(variant.leastQueries) + " query rows and " +
                        number(variant.leastKeys) +
                        " keys: " + listSettings(variant.settings));
  if (const passes::LengthVariant *variant = variantForCall())
    line("", "this call takes " + kernel.name + "_" + variant->name +
                 "; what follows is of the kernel for every call");
  else if (!lengthVariants.empty())
    line("", "this call takes the kernel for every call");
  if (measured)
    line("resources", describe(*measured, "ptxas"));
  else if (planned)
    line("resources", describe(*planned, "estimated; ptxas not found"));
  if (measured && planned)
    line("", Twine("estimated beforehand: ") + number(planned->registers) +
                 " registers");
  if (resources && resources->spillStores)
    line("", Twine(resources->spillStores) + " bytes of registers spilled");

  int64_t blocks =
      counts.fullBlocks + counts.partialBlocks + counts.emptyBlocks;
  line("blocks", grouped(blocks) + " of " + number(kernel.tileM) + " x " +
                     number(kernel.tileN) + ": " + grouped(counts.fullBlocks) +
                     " full, " + grouped(counts.partialBlocks) + " partial, " +
                     grouped(counts.emptyBlocks) + " empty (skipped)");
  line("pairs",
       grouped(counts.keptPairs) + " kept" +
           (pairs() > 0 ? " (" + threeDigits(100 * density()) + " %)" : "") +
           ", " + grouped(counts.emptyRows) + " rows without a key");
  line("work", threeDigits(work.usefulFlops * 1e-9) + " GFLOP on kept pairs, " +
                   threeDigits(work.runFlops * 1e-9) + " GFLOP in blocks run");
  line("traffic", threeDigits(work.bytes * 1e-6) + " MB, each tensor once");
  std::string roofline;
  if (work.peakFlops)
    roofline += milliseconds(work.computeSeconds()) + " arithmetic at " +
                threeDigits(work.peakFlops * 1e-12) + " TFLOP/s";
  if (work.peakBytes)
    roofline += ", " + milliseconds(work.memorySeconds()) + " memory at " +
                threeDigits(work.peakBytes * 1e-9) + " GB/s";
  line("roofline", roofline.empty() ? "not known" : roofline);
  line("", peakNote);
  if (!map)
    return;
  line("map", "head 0 of the first sequence; # full, . empty, a digit: tenths "
              "of the pairs that a partial block keeps");
  BlockPicture(*map, textCells).print(os, std::string(13, ' '));
}

static json::Object toJson(const Occupancy &o) {
  return json::Object{{"registers", o.registers},
                      {"shared_bytes", o.sharedBytes},
                      {"ctas_per_sm", o.ctas},
                      {"occupancy", o.fraction},
                      {"limit", o.limit}};
}

json::Object Explanation::toJson() const {
  json::Object report{
      {"spec", kernel.name},
      {"target", target->name.str()},
      {"call", json::Object{{"batch", extents.batch},
                            {"heads", extents.heads},
                            {"kv_heads", extents.kvHeads},
                            {"sq", extents.query},
                            {"skv", extents.key},
                            {"head_dim", headDim},
                            {"value_dim", valueDim}}},
      {"precision", json::Object(kernel.precision)},
      {"schedule", json::Object(kernel.schedule)},
      {"reasons", json::Array(reasons)},
      {"blocks", json::Object{{"full", counts.fullBlocks},
                              {"partial", counts.partialBlocks},
                              {"empty", counts.emptyBlocks},
                              {"kept_pairs", counts.keptPairs},
                              {"density", density()},
                              {"empty_rows", counts.emptyRows}}},
      {"useful_flops", work.usefulFlops},
      {"run_flops", work.runFlops},
      {"bytes", work.bytes},
      {"roofline", json::Object{{"peak_flops", work.peakFlops},
                                {"peak_bytes", work.peakBytes},
                                {"seconds", work.rooflineSeconds()},
                                {"assumes", peakNote}}}};
  json::Array variants;
  for (const passes::LengthVariant &variant : lengthVariants)
    variants.push_back(
        json::Object{{"kernel", kernel.name + "_" + variant.name},
                     {"least_queries", variant.leastQueries},
                     {"least_keys", variant.leastKeys},
                     {"settings", json::Array(variant.settings)},
                     {"takes_this_call", &variant == variantForCall()}});
  report["library_variants"] = std::move(variants);
  if (planned)
    report["planned"] = ::toJson(*planned);
  if (measured)
    report["measured"] = ::toJson(*measured);
  if (resources)
    report["spilled_bytes"] = int64_t(resources->spillStores);
  return report;
}
