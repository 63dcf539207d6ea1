//===- NearestName.cpp - "did you mean" -----------------------------------===//
#include "qmc/NearestName.h"

std::string qm::driver::nearestName(llvm::StringRef name,
                                    llvm::ArrayRef<std::string> candidates) {
  unsigned best = (name.size() + 1) / 2 + 1;
  std::string nearest;
  for (const std::string &candidate : candidates) {
    unsigned distance = name.edit_distance(candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
