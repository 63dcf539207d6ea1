//===- ImageFormat.cpp - is this a cubin, PTX or a shared object? ---------===//

#include "runtime/cuda/ImageFormat.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>

namespace {

bool lieInside(uint64_t offset, uint64_t bytes, size_t total) {
  return offset <= total && bytes <= total - offset;
}

/// An ELF file of which every header, section and segment lies inside it.
bool isWholeElf(std::string_view image, Elf64_Ehdr &header) {
  if (image.size() < sizeof header)
    return false;
  memcpy(&header, image.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum ||
      !lieInside(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr),
                 image.size()))
    return false;
  if (header.e_phnum != 0 &&
      (header.e_phentsize != sizeof(Elf64_Phdr) ||
       !lieInside(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr),
                  image.size())))
    return false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, image.data() + header.e_shoff + i * sizeof section,
           sizeof section);
    // Shared and other memory without contents has a size and no bytes.
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !lieInside(section.sh_offset, section.sh_size, image.size()))
      return false;
  }
  return true;
}

} // namespace

bool qm::runtime::cuda::isCubin(std::string_view image) {
  Elf64_Ehdr header;
  return isWholeElf(image, header) && header.e_machine == EM_CUDA;
}

bool qm::runtime::cuda::isSharedObject(std::string_view image) {
#if defined(__x86_64__)
  constexpr Elf64_Half machine = EM_X86_64;
#else
  constexpr Elf64_Half machine = EM_AARCH64;
#endif
  Elf64_Ehdr header;
  return isWholeElf(image, header) && header.e_type == ET_DYN &&
         header.e_machine == machine;
}

bool qm::runtime::cuda::isPtx(std::string_view image) {
  if (!image.empty() && image.back() == '\0')
    image.remove_suffix(1);
  if (image.find('\0') != std::string_view::npos)
    return false;
  // Comments and blank lines may come first.
  size_t directive = 0;
  for (;;) {
    directive = image.find_first_not_of(" \t\r\n", directive);
    if (directive == std::string_view::npos)
      return false;
    if (image.compare(directive, 2, "//") == 0)
      directive = image.find('\n', directive);
    else if (image.compare(directive, 2, "/*") == 0)
      directive = image.find("*/", directive + 2);
    else
      return image.compare(directive, 8, ".version") == 0;
    if (directive == std::string_view::npos)
      return false;
    directive += image[directive] == '*' ? 2 : 1;
  }
}

std::string_view qm::runtime::cuda::ptxTarget(std::string_view image) {
  constexpr std::string_view directive = "\n.target";
  size_t at = image.find(directive);
  if (at == std::string_view::npos)
    return {};
  image.remove_prefix(at + directive.size());
  image.remove_prefix(std::min(image.find_first_not_of(" \t"), image.size()));
  return image.substr(0, image.find_first_of(", \t\r\n"));
}
