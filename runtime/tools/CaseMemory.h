//===- CaseMemory.h - memory and a clock on the device of a case -*- C++ -*-==//
#pragma once

#include "runtime/qm.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace qm::runtime {

/// Where a case runs. All functions return a qm_status.
class CaseMemory {
public:
  virtual ~CaseMemory() = default;

  virtual DLDevice device() const = 0;
  /// The stream launches go to; null on the CPU.
  virtual void *stream() const = 0;

  /// At least 256-byte aligned; freed by freeAll.
  virtual int allocate(size_t bytes, void *&address) = 0;
  virtual void freeAll() = 0;
  virtual int upload(void *to, const void *from, size_t bytes) = 0;
  virtual int download(void *to, const void *from, size_t bytes) = 0;

  /// Waits for the launches; reports what went wrong in them.
  virtual int synchronize() = 0;

  /// Time of `launch` on the device, in milliseconds.
  virtual int time(const std::function<int()> &launch,
                   double &milliseconds) = 0;
};

int makeCpuMemory(std::unique_ptr<CaseMemory> &memory);
int makeGpuMemory(int ordinal, std::unique_ptr<CaseMemory> &memory);

} // namespace qm::runtime
