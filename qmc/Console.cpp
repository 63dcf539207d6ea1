//===- Console.cpp - messages that point at no source line ----------------===//
#include "qmc/Console.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {
SmallVector<std::string> arguments;
bool verboseOutput = false;

std::string quoted(StringRef argument) {
  bool plain = !argument.empty() && all_of(argument, [](char c) {
    return isAlnum(c) || StringRef("-_=./,:+@%").contains(c);
  });
  return plain ? argument.str() : "'" + argument.str() + "'";
}

/// The command line with a caret under the first argument that holds `part`.
void printCommandLine(StringRef part) {
  size_t column = StringRef::npos, length = 0;
  std::string line;
  for (const std::string &argument : arguments) {
    std::string word = quoted(argument);
    size_t found = StringRef(word).find(part);
    if (column == StringRef::npos && found != StringRef::npos &&
        !line.empty()) {
      column = line.size() + 1 + found;
      length = part.size();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (column == StringRef::npos)
    return;
  errs() << "  " << line << "\n  " << std::string(column, ' ');
  WithColor(errs(), raw_ostream::GREEN, /*Bold=*/true)
      << '^' << std::string(length - 1, '~');
  errs() << '\n';
}
} // namespace

void qm::driver::initConsole(int argc, char **argv) {
  arguments.assign(argv, argv + argc);
  if (argc > 0)
    arguments[0] = "qmc";
  if (const char *noColor = std::getenv("NO_COLOR"); noColor && *noColor)
    errs().enable_colors(false);
}

std::string qm::driver::commandLine() {
  std::string line;
  for (const std::string &argument : arguments)
    line += (line.empty() ? "" : " ") + quoted(argument);
  return line;
}

LogicalResult qm::driver::reportError(diag::Id id, const Twine &message,
                                      StringRef argument, const Twine &help) {
  WithColor::error(errs(), "qmc") << diag::code(id) << ": " << message << '\n';
  if (!argument.empty())
    printCommandLine(argument);
  std::string way = help.str();
  if (!way.empty()) {
    WithColor(errs(), HighlightColor::Note) << "help: ";
    errs() << way << '\n';
  }
  return failure();
}

void qm::driver::reportNote(const Twine &message) {
  WithColor::note() << message << '\n';
}

void qm::driver::setVerbose(bool verbose) { verboseOutput = verbose; }

void qm::driver::reportProgress(const Twine &message) {
  if (verboseOutput)
    errs() << "qmc: " << message << '\n';
}
