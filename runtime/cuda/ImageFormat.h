//===- ImageFormat.h - is this a cubin, PTX or a shared object? -*- C++ -*-===//
//
// The driver takes an image as a pointer without a length and reads as far as
// the image's own headers say; the loader of shared objects maps a file that is
// cut short and faults when it touches what is missing. So a cut or damaged
// file is found here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string_view>

namespace qm::runtime::cuda {

/// A whole ELF file for CUDA: every header and section lies inside it.
bool isCubin(std::string_view image);

/// A whole ELF shared object for this machine.
bool isSharedObject(std::string_view image);

/// PTX text: it has a .version directive before any other. A terminating NUL
/// may be part of the text.
bool isPtx(std::string_view image);

/// The name after PTX's .target, "sm_80"; empty if there is none.
std::string_view ptxTarget(std::string_view image);

} // namespace qm::runtime::cuda
