//===- Cache.h - what was compiled before, by content -----------*- C++ -*-===//
//
// A folder of files named by the hash of everything that went into them. A file
// ends in the hash of its own bytes: one that is damaged, or half written by a
// machine that stopped, counts as missing. Several builds may share a folder.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/LLVM.h"

#include <array>
#include <optional>
#include <string>

namespace qm::driver {

using ContentHash = std::array<uint8_t, 32>;

/// SHA-256 of the parts, each with its length, so that no two lists of parts
/// are the same bytes.
ContentHash hashParts(llvm::ArrayRef<llvm::StringRef> parts);
/// SHA-256 of the bytes.
ContentHash hashBytes(llvm::StringRef bytes);
std::string toHex(const ContentHash &hash);

class Cache {
public:
  /// Nothing is kept where `folder` is empty.
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  /// Whether the folder can be written to; makes it.
  mlir::LogicalResult open();

  std::optional<std::string> get(const ContentHash &key);
  /// Best effort: a full disk makes the next build slower and not this one
  /// wrong.
  void put(const ContentHash &key, llvm::StringRef bytes);

private:
  std::string pathOf(const ContentHash &key) const;

  std::string folder;
};

/// Identifies this compiler: the build of qmc and of the MLIR and LLVM that it
/// runs with.
const std::string &compilerIdentity();

} // namespace qm::driver
