//===- BenchSuite.cpp - lists of cells to measure -------------------------===//
#include "qmc/BenchSuite.h"
#include "qmc/BenchMasks.h"
#include "qmc/BenchScores.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using llvm::formatv;

namespace {

/// A suite as the program holds it; the table is made from suites/*.json.
struct SuiteText {
  llvm::StringLiteral name, text;
};
constexpr SuiteText suiteTexts[] = {
#include "qmc/Suites.inc"
};

LogicalResult badSuite(StringRef origin, const llvm::Twine &why,
                       const llvm::Twine &help) {
  return reportError(diag::Id::BadSuite, "suite '" + origin + "': " + why,
                     origin, help);
}

/// Reads the cells of a suite; the first flaw ends it.
class Reader {
public:
  Reader(StringRef origin, const llvm::json::Object &root)
      : origin(origin), root(root) {}
  FailureOr<BenchSuite> read();

private:
  LogicalResult readCell(const llvm::json::Object &object, BenchCell &cell);
  LogicalResult readExtent(const llvm::json::Object &object, StringRef key,
                           int64_t &value);
  LogicalResult readWord(const llvm::json::Object &object, StringRef key,
                         ArrayRef<StringRef> known, std::string &value);
  LogicalResult readMask(const llvm::json::Object &object, std::string &mask);
  LogicalResult readScore(const llvm::json::Object &object, std::string &score);
  LogicalResult flaw(const llvm::Twine &why) {
    return badSuite(origin, "cell " + llvm::Twine(number) + ": " + why,
                    "`qmc explain QM0024` shows the format");
  }

  StringRef origin;
  const llvm::json::Object &root;
  size_t number = 0;
};

LogicalResult Reader::readExtent(const llvm::json::Object &object,
                                 StringRef key, int64_t &value) {
  std::optional<int64_t> number = object.getInteger(key);
  if (!number || *number < 1 || *number > INT32_MAX)
    return flaw("'" + key + "' must be a positive number");
  value = *number;
  return success();
}

LogicalResult Reader::readWord(const llvm::json::Object &object, StringRef key,
                               ArrayRef<StringRef> known, std::string &value) {
  std::optional<StringRef> word = object.getString(key);
  if (!word || !llvm::is_contained(known, *word))
    return flaw("'" + key + "' must be one of " + llvm::join(known, ", "));
  value = word->str();
  return success();
}

LogicalResult Reader::readMask(const llvm::json::Object &object,
                               std::string &mask) {
  std::optional<StringRef> name = object.getString("mask");
  if (!name || !isBenchMask(*name))
    return flaw("'mask' must be one of " + benchMaskNames());
  mask = name->str();
  return success();
}

LogicalResult Reader::readScore(const llvm::json::Object &object,
                                std::string &score) {
  if (!object.get("score"))
    return success();
  std::optional<StringRef> name = object.getString("score");
  if (!name || !isBenchScore(*name))
    return flaw("'score' must be one of " + benchScoreNames());
  score = name->str();
  return success();
}

static std::map<std::string, double> numbersOf(const llvm::json::Object &object,
                                               StringRef key) {
  std::map<std::string, double> numbers;
  if (const llvm::json::Object *entries = object.getObject(key))
    for (const auto &[target, number] : *entries)
      numbers[target.str()] = number.getAsNumber().value_or(0);
  return numbers;
}

LogicalResult Reader::readCell(const llvm::json::Object &object,
                               BenchCell &cell) {
  if (failed(readWord(object, "dtype", {"f16", "bf16", "f32"}, cell.dtype)) ||
      failed(readMask(object, cell.mask)) ||
      failed(readScore(object, cell.score)) ||
      failed(readExtent(object, "batch", cell.batch)) ||
      failed(readExtent(object, "heads", cell.heads)) ||
      failed(readExtent(object, "kv_heads", cell.kvHeads)) ||
      failed(readExtent(object, "sq", cell.sq)) ||
      failed(readExtent(object, "head_dim", cell.headDim)))
    return failure();
  cell.skv = cell.sq;
  if (object.get("skv") && failed(readExtent(object, "skv", cell.skv)))
    return failure();
  cell.valueDim = cell.headDim;
  if (object.get("value_dim") &&
      failed(readExtent(object, "value_dim", cell.valueDim)))
    return failure();
  if (cell.heads % cell.kvHeads != 0)
    return flaw(llvm::Twine(cell.heads) + " heads are no multiple of " +
                llvm::Twine(cell.kvHeads) + " kv_heads");
  cell.bars = numbersOf(object, "bars");
  cell.floors = numbersOf(object, "floors");
  cell.barCell = object.getString("bar_cell").value_or("").str();
  return success();
}

FailureOr<BenchSuite> Reader::read() {
  BenchSuite suite;
  suite.name = root.getString("suite").value_or("").str();
  const llvm::json::Array *cells = root.getArray("cells");
  if (suite.name.empty() || !cells || cells->empty())
    return badSuite(origin, "needs \"suite\", a name, and \"cells\"",
                    "`qmc explain QM0024` shows the format");
  if (const llvm::json::Object *peers = root.getObject("bar_peers"))
    for (const auto &[target, peer] : *peers)
      suite.barPeers[target.str()] = peer.getAsString().value_or("").str();
  for (const llvm::json::Value &value : *cells) {
    ++number;
    const llvm::json::Object *object = value.getAsObject();
    if (!object)
      return flaw("is no object");
    if (failed(readCell(*object, suite.cells.emplace_back())))
      return failure();
  }
  return suite;
}

} // namespace

