// Every operation carries the user's file and line. (Columns differ between
// compilers.)
//
// A line is named by a trailing comment, `// @name`, which the test looks up in
// its own source.
#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

using namespace qm;
using qm::test::Line;
using qm::test::SpecText;

namespace {

using Lines = std::vector<int>;

/// The number of the line that ends in `// @name`.
int at(const std::string &name) {
  std::ifstream source(__FILE__);
  std::string line, mark = "// @" + name;
  for (int number = 1; std::getline(source, line); ++number)
    if (line.size() >= mark.size() &&
        line.compare(line.size() - mark.size(), mark.size(), mark) == 0)
      return number;
  ADD_FAILURE() << "no line " << mark;
  return 0;
}

/// The lines of operations with this mnemonic, in order.
Lines linesOf(const std::vector<Line> &region, const char *mnemonic) {
  Lines lines;
  for (const Line &line : region)
    if (line.mnemonic == mnemonic)
      lines.push_back(line.userLine);
  return lines;
}

void expectUsersLines(const std::vector<Line> &region, int first, int last) {
  ASSERT_FALSE(region.empty());
  for (const Line &line : region) {
    EXPECT_STREQ(std::strrchr(line.userFile.c_str(), '/'), "/LocationsTest.cpp")
        << line.text;
    EXPECT_GE(line.userLine, first) << line.text;
    EXPECT_LE(line.userLine, last) << line.text;
  }
}

TEST(DslLocations, EveryNodeOfAScoreFunction) {
  Spec spec("locations");
  spec.heads(2).headDim(8);
  auto table = spec.buffer("table", bf16, spec.heads(), dynamic);
  spec.score([=](Score s, Batch, Head h, Query i, Key j) { // @score
    auto distance = i - j;                                 // @distance
    auto far = distance > 8;                               // @far
    auto near = !far;                                      // @near
    Float bias = table[h][distance];                       // @bias
    bias += 1;                                             // @plus
    auto inverse = -                                       // @minus
                   tanh(s);                                // @tanh
    Index bucket = distance / 4 % 3;                       // @bucket
    return select(near, sigmoid(inverse) + bias,           // @sigmoid
                  s * bucket);                             // @product
  });
  SpecText text(spec.mlir());
  EXPECT_EQ(linesOf(text.score, "arith.cmpi sgt"), Lines{at("far")});
  EXPECT_EQ(linesOf(text.score, "arith.xori"), Lines{at("near")});
  EXPECT_EQ(linesOf(text.score, "attn.load"), Lines{at("bias")});
  EXPECT_EQ(linesOf(text.score, "arith.extf"), Lines{at("bias")});
  EXPECT_EQ(linesOf(text.score, "arith.addf"),
            (Lines{at("sigmoid"), at("plus"), at("sigmoid")}));
  EXPECT_EQ(linesOf(text.score, "math.tanh"), Lines{at("tanh")});
  EXPECT_EQ(linesOf(text.score, "arith.floordivsi"),
            (Lines{at("bucket"), at("bucket")}));
  EXPECT_EQ(linesOf(text.score, "math.exp"), Lines{at("sigmoid")});
  EXPECT_EQ(linesOf(text.score, "arith.divf"), Lines{at("sigmoid")});
  EXPECT_EQ(linesOf(text.score, "arith.sitofp"), Lines{at("product")});
  EXPECT_EQ(linesOf(text.score, "attn.yield"), Lines{at("score")});
  expectUsersLines(text.score, at("score"), at("product"));
}

TEST(DslLocations, LibraryMasksAreWhereTheyAreNamed) {
  Spec spec("locations");
  spec.heads(2).headDim(8);
  auto lengths = spec.buffer("lengths", i32, spec.batch());
  Mask window = slidingWindow(100); // @window
  Mask padded = padding(lengths);   // @padding
  Mask odd = custom([](Batch, Head, Query, Key j) {
    return j % 2 == 1; // @odd
  });
  spec.mask((window && !padded) || // @mask
            prefix(4) ||           // @prefix
            odd.shift(0, 1));      // @shift
  SpecText text(spec.mlir());
  EXPECT_EQ(linesOf(text.mask, "attn.extent"),
            (Lines{at("window"), at("window")}));
  EXPECT_EQ(linesOf(text.mask, "arith.cmpi sle"),
            (Lines{at("window"), at("window")}));
  EXPECT_EQ(linesOf(text.mask, "attn.load"), Lines{at("padding")});
  EXPECT_EQ(linesOf(text.mask, "arith.cmpi slt"),
            (Lines{at("padding"), at("prefix")}));
  EXPECT_EQ(linesOf(text.mask, "arith.xori"), Lines{at("mask")});
  EXPECT_EQ(linesOf(text.mask, "arith.cmpi eq"), Lines{at("odd")});
  EXPECT_EQ(linesOf(text.mask, "arith.addi"),
            (Lines{at("window"), at("shift")}));
  expectUsersLines(text.mask, at("window"), at("shift"));
}

Float helper(Float x) {
  return x * x; // @helper
}

TEST(DslLocations, HelperFunctionsAreTheUsersOwnCode) {
  Spec spec("locations");
  spec.heads(2).headDim(8);
  spec.score([](Score s, Batch, Head, Query, Key) { return helper(s); });
  EXPECT_EQ(SpecText(spec.mlir()).score[0].userLine, at("helper"));
}

TEST(DslLocations, ArgumentsAndTheOperator) {
  Spec spec("locations"); // @spec
  spec.heads(2).headDim(8);
  spec.buffer("x", f32, 4); // @buffer
  spec.param("n", i32);     // @param
  std::string text = spec.mlir();
  auto lineAfter = [&](const char *start) {
    size_t colon = text.find("\":", text.find(" loc(\"", text.find(start)));
    return colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 2);
  };
  EXPECT_EQ(lineAfter("attn.name = \"x\""), at("buffer")) << text;
  EXPECT_EQ(lineAfter("attn.name = \"n\""), at("param")) << text;
  EXPECT_EQ(lineAfter("-> tensor<?x2x?x8xbf16> loc"), at("spec")) << text;
  EXPECT_EQ(lineAfter("\n} loc"), at("spec")) << text;
}

} // namespace
