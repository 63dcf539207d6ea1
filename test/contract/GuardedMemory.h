//===- GuardedMemory.h - memory beside a page that must not be used *- C++ -*-//
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace qm::contract {

/// Address space of any size that takes memory only where it is written.
class SparseMemory {
public:
  explicit SparseMemory(size_t bytes) : bytes(bytes) {
    void *address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
      throw std::runtime_error("no address space");
    base = static_cast<uint8_t *>(address);
  }
  ~SparseMemory() { munmap(base, bytes); }
  SparseMemory(const SparseMemory &) = delete;
  SparseMemory &operator=(const SparseMemory &) = delete;

  uint8_t *base = nullptr;

private:
  size_t bytes;
};

/// `bytes` bytes that end exactly before a page without access, or begin
/// exactly after one.
class GuardedMemory {
public:
  GuardedMemory(size_t bytes, bool atEnd)
      : page(sysconf(_SC_PAGESIZE)), inner((bytes + page - 1) / page * page),
        memory(inner + 2 * page) {
    if (mprotect(memory.base, page, PROT_NONE) ||
        mprotect(memory.base + page + inner, page, PROT_NONE))
      throw std::runtime_error("cannot protect a page");
    start = memory.base + page + (atEnd ? inner - bytes : 0);
  }
  void *data() const { return start; }

private:
  size_t page, inner;
  SparseMemory memory;
  uint8_t *start = nullptr;
};

} // namespace qm::contract
