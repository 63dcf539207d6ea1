//===- CrashReport.cpp - what is left when the compiler fails -------------===//
#include "qmc/CrashReport.h"
#include "qmc/Interruption.h"

#include "dialect/DiagnosticIds.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace qm::driver;

// A signal handler may only call async-signal-safe functions: everything it
// needs is prepared here beforehand.
static std::string command, input, path, userCode;

static void put(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = ::write(file, text, size);
    if (written <= 0)
      return;
    text += written;
    size -= written;
  }
}
static void put(int file, const char *text) { put(file, text, strlen(text)); }

/// A crash of the user's code is an error of the input.
[[noreturn]] static void reportUserCode(const char *what) {
  put(2, userCode.data(), userCode.size());
  put(2, what);
  put(2, "\nhelp: a spec runs once, when it is compiled; look for a bad "
         "pointer, an endless recursion or a failed assertion in it\n");
  removeTemporaries();
  ::_exit(1);
}

void qm::driver::reportInternalError(const char *what) {
  put(2, "qmc: internal error: ");
  put(2, what);
  put(2, "\nThis is a bug of the compiler, not of the input. Please report it");
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file >= 0) {
    put(file, "// ");
    put(file, command.data(), command.size());
    put(file, "\n// ");
    put(file, what);
    put(file, "\n");
    put(file, input.data(), input.size());
    ::close(file);
    put(2, " with\n  ");
    put(2, path.c_str());
  }
  put(2, "\n");
  removeTemporaries();
  ::_exit(2);
}

static void reportCrash(const char *what) {
  if (!userCode.empty())
    reportUserCode(what);
  reportInternalError(what);
}

static void onSignal(int number) {
  switch (number) {
  case SIGSEGV:
    return reportCrash("segmentation fault");
  case SIGABRT:
    return reportCrash("abort");
  case SIGFPE:
    return reportCrash("arithmetic exception");
  case SIGILL:
    return reportCrash("illegal instruction");
  default:
    return reportCrash("bus error");
  }
}

void qm::driver::installCrashReport(std::string commandLine) {
  command = std::move(commandLine);
  const char *folder = std::getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") + "/qmc-crash-" +
         std::to_string(::getpid()) + ".mlir";

  // LLVM installs handlers of its own when it first makes a temporary file.
  // Made to do so now, it does not put them in front of these later.
  llvm::sys::AddSignalHandler([](void *) {}, nullptr);

  // A stack overflow leaves no stack to report on.
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS})
    ::sigaction(number, &action, nullptr);
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { reportInternalError(reason); });
}

void qm::driver::setCrashInput(std::string text) { input = std::move(text); }

UserCode::UserCode(const llvm::Twine &what) {
  userCode = ("qmc: error: " + diag::code(diag::Id::SpecThrew) + ": " + what +
              " crashed: ")
                 .str();
}
UserCode::~UserCode() { userCode.clear(); }
