//===- qm-run-cases.cpp - run case files where the device is --------------===//
//
// Needs the runtime and a driver, not the compiler: copy it, the case files and
// the images to any machine of the same architecture.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/RunCase.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace qm::runtime;
namespace fs = std::filesystem;

static const char *const help =
    R"(qm-run-cases: run case files and check every output

usage: qm-run-cases [options] FOLDER|CASE.json ...

  --target=gpu|cpu   where to run (default gpu)
  --device=N         GPU ordinal (default 0)
  --filter=TEXT      only cases whose name contains TEXT
  --time[=N]         time N more launches (default 20), print the median
  -h, --help         this text

A folder means every case in it. Prints one line a case: PASS or FAIL, its
name, the largest error, and the largest share of its tolerance that an error
takes. Exit status: 0 all passed, 1 some failed, 2 wrong usage or no device.

example: qm-run-cases --time cases/
)";

namespace {

struct Options {
  bool gpu = true;
  int device = 0;
  int repeats = 0;
  std::string filter;
  std::vector<std::string> paths;
};

/// The value of "--name=value", or null.
const char *valueOf(const char *argument, const char *name) {
  size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '='
             ? argument + length + 1
             : nullptr;
}

bool parseNumber(const char *text, int least, int &number) {
  char *end = nullptr;
  long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > 1000000)
    return false;
  number = static_cast<int>(value);
  return true;
}

/// False, and says why, for what is no option of this program.
bool parseOption(const char *argument, Options &options) {
  if (const char *target = valueOf(argument, "--target")) {
    options.gpu = strcmp(target, "gpu") == 0;
    if (options.gpu || strcmp(target, "cpu") == 0)
      return true;
  } else if (const char *device = valueOf(argument, "--device")) {
    if (parseNumber(device, 0, options.device))
      return true;
  } else if (const char *filter = valueOf(argument, "--filter")) {
    options.filter = filter;
    return true;
  } else if (strcmp(argument, "--time") == 0) {
    options.repeats = 20;
    return true;
  } else if (const char *repeats = valueOf(argument, "--time")) {
    if (parseNumber(repeats, 1, options.repeats))
      return true;
  }
  fprintf(stderr, "qm-run-cases: unknown option or value '%s'; see --help\n",
          argument);
  return false;
}

/// Whether this is a case, by its first field: manifests lie in the same place.
bool isCaseFile(const fs::path &path) {
  char head[256] = "";
  FILE *file =
      path.extension() == ".json" ? fopen(path.c_str(), "rb") : nullptr;
  if (!file)
    return false;
  std::string text;
  while (size_t count = fread(head, 1, sizeof head, file))
    text.append(head, count);
  fclose(file);
  return text.find("\"qm_case\"") != std::string::npos;
}

bool collect(const std::string &path, std::vector<std::string> &cases) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    cases.push_back(path);
    return fs::exists(path, error);
  }
  size_t before = cases.size();
  for (const auto &entry : fs::recursive_directory_iterator(path, error))
    if (isCaseFile(entry.path()))
      cases.push_back(entry.path().string());
  std::sort(cases.begin() + before, cases.end());
  return !error;
}

/// Libraries by manifest: many cases share one.
class Libraries {
public:
  ~Libraries() {
    for (auto &[manifest, library] : loaded)
      qm_library_destroy(library);
  }

  int find(const CaseFile &file, const qm_kernel *&kernel) {
    qm_library *&library = loaded[file.manifest];
    if (!library)
      if (int status = qm_library_load(file.manifest.c_str(), &library))
        return status;
    return qm_library_find(library, file.kernel.c_str(), &kernel);
  }

private:
  std::map<std::string, qm_library *> loaded;
};

void print(const std::string &name, const CaseResult &result, bool timed) {
  printf("%s  %-48s", result.passed ? "PASS" : "FAIL", name.c_str());
  if (result.passed) {
    printf("  max error %.3g  (%.0f %% of tolerance)", result.maxError,
           100 * result.worst);
    if (timed)
      printf("  %.4f ms", result.milliseconds);
  } else {
    printf("  %s", result.flaw.c_str());
  }
  printf("\n");
  fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
      fputs(help, stdout);
      return 0;
    }
    if (argv[i][0] != '-')
      options.paths.push_back(argv[i]);
    else if (!parseOption(argv[i], options))
      return 2;
  }
  std::vector<std::string> cases;
  for (const std::string &path : options.paths)
    if (!collect(path, cases)) {
      fprintf(stderr, "qm-run-cases: cannot read '%s'\n", path.c_str());
      return 2;
    }
  if (cases.empty()) {
    fputs("qm-run-cases: no case to run; see --help\n", stderr);
    return 2;
  }

  Libraries libraries; // destroyed after the memory's context is left
  std::unique_ptr<CaseMemory> memory;
  int status = options.gpu ? makeGpuMemory(options.device, memory)
                           : makeCpuMemory(memory);
  if (status != QM_OK) {
    fprintf(stderr, "qm-run-cases: %s\n", qm_last_error());
    return 2;
  }

  int passed = 0, failed = 0;
  for (const std::string &path : cases) {
    CaseFile file;
    CaseResult result;
    const qm_kernel *kernel = nullptr;
    status = readCase(path, file);
    std::string name = status == QM_OK ? file.name : path;
    if (name.find(options.filter) == std::string::npos)
      continue;
    if (status == QM_OK)
      status = libraries.find(file, kernel);
    if (status == QM_OK)
      result = runCase(file, kernel, *memory, options.repeats);
    else
      result.flaw = qm_last_error();
    ++(result.passed ? passed : failed);
    print(name, result, options.repeats > 0);
  }
  if (passed + failed == 0) {
    fprintf(stderr, "qm-run-cases: no case has '%s' in its name\n",
            options.filter.c_str());
    return 2;
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
