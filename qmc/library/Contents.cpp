//===- Contents.cpp - what a library is made of ---------------------------===//
#include "qmc/library/Contents.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

std::vector<const KernelJob *>
LibraryContents::jobsOf(const KernelRequest &request) const {
  std::vector<const KernelJob *> found;
  for (const std::unique_ptr<KernelJob> &job : jobs)
    if (&job->request == &request)
      found.push_back(job.get());
  return found;
}

const json::Array &LibraryContents::argumentsOf(const KernelJob &job) {
  return *job.result.info.getArray("args");
}
