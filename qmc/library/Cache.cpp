//===- Cache.cpp - what was compiled before, by content -------------------===//
#include "qmc/library/Cache.h"
#include "qmc/Console.h"

#include "lowering/ptx/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <elf.h>
#include <link.h>

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;

ContentHash qm::driver::hashParts(ArrayRef<StringRef> parts) {
  SHA256 hasher;
  for (StringRef part : parts) {
    uint64_t bytes = part.size();
    hasher.update(StringRef(reinterpret_cast<char *>(&bytes), sizeof bytes));
    hasher.update(part);
  }
  return hasher.final();
}

ContentHash qm::driver::hashBytes(StringRef bytes) {
  return SHA256::hash(arrayRefFromStringRef(bytes));
}

std::string qm::driver::toHex(const ContentHash &hash) {
  return llvm::toHex(ArrayRef<uint8_t>(hash), /*LowerCase=*/true);
}

LogicalResult Cache::open() {
  if (folder.empty())
    return success();
  std::error_code error = sys::fs::create_directories(folder);
  if (!error && !sys::fs::is_directory(folder))
    error = make_error_code(std::errc::not_a_directory);
  if (error)
    return reportError(diag::Id::CannotWrite,
                       "cannot use the cache folder '" + folder +
                           "': " + error.message(),
                       folder, "choose another --cache-dir");
  return success();
}

std::string Cache::pathOf(const ContentHash &key) const {
  std::string name = toHex(key);
  SmallString<128> path(folder);
  sys::path::append(path, name.substr(0, 2), name.substr(2));
  return path.str().str();
}

std::optional<std::string> Cache::get(const ContentHash &key) {
  if (folder.empty())
    return std::nullopt;
  auto buffer = MemoryBuffer::getFile(pathOf(key), /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < sizeof(ContentHash))
    return std::nullopt;
  StringRef content = bytes.drop_back(sizeof(ContentHash));
  ContentHash hash = hashBytes(content);
  if (bytes.take_back(hash.size()) != toStringRef(hash))
    return std::nullopt;
  return content.str();
}

void Cache::put(const ContentHash &key, StringRef bytes) {
  if (folder.empty())
    return;
  std::string path = pathOf(key);
  if (sys::fs::create_directories(sys::path::parent_path(path)))
    return;
  ContentHash hash = hashBytes(bytes);
  consumeError(ptx::writeAtomically(path, (bytes + toStringRef(hash)).str()));
}

/// The build id that the linker wrote into a loaded object; empty if none.
static StringRef buildIdOf(const dl_phdr_info &object) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at =
        reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof *note;
      const char *content = name + alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID)
        return StringRef(content, note->n_descsz);
      at = content + alignTo(note->n_descsz, 4);
    }
  }
  return {};
}

const std::string &qm::driver::compilerIdentity() {
  static const std::string identity = [] {
    std::string ids = "qmc " QM_VERSION ", LLVM " LLVM_VERSION_STRING;
    auto add = [](dl_phdr_info *object, size_t, void *out) {
      StringRef file = sys::path::filename(object->dlpi_name);
      if (file.empty() || file.starts_with("libMLIR") ||
          file.starts_with("libLLVM"))
        static_cast<std::string *>(out)->append(buildIdOf(*object).str());
      return 0;
    };
    dl_iterate_phdr(add, &ids);
    return toHex(hashBytes(ids));
  }();
  return identity;
}
