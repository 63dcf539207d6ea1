//===- CpuMemory.cpp - where CPU cases run --------------------------------===//

#include "runtime/Error.h"
#include "runtime/tools/CaseMemory.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace qm::runtime;

namespace {

class CpuMemory : public CaseMemory {
public:
  ~CpuMemory() override { freeAll(); }

  DLDevice device() const override { return {kDLCPU, 0}; }
  void *stream() const override { return nullptr; }

  int allocate(size_t bytes, void *&address) override {
    address = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!address)
      return fail(QM_ERROR_OUT_OF_MEMORY,
                  "cannot allocate %zu bytes\nhelp: run a smaller case", bytes);
    blocks.push_back(address);
    return QM_OK;
  }

  void freeAll() override {
    for (void *block : blocks)
      std::free(block);
    blocks.clear();
  }

  int upload(void *to, const void *from, size_t bytes) override {
    memcpy(to, from, bytes);
    return QM_OK;
  }
  int download(void *to, const void *from, size_t bytes) override {
    memcpy(to, from, bytes);
    return QM_OK;
  }
  int synchronize() override { return QM_OK; }

  int time(const std::function<int()> &launch, double &milliseconds) override {
    auto start = std::chrono::steady_clock::now();
    int status = launch();
    milliseconds = std::chrono::duration<double, std::milli>(
                       std::chrono::steady_clock::now() - start)
                       .count();
    return status;
  }

private:
  std::vector<void *> blocks;
};

} // namespace

int qm::runtime::makeCpuMemory(std::unique_ptr<CaseMemory> &memory) {
  memory = std::make_unique<CpuMemory>();
  return QM_OK;
}
