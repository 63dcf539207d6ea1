//===- CompileKernels.cpp - every kernel of a library for every target ----===//
#include "qmc/library/CompileKernels.h"
#include "qmc/Console.h"
#include "qmc/JobPool.h"
#include "qmc/Version.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;

namespace {

class KernelCompilation {
public:
  KernelCompilation(const Options &options, Cache &cache,
                    LibraryContents &library)
      : options(options), cache(cache), library(library) {}

  void plan(ArrayRef<const TargetInfo *> targets);
  void run();
  LogicalResult settle();

private:
  bool anotherTargetHas(const KernelRequest &request) const;
  void leaveOut();
  void keepEarliestPtx();

  const Options &options;
  Cache &cache;
  LibraryContents &library;
  std::vector<char> failures; ///< by job; threads write neighbours
};

void KernelCompilation::plan(ArrayRef<const TargetInfo *> targets) {
  std::string ptxas;
  if (any_of(targets, [](const TargetInfo *target) {
        return target->kind == TargetKind::Nvidia;
      }))
    ptxas = ptxasIdentity(options.ptxas, library.ptxasVersion);
  for (const LibraryOperator &op : library.operators)
    for (const KernelRequest *request : op.kernels)
      for (const TargetInfo *target : targets)
        if (request->isFor(target->name))
          library.jobs.push_back(
              std::make_unique<KernelJob>(*request, *target, options, ptxas));
}

void KernelCompilation::run() {
  failures.assign(library.jobs.size(), false);
  runJobs(
      // IR that is printed comes out in order.
      library.jobs.size(), options.printIrAfter ? 1 : options.jobs,
      [&](size_t i) { return library.jobs[i]->describe(); },
      [&](size_t i) {
        KernelJob &job = *library.jobs[i];
        failures[i] = failed(job.run(cache));
        reportProgress((failures[i]     ? "failed: "
                        : job.wasCached ? "from the cache: "
                                        : "compiled: ") +
                       job.describe());
      });
}

bool KernelCompilation::anotherTargetHas(const KernelRequest &request) const {
  for (auto [job, failure] : zip_equal(library.jobs, failures))
    if (&job->request == &request && !failure)
      return true;
  return false;
}

/// Errors end the build; a pair that its target cannot have does not where
/// another target has the kernel.
LogicalResult KernelCompilation::settle() {
  bool failedAny = false;
  for (auto [job, failure] : zip_equal(library.jobs, failures)) {
    bool isLimit = failure && !job->limit.empty();
    if (isLimit && anotherTargetHas(job->request))
      continue;
    failedAny |= failure;
    errs() << job->messages;
  }
  if (failedAny)
    return failure();
  leaveOut();
  keepEarliestPtx();
  return success();
}

void KernelCompilation::leaveOut() {
  // One warning for a reason, however many kernels it concerns.
  MapVector<std::pair<StringRef, StringRef>, std::vector<StringRef>> warnings;
  for (auto [job, failure] : zip_equal(library.jobs, failures))
    if (failure)
      library.leftOut.push_back({&job->request, job->target.name, job->limit});
  for (const LeftOut &pair : library.leftOut)
    warnings[{pair.target, pair.reason}].push_back(pair.request->name);
  for (const auto &[place, kernels] : warnings)
    reportWarning(diag::Id::KernelLeftOut,
                  "left out for " + place.first + ": " + join(kernels, ", ") +
                      " (" + place.second + ")",
                  "such a call takes an image of another target that runs "
                  "there, or is an error; leave the type, the head dim or the "
                  "target out if that is not what you want");
  erase_if(library.jobs, [&](const std::unique_ptr<KernelJob> &job) {
    return !job->limit.empty();
  });
}

/// PTX of the earliest GPU is for the GPUs that come after all of these.
void KernelCompilation::keepEarliestPtx() {
  std::map<const KernelRequest *, KernelJob *> earliest;
  auto ptxOf = [](KernelJob &job) {
    return find_if(job.result.images,
                   [](const auto &image) { return image.first == "ptx"; });
  };
  for (const std::unique_ptr<KernelJob> &job : library.jobs) {
    if (ptxOf(*job) == job->result.images.end())
      continue;
    auto [found, isNew] = earliest.try_emplace(&job->request, job.get());
    KernelJob *later = job.get();
    if (!isNew && later->target.sm < found->second->target.sm)
      std::swap(found->second, later);
    if (!isNew)
      later->result.images.erase(ptxOf(*later));
  }
}

} // namespace

LogicalResult qm::driver::compileKernels(Session &session,
                                         const Options &options,
                                         ArrayRef<const TargetInfo *> targets,
                                         Cache &cache,
                                         LibraryContents &library) {
  KernelCompilation compilation(options, cache, library);
  compilation.plan(targets);
  session.timer.measure("kernels", [&] { compilation.run(); });
  return compilation.settle();
}
