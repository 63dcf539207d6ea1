//===- CrashReport.cpp - what is left when the compiler fails -------------===//
#include "qmc/CrashReport.h"

#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace qm::driver;

// A signal handler may only call async-signal-safe functions: everything it
// needs is prepared here beforehand.
static std::string command, input, path;

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
  ::_exit(2);
}

static void onSignal(int number) {
  switch (number) {
  case SIGSEGV:
    reportInternalError("segmentation fault");
  case SIGABRT:
    reportInternalError("abort");
  case SIGFPE:
    reportInternalError("arithmetic exception");
  case SIGILL:
    reportInternalError("illegal instruction");
  default:
    reportInternalError("bus error");
  }
}

void qm::driver::installCrashReport(std::string commandLine) {
  command = std::move(commandLine);
  const char *folder = std::getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") + "/qmc-crash-" +
         std::to_string(::getpid()) + ".mlir";

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