std::string BenchCell::name() const {
  std::string length = sq == skv ? formatv("S{0}", sq).str()
                                 : formatv("Sq{0} Skv{1}", sq, skv).str();
  std::string dims = valueDim == headDim
                         ? formatv("D{0}", headDim).str()
                         : formatv("D{0} Dv{1}", headDim, valueDim).str();
  return formatv("{0} B{1} Hq{2} Hkv{3} {4} {5} {6}{7}{8}", dtype, batch, heads,
                 kvHeads, length, dims, mask, score.empty() ? "" : " ", score);
}

std::string BenchCell::kernel() const {
  std::string dims = valueDim == headDim
                         ? formatv("d{0}", headDim).str()
                         : formatv("d{0}_v{1}", headDim, valueDim).str();
  return formatv("{0}_h{1}_kv{2}_{3}_{4}{5}{6}", dtype, heads, kvHeads, dims,
                 mask, score.empty() ? "" : "_", score);
}

double BenchCell::flops() const {
  if (mask != "full" && mask != "causal")
    return 0;
  return 2.0 * batch * heads * sq * skv * (headDim + valueDim) *
         (mask == "causal" ? 0.5 : 1);
}

llvm::json::Object BenchCell::toJson() const {
  llvm::json::Object barObject, floorObject;
  for (const auto &[target, bar] : bars)
    barObject[target] = bar;
  for (const auto &[target, floor] : floors)
    floorObject[target] = floor;
  return llvm::json::Object{{"name", name()},
                            {"kernel", kernel()},
                            {"dtype", dtype},
                            {"mask", mask},
                            {"batch", batch},
                            {"heads", heads},
                            {"kv_heads", kvHeads},
                            {"sq", sq},
                            {"skv", skv},
                            {"head_dim", headDim},
                            {"value_dim", valueDim},
                            {"score", score},
                            {"flops", flops()},
                            {"bars", std::move(barObject)},
                            {"floors", std::move(floorObject)},
                            {"bar_cell", barCell}};
}

std::string qm::driver::suiteNames() {
  return llvm::join(
      llvm::map_range(suiteTexts, [](const SuiteText &s) { return s.name; }),
      ", ");
}

std::optional<StringRef> qm::driver::findSuiteText(StringRef name) {
  for (const SuiteText &suite : suiteTexts)
    if (suite.name == name)
      return suite.text;
  return std::nullopt;
}

FailureOr<BenchSuite> BenchSuite::load(StringRef nameOrFile) {
  std::unique_ptr<llvm::MemoryBuffer> file;
  std::optional<StringRef> text = findSuiteText(nameOrFile);
  if (!text && !nameOrFile.ends_with(".json")) {
    std::vector<std::string> names;
    for (const SuiteText &suite : suiteTexts)
      names.push_back(suite.name.str());
    std::string nearest = nearestName(nameOrFile, names);
    return badSuite(nameOrFile, "is not known",
                    nearest.empty() ? "choose from " + suiteNames() +
                                          ", or name a .json file"
                                    : "did you mean '" + nearest + "'?");
  }
  if (!text) {
    auto buffer = llvm::MemoryBuffer::getFile(nameOrFile);
    if (!buffer)
      return reportError(diag::Id::CannotRead,
                         "cannot read '" + nameOrFile +
                             "': " + buffer.getError().message(),
                         nameOrFile, "the suites are " + suiteNames());
    file = std::move(*buffer);
    text = file->getBuffer();
  }
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(*text);
  if (!root)
    return badSuite(nameOrFile, llvm::toString(root.takeError()),
                    "`qmc explain QM0024` shows the format");
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return badSuite(nameOrFile, "is no JSON object",
                    "`qmc explain QM0024` shows the format");
  return Reader(nameOrFile, *object).read();
}

std::string BenchSuite::specText() const {
  std::string text;
  std::set<std::string> made;
  for (const BenchCell &cell : cells)
    if (made.insert(cell.kernel()).second)
      text += benchSpecText(cell);
  return text;
}
