//===- PhaseTimer.cpp - wall time of each phase of a command --------------===//
#include "qmc/PhaseTimer.h"
#include "qmc/Table.h"

#include "llvm/ADT/STLExtras.h"

using namespace qm::driver;

void PhaseTimer::add(llvm::StringRef phase, Clock::duration time) {
  auto found =
      llvm::find_if(phases, [&](auto &entry) { return entry.first == phase; });
  if (found == phases.end())
    phases.emplace_back(phase.str(), time);
  else
    found->second += time;
}

void PhaseTimer::print(llvm::raw_ostream &os) const {
  auto milliseconds = [](Clock::duration time) {
    return threeDigits(std::chrono::duration<double, std::milli>(time).count());
  };
  Table table({"phase", "ms"});
  for (const auto &[phase, time] : phases)
    table.addRow({phase, milliseconds(time)});
  table.addRow({"total", milliseconds(Clock::now() - created)});
  table.print(os);
}
