//===- Page.cpp - writes CATALOGUE.md -------------------------------------===//
#include "test/dialect/dsl/catalogue/Page.h"

#include "test/dialect/dsl/catalogue/Analysis.h"
#include "test/dialect/dsl/catalogue/ScoreEntries.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace qm::test {
namespace {

/// What a header says of a function.
struct Documentation {
  std::string header;
  std::vector<std::string> formulas; ///< One an overload.
};

using Documentations = std::map<std::string, Documentation>;

/// Reads the doc comments: `/// Keeps: FORMULA` or `/// Gives: FORMULA` up to
/// the declaration of a function.
void read(const std::string &folder, const std::string &header,
          Documentations &functions) {
  std::ifstream file(folder + "/" + header);
  if (!file)
    throw std::runtime_error("cannot read " + header);
  static const std::regex declaration(R"(^(?:Mask|ScoreFunction) (\w+)\()");
  static const std::regex start(R"(^/// (?:Keeps|Gives): (.*))");
  std::string formula;
  bool inFormula = false;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, start)) {
      formula = match[1], inFormula = true;
    } else if (line.rfind("/// ", 0) == 0) {
      if (inFormula)
        formula += " " + line.substr(line.find_first_not_of("/ "));
    } else if (std::regex_search(line, match, declaration)) {
      if (!formula.empty()) {
        Documentation &function = functions[match[1]];
        function.header = header;
        function.formulas.push_back(formula);
      }
      formula.clear(), inFormula = false;
    } else if (line.empty()) {
      formula.clear(), inFormula = false;
    }
  }
}

/// Code in a cell of a table.
std::string code(const std::string &text) {
  return "`" + std::regex_replace(text, std::regex("\\|"), "\\|") + "`";
}

std::string grouped(int number) {
  std::string text = std::to_string(number);
  for (int at = int(text.size()) - 3; at > 0; at -= 3)
    text.insert(at, " ");
  return text;
}

/// The name, its formulas and its header, on the first row of a function only.
class Rows {
public:
  explicit Rows(const Documentations &functions) : functions(functions) {}

  std::string lead(const std::string &name) {
    auto found = functions.find(name);
    if (found == functions.end())
      throw std::runtime_error(name + " has no formula in its header");
    if (!shown.insert(name).second)
      return "| |";
    std::string formulas;
    std::set<std::string> seen;
    for (const std::string &formula : found->second.formulas)
      if (seen.insert(formula).second)
        formulas += (formulas.empty() ? "" : "<br>") + code(formula);
    return "| [" + name + "](include/qm/" + found->second.header + ") | " +
           formulas;
  }

  void requireAll() const {
    for (const auto &[name, function] : functions)
      if (!shown.count(name))
        throw std::runtime_error(name + " has no example");
  }

private:
  const Documentations &functions;
  std::set<std::string> shown;
};

std::string classification(const Analysis &analysis) {
  if (analysis.isExact())
    return "exact";
  std::string text;
  if (int missed = analysis.empty - analysis.skipped)
    text = std::to_string(missed) + " empty";
  if (int missed = analysis.full - analysis.bare)
    text += (text.empty() ? "" : ", ") + std::to_string(missed) + " full";
  return text + " missed";
}

std::string bounds(const Analysis &analysis) {
  if (!analysis.bounded)
    return analysis.inTightest == analysis.blocks ? "not needed" : "none";
  if (analysis.inBounds == analysis.inTightest)
    return "exact";
  return std::to_string(analysis.inBounds) + " for " +
         std::to_string(analysis.inTightest);
}

std::string rate(const llvm::json::Object &row) {
  return std::to_string(std::lround(row.getNumber("ours").value_or(0)));
}

