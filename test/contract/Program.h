//===- Program.h - a C++ spec, compiled for this CPU ------------*- C++ -*-===//
#pragma once

#include "lowering/reference/OperandRounding.h"
#include "test/contract/Call.h"

#include <qm/attention.h>

#include <functional>
#include <memory>
#include <string>

namespace qm::contract {

/// Writes score, mask and captures into a spec whose sizes and type are set.
using Describe = std::function<void(Spec &)>;

/// The whole spec as text: sizes and type, `describe`, and lse. A mistake in
/// it is a test failure and gives "".
std::string specText(const std::string &name, Element type, const Shape &shape,
                     const Describe &describe);

/// What is right, row-major (NaN for rows that stay as they were), and how far
/// a result may be from it: half a unit in the last place of O where the truth
/// is exact, else the numerics contract.
struct Truth {
  std::vector<double> o, lse;
  std::vector<double> rowMax; ///< where the call has room for it
  double oAbsolute = 0, oRelative = 0, lseAbsolute = 0, rowMaxAbsolute = 0;
};

class Program {
public:
  struct Options {
    std::vector<std::string> overrides; ///< "precision.p=f32"
    bool forcePartial = false; ///< no key block counts as full or as empty
  };

  /// A spec that does not compile is a test failure; `run` then does nothing.
  Program(const std::string &text, const Options &options);
  Program(Element type, const Shape &shape, const Describe &describe);
  Program(Element type, const Shape &shape, const Describe &describe,
          const Options &options);
  ~Program();

  void run(const Call &call, unsigned threads = 2) const;
  /// The same for arguments that a caller would be refused.
  void runUnchecked(const Call &call, unsigned threads = 2) const;

  /// The truth in double precision; bounds are twice the error of an unfused
  /// attention with f32 sums, whose operands are rounded to `products`.
  Truth evaluate(const Call &call,
                 std::optional<reference::WideProducts> products = {}) const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// The largest relative error of rounding to `type`.
double unitRoundoff(Element type);

/// Compares the outputs with the truth; the first wrong element is named.
void expectNear(const Call &call, const Truth &truth);
/// The f32 results of one batch entry and head, where all columns of O are the
/// same: `o` and `lse` of each row, within a few roundings.
void expectFirstColumn(const Call &call, const std::vector<double> &o,
                       const std::vector<double> &lse);
/// The outputs of two calls have the same bits.
void expectSameBits(const Call &a, const Call &b);

} // namespace qm::contract
