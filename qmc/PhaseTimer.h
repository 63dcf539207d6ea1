//===- PhaseTimer.h - wall time of each phase of a command ------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace qm::driver {

/// Adds up wall time under names, in the order of first use.
class PhaseTimer {
public:
  using Clock = std::chrono::steady_clock;

  /// Runs `body` and books its time under `phase`.
  template <typename Body>
  decltype(auto) measure(llvm::StringRef phase, Body &&body) {
    struct Booking {
      PhaseTimer &timer;
      llvm::StringRef phase;
      Clock::time_point start = Clock::now();
      ~Booking() { timer.add(phase, Clock::now() - start); }
    } booking{*this, phase};
    return body();
  }

  void add(llvm::StringRef phase, Clock::duration time);
  /// One row a phase and the total since construction.
  void print(llvm::raw_ostream &os) const;

private:
  Clock::time_point created = Clock::now();
  std::vector<std::pair<std::string, Clock::duration>> phases;
};

} // namespace qm::driver
