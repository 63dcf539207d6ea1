//===- Level.h - which CPU code runs here -----------------------*- C++ -*-===//
#pragma once

#include <string_view>

namespace qm::runtime::cpu {

/// How demanding the code of a CPU target is: 0 for "generic-cpu" and for
/// "cpu", which makes no claim; the number of an x86-64 level ("x86-64-v3");
/// -1 if it is no CPU target.
int levelOf(std::string_view target);

/// The highest level that this machine runs.
int hostLevel();

} // namespace qm::runtime::cpu
