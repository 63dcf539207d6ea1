//===- BenchScores.cpp - the score functions that suites name -------------===//
#include "qmc/BenchScores.h"

#include <qm/attention.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace qm;
using namespace qm::driver;

namespace {

struct NamedScore {
  llvm::StringLiteral name;
  void (*describe)(Spec &spec);
};

/// What each costs a kernel: a special function, an fma, a load that moves with
/// the distance, a load an element.
const NamedScore scores[] = {
    {"softcap_30", [](Spec &spec) { spec.score(softcap(30)); }},
    {"softcap_30_approx",
     [](Spec &spec) { spec.score(softcap(30, Accuracy::Approximate)); }},
    {"alibi",
     [](Spec &spec) {
       spec.score(alibi(spec.buffer("slopes", f32, spec.heads())));
     }},
    {"relative",
     [](Spec &spec) {
       auto table = spec.buffer("table", f32, spec.heads(), dynamic);
       auto queries = spec.queryLength();
       spec.score([=](Score s, Batch, Head h, Query i, Key j) {
         return s + table[h][j - i + queries];
       });
     }},
    {"bias",
     [](Spec &spec) {
       auto bias = spec.buffer("bias", bf16, spec.queryLength(), dynamic);
       spec.score([=](Score s, Batch, Head, Query i, Key j) {
         return s + bias[i][j];
       });
     }},
};

const NamedScore *find(llvm::StringRef name) {
  for (const NamedScore &score : scores)
    if (score.name == name)
      return &score;
  return nullptr;
}

} // namespace

std::string qm::driver::benchScoreNames() {
  return llvm::join(
      llvm::map_range(scores,
                      [](const NamedScore &score) { return score.name; }),
      ", ");
}

bool qm::driver::isBenchScore(llvm::StringRef name) { return find(name); }

void qm::driver::describeBenchScore(llvm::StringRef name, Spec &spec) {
  find(name)->describe(spec);
}
