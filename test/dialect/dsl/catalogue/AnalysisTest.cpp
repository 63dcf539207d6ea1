// What the compiler derives from every mask of the catalogue is true, and for
// masks that are affine in the key it is exact.
#include "test/dialect/dsl/catalogue/Analysis.h"
#include "test/dialect/dsl/catalogue/Page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

using namespace qm::test;

namespace {

TEST(DslCatalogue, AnalysisOfMasksIsSound) {
  std::vector<Entry> entries = Captures().entries();
  for (size_t n = 0; n < entries.size(); ++n)
    EXPECT_EQ(analyse(n).wrong, 0) << entries[n].example;
}

// Affine masks, and those by what the tokens are where ids are sorted.
TEST(DslCatalogue, MasksAreSolvedExactly) {
  const std::set<std::string> solved{"causal",
                                     "slidingWindow",
                                     "prefix",
                                     "padding",
                                     "sinkWindow",
                                     "batchWindow",
                                     "dilatedWindow",
                                     "blockCausal",
                                     "blockDiagonal",
                                     "chunkedCausal",
                                     "batchify",
                                     "natten2d",
                                     "tiledNatten2d",
                                     "sta3d",
                                     "svgSpatial",
                                     "varScales",
                                     "document",
                                     "flamingo",
                                     "documentCausalByOffsets"};
  std::vector<Entry> entries = Captures().entries();
  for (size_t n = 0; n < entries.size(); ++n) {
    bool unsorted = entries[n].example.find("anyIds") != std::string::npos;
    if (!solved.count(entries[n].name) || unsorted)
      continue;
    Analysis analysis = analyse(n);
    EXPECT_TRUE(analysis.isExact()) << entries[n].example;
    EXPECT_TRUE(analysis.bounded) << entries[n].example;
    EXPECT_EQ(analysis.inBounds, analysis.inTightest) << entries[n].example;
  }
}

// CATALOGUE.md is made of the headers' comments, the examples and the analysis.
// QM_UPDATE_CATALOGUE=1 writes it.
TEST(DslCatalogue, PageIsUpToDate) {
  std::string path = QM_SOURCE_DIR "/dialect/dsl/CATALOGUE.md";
  std::string page = cataloguePage(QM_SOURCE_DIR "/dialect/dsl/include/qm");
  if (std::getenv("QM_UPDATE_CATALOGUE")) {
    std::ofstream(path) << page;
    return;
  }
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), page)
      << "run this test with QM_UPDATE_CATALOGUE=1 and look at the difference";
}

} // namespace
