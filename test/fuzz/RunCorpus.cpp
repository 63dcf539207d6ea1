//===- RunCorpus.cpp - a fuzzer's inputs without the fuzzer ---------------===//
//
// Stands in for libFuzzer where it is not linked: every file of the folders
// named on the command line is one input.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream all;
      all << file.rdbuf();
      std::string bytes = all.str();
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()),
                             bytes.size());
      ++inputs;
    }
  printf("%d inputs\n", inputs);
  return inputs ? 0 : 1;
}
