//===- Console.cpp - messages that point at no source line ----------------===//
#include "qmc/Console.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {
SmallVector<std::string> arguments;
bool verboseOutput = false;

/// One message at a time; the status line makes way for it.
std::recursive_mutex mutex;
bool statusShown = false;

class Message {
public:
  Message() : lock(mutex) {
    if (statusShown)
      errs() << "\r\x1b[K";
    statusShown = false;
  }

private:
  std::lock_guard<std::recursive_mutex> lock;
};

std::string quoted(StringRef argument) {
  bool plain = !argument.empty() && all_of(argument, [](char c) {
    return isAlnum(c) || StringRef("-_=./,:+@%").contains(c);
  });
  return plain ? argument.str() : "'" + argument.str() + "'";
}

/// How well `argument` is what `part` means: a word of its own, the value of a
/// flag, or some part of it.
unsigned matchQuality(StringRef argument, StringRef part) {
  if (argument == part)
    return 3;
  if (argument.ends_with(("=" + part).str()) ||
      argument.starts_with((part + "=").str()))
    return 2;
  return argument.contains(part);
}

/// Columns of a terminal.
size_t width(StringRef text) {
  int columns = sys::unicode::columnWidthUTF8(text);
  return columns < 0 ? text.size() : columns;
}

/// The command line with a caret under `part`.
void printCommandLine(StringRef part) {
  if (arguments.empty()) // used as a library
    return;
  const auto *best = std::max_element(
      arguments.begin() + 1, arguments.end(), [&](auto &a, auto &b) {
        return matchQuality(a, part) < matchQuality(b, part);
      });
  if (best == arguments.end() || !matchQuality(*best, part))
    return;
  std::string line;
  size_t column = 0;
  for (const std::string &argument : arguments) {
    std::string word = quoted(argument);
    line += line.empty() ? "" : " ";
    if (&argument == best) // the value rather than the name: --spec=spec
      column = width(line) + width(word.substr(0, word.rfind(part.str())));
    line += word;
  }
  errs() << "  " << line << "\n  " << std::string(column, ' ');
  WithColor(errs(), raw_ostream::GREEN, /*Bold=*/true)
      << '^' << std::string(width(part) - 1, '~');
  errs() << '\n';
}

void printHelp(const Twine &help) {
  std::string way = help.str();
  if (way.empty())
    return;
  WithColor(errs(), HighlightColor::Note) << "help: ";
  errs() << way << '\n';
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
  Message begin;
  WithColor::error(errs(), "qmc") << diag::code(id) << ": " << message << '\n';
  if (!argument.empty())
    printCommandLine(argument);
  printHelp(help);
  return failure();
}

void qm::driver::reportWarning(diag::Id id, const Twine &message,
                               const Twine &help) {
  Message begin;
  WithColor::warning(errs(), "qmc")
      << diag::code(id) << ": " << message << '\n';
  printHelp(help);
}

void qm::driver::reportNote(const Twine &message) {
  Message begin;
  WithColor::note() << message << '\n';
}

void qm::driver::setVerbose(bool verbose) { verboseOutput = verbose; }

void qm::driver::setStatus(const Twine &text) {
  static const bool isTerminal = errs().is_displayed();
  if (!isTerminal)
    return;
  Message begin;
  std::string line = text.str();
  constexpr size_t width = 79; // a longer line would wrap and stay
  errs() << line.substr(0, width);
  statusShown = !line.empty();
}

void qm::driver::reportProgress(const Twine &message) {
  if (!verboseOutput)
    return;
  Message begin;
  errs() << "qmc: " << message << '\n';
}
