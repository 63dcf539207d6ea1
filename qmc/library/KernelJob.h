//===- KernelJob.h - one kernel for one target ------------------*- C++ -*-===//
#pragma once

#include "qmc/library/Cache.h"
#include "qmc/library/KernelRequest.h"

#include "lowering/common/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

namespace qm::driver {

/// One image of a kernel, compressed.
struct PackedImage {
  ContentHash hash; ///< of the image
  uint64_t bytes;   ///< of the image
  std::string packed;
};

/// A zstd frame with a checksum; `bytes` and the hash are of what went in.
PackedImage packImage(llvm::StringRef image);

/// What one job makes; also what the cache keeps of it.
struct CompiledKernel {
  llvm::json::Object info; ///< the manifest's entry, without its image
  /// GPU: the cubin, and the PTX of a target that later GPUs can run. CPU:
  /// none.
  std::vector<std::pair<std::string, PackedImage>> images; ///< by format
  std::string object; ///< CPU: an object file with `symbol`
  std::string symbol;

  std::string serialize() const;
  static std::optional<CompiledKernel> deserialize(llvm::StringRef bytes);
};

class KernelJob {
public:
  KernelJob(const KernelRequest &request, const lowering::TargetInfo &target,
            const Options &options, const std::string &ptxas)
      : request(request), target(target), options(options), ptxas(ptxas) {}

  /// From the cache, or compiled; may run on any thread. Messages are kept for
  /// `messages`.
  mlir::LogicalResult run(Cache &cache);

  /// "gemma2_bf16_d64 for sm_80".
  std::string describe() const;

  const KernelRequest &request;
  const lowering::TargetInfo &target;
  CompiledKernel result;
  std::string messages;
  std::string limit; ///< why the target cannot have the kernel, if that is so
  bool wasCached = false;

private:
  ContentHash key() const;
  mlir::LogicalResult compile(const ContentHash &key);
  mlir::LogicalResult makeObject(class Session &session, mlir::ModuleOp module);
  mlir::LogicalResult makeImages(class Session &session, mlir::ModuleOp module);

  Options options;
  std::string ptxas; ///< version and place
};

} // namespace qm::driver
