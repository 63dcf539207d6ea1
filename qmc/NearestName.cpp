//===- NearestName.cpp - "did you mean" -----------------------------------===//
#include "qmc/NearestName.h"

std::string qm::driver::nearestName(llvm::StringRef name,
                                    llvm::ArrayRef<std::string> candidates) {
  unsigned best = (name.size() + 1) / 2 + 1;
  std::string nearest;
  for (const std::string &candidate : candidates) {
    // What is only missing its end is nearer than what differs: sm_90, sm_90a.
    unsigned distance =
        !name.empty() && llvm::StringRef(candidate).starts_with(name)
            ? 0
            : name.edit_distance(candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
