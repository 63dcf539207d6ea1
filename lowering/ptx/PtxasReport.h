// What `ptxas -v` says about each kernel.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace qm::ptx {

/// Resources of one kernel; bytes unless said otherwise.
struct KernelResources {
  std::string kernel;
  unsigned registers = 0; ///< a thread
  unsigned spillStores = 0, spillLoads = 0, stackFrame = 0;
  unsigned sharedBytes =
      0; ///< static; what is asked for at launch comes on top
  unsigned constantBytes = 0;
  unsigned barriers = 0;
};

struct PtxasReport {
  std::vector<KernelResources> kernels;
  std::vector<std::string>
      notes; ///< lines that say something else ("info : (C7508) ...", warnings)
  std::string text; ///< all that ptxas printed
  double seconds = 0;

  /// The entry of that name, or null.
  const KernelResources *find(llvm::StringRef kernel) const;
};

/// Reads the text that `ptxas -v` prints.
PtxasReport parsePtxasReport(llvm::StringRef text);

} // namespace qm::ptx
