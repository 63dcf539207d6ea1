//===- SpecText.h - reads and evaluates the text of a spec ------*- C++ -*-===//
//
// A small interpreter of the text that the front end prints, independent of the
// front end and of MLIR: tests check what a spec means, not how it is written.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace qm::test {

/// A value of any scalar type: `integer` of i1 to i64, `real` of f32.
struct Scalar {
  int64_t integer = 0;
  float real = 0;
};

struct Array {
  std::vector<int64_t> shape;
  std::vector<double> elements; ///< Row-major; holds every i32 and f32.
};

/// One call: extents, captured buffers and scalars.
struct Call {
  int64_t batch = 1, heads = 1, kvHeads = 1, query = 1, key = 1;
  std::map<std::string, Array> buffers;
  std::map<std::string, Scalar> scalars;
};

/// One line of a region.
struct Line {
  std::string result;   ///< "%3", or "" of a yield
  std::string mnemonic; ///< "arith.cmpi sge"
  std::vector<std::string> operands;
  std::string type; ///< What follows the last ':'.
  std::string text; ///< Without location and result: "arith.addi %i, %j : i32".
  int userLine = 0; ///< Of its location.
  std::string userFile;
};

/// A region made ready for one call, so that many evaluations cost little. Both
/// must outlive it.
class Evaluator {
public:
  Evaluator(const std::vector<Line> &region, const Call &call);
  Scalar operator()(float s, int b, int h, int i, int j);

private:
  using Step = std::function<void(std::vector<Scalar> &)>;
  size_t slot(const std::string &name);
  Step compile(const Line &line, const Call &call);

  std::map<std::string, size_t> slots;
  std::vector<Scalar> values;
  std::vector<Step> steps;
  size_t result = 0;
};

class SpecText {
public:
  explicit SpecText(const char *mlir);

  std::vector<Line> score, mask; ///< Empty if the region is absent.

  float evaluateScore(const Call &call, float s, int b, int h, int i,
                      int j) const;
  bool evaluateMask(const Call &call, int b, int h, int i, int j) const;
};

} // namespace qm::test
