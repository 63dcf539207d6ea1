//===- RowCases.h - users' reports as specs, calls and truths ---*- C++ -*-===//
//
// One list for all machines: the tests run it on the CPU, qm-contract-cases
// writes it as case files for a GPU.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/contract/Program.h"

namespace qm::contract {

/// Element type and head dim that a report's spec is compiled for.
struct Setting {
  Element type;
  int64_t headDim;
};
/// What the CPU tests use: every type, head dims of the benchmarks and odd
/// ones.
llvm::ArrayRef<Setting> cpuSettings();

/// keep(b, h, i, j) of a mask, written down a second time in plain C++.
using Keep = std::function<bool(int64_t, int64_t, int64_t, int64_t)>;

/// Makes a call; `shape` has the head counts and dims of the spec.
using MakeCall = std::function<Call(Element type, Shape shape)>;

/// One call of a spec and its truth.
struct RowCall {
  std::string name;
  MakeCall make;
  /// For a uniform probe: O is the mean of V over the kept keys. Without it the
  /// truth is the oracle's.
  Keep keep;
  /// Of a uniform probe: what the spec adds to every score.
  double shift = 0;
};

struct RowCase {
  std::string name; ///< "Row02_FirstRowsWithoutKeys"; a C identifier
  int64_t heads = 2, kvHeads = 1;
  Describe describe;
  std::vector<RowCall> calls = {};
  /// Head dims of q and k and of v that the report is about; 0: the setting's.
  int64_t headDim = 0, valueDim = 0;

  Shape shape(Setting setting) const;
};

using Captures = std::vector<std::variant<Tensor, int32_t, float>>;
/// A uniform probe of these extents.
RowCall probe(int64_t queries, int64_t keys, Keep keep, int64_t batch = 1,
              Captures captures = {});
/// Random data of these extents, compared with the oracle.
RowCall random(int64_t queries, int64_t keys, int64_t batch = 1,
               Captures captures = {});

/// The lists by theme, each in a file of its own.
std::vector<RowCase> emptyRowCases();
std::vector<RowCase> maskCases();
std::vector<RowCase> lengthCases();
std::vector<RowCase> headCases();
std::vector<RowCase> sequenceCases();
std::vector<RowCase> statisticCases();
std::vector<RowCase> tokenCases();
std::vector<RowCase> bufferCases();

/// Mean of V and logarithm of the count over the kept keys, whose scores are
/// all `shift`.
Truth uniformTruth(const Call &call, const Keep &keep, double shift = 0);

/// All cases; names begin with the number of the report.
const std::vector<RowCase> &rowCases();

Truth truthOf(const RowCall &rowCall, const Call &call, const Program &program);

/// Compiles the cases whose names begin with `row` for the CPU, in every
/// setting, runs their calls and compares; `inspect` looks at each call that
/// has run.
using Inspect =
    std::function<void(const Program &, const RowCall &, const Call &)>;
void checkRow(const std::string &row, const Inspect &inspect = {});

} // namespace qm::contract