/// Measured rates of the suite `masks`, if there are any.
void writeSpeed(std::stringstream &out) {
  auto file = llvm::MemoryBuffer::getFile(QM_SOURCE_DIR
                                          "/test/perf/results/gpu_masks.json");
  if (!file)
    return;
  llvm::Expected<llvm::json::Value> root =
      llvm::json::parse((*file)->getBuffer());
  if (!root || !root->getAsArray())
    throw std::runtime_error("gpu_masks.json is no list of rows");
  out << R"(
## Speed

TFLOP/s on kept pairs, bf16, 16384 tokens, 16 heads of 128, on the GPU named: from `test/perf/results/gpu_masks.json`, with the
bars in `test/perf/RESULTS.md`. The masks are those of `qmc/BenchMasks.cpp`; FlexAttention ran in the same process.

| mask | kernels for | GPU | TFLOP/s | FlexAttention | ratio |
|---|---|---|--:|--:|--:|
)";
  for (const llvm::json::Value &value : *root->getAsArray()) {
    const llvm::json::Object &row = *value.getAsObject();
    if (row.getString("metric") != "rate")
      continue;
    llvm::StringRef mask = row.getString("cell")->rsplit(' ').second;
    llvm::StringRef target = row.getString("suite")->split(' ').second;
    out << "| `" << mask.str() << "` | " << target.str() << " | "
        << row.getString("gpu")->str() << " | " << rate(row) << " | ";
    const llvm::json::Object *peers = row.getObject("peers");
    if (auto flex = peers ? peers->getNumber("flex") : std::nullopt)
      out << std::lround(*flex) << " | "
          << llvm::formatv("{0:f2}", *row.getNumber("ours") / *flex).str()
          << " |\n";
    else
      out << "- | - |\n";
  }
}

} // namespace

std::string cataloguePage(const std::string &folder) {
  Documentations functions;
  for (const char *header :
       {"mask.h", "masks.h", "catalogue/windows.h", "catalogue/documents.h",
        "catalogue/canvases.h", "catalogue/scores.h", "catalogue/recipes.h"})
    read(folder, header, functions);
  Rows rows(functions);

  std::stringstream out;
  out << R"(# The catalogue of masks and score functions

Made by `PageIsUpToDate` of `qm_catalogue_test` from the headers and from what the compiler derives; do not edit. Every line
is a test: the mask is compared with plain C++, pair by pair.

In the formulas i is the query, j the key, p = i + d the key position where the query stands: d = 0 for `TopLeft`, d = Skv - Sq
for `BottomRight`. Integer division rounds down. The arguments of an example are those of the test; sizes may be
`spec.param`s as well.

## Masks

"Pairs" are those that the example keeps among 1024 x 1024 (`tree`: 64 x 1024). "Blocks" are full, partial and empty ones of
128 x 128. "Classified" says whether the compiler tells empty and full blocks exactly, or how many it takes for partial
(which costs time, never a result). "Bounds" says whether the loop over key blocks starts and ends exactly at the first and the
last block that is needed, or how many blocks it looks at for how many; "none": at all of them. Of the examples' buffers `ids`,
`offsets`, `scales`, `begin` and `end` are declared `.sorted()`; `anyIds` holds the same ids as `ids` without that promise.

| mask | keeps (i, j) iff | example | pairs | blocks | classified | bounds |
|---|---|---|--:|--:|---|---|
)";
  std::vector<Entry> entries = Captures().entries();
  for (size_t n = 0; n < entries.size(); ++n) {
    Analysis analysis = analyse(n);
    int partial = analysis.blocks - analysis.full - analysis.empty;
    out << rows.lead(entries[n].name) << " | " << code(entries[n].example)
        << " | " << grouped(analysis.kept) << " | " << analysis.full << ", "
        << partial << ", " << analysis.empty << " | "
        << classification(analysis) << " | " << bounds(analysis) << " |\n";
  }
  out << R"(
## Score functions

s comes in, t goes out; Hq is the number of query heads. `spec.score(softcap(30).then(alibi(slopes)))` applies them from left
to right.

| score function | gives | example |
|---|---|---|
)";
  for (const ScoreEntry &entry : ScoreCaptures().entries())
    if (entry.example.find(").then(") == std::string::npos)
      out << rows.lead(entry.name) << " | " << code(entry.example) << " |\n";
  rows.requireAll();
  writeSpeed(out);
  return out.str();
}

} // namespace qm::test
