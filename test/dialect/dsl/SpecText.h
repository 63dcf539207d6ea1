//===- SpecText.h - reads and evaluates the text of a spec ------*- C++ -*-===//
//
// A small interpreter of the text that the front end prints, independent of the
// front end and of MLIR: tests check what a spec means, not how it is written.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
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
  std::vector<float> elements; ///< Row-major.
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

class SpecText {
public:
  explicit SpecText(const char *mlir);

  std::vector<Line> score, mask; ///< Empty if the region is absent.

  float evaluateScore(const Call &call, float s, int b, int h, int i,
                      int j) const;
  bool evaluateMask(const Call &call, int b, int h, int i, int j) const;

private:
  Scalar evaluate(const std::vector<Line> &region, const Call &call, Scalar s,
                  const int (&at)[4]) const;
};

} // namespace qm::test
