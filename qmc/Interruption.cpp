//===- Interruption.cpp - what a signal may not leave behind --------------===//
#include "qmc/Interruption.h"

#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <unistd.h>

using namespace qm::driver;

// Whoever takes a name out of its slot owns it: a handler may come at any time.
static std::atomic<char *> folders[256];
static std::mutex mutex;

void qm::driver::removeFolderOnSignal(llvm::StringRef path) {
  std::lock_guard lock(mutex);
  // After the last one in use, since order matters.
  size_t slot = std::size(folders);
  while (slot > 0 && !folders[slot - 1])
    --slot;
  if (slot < std::size(folders))
    folders[slot] = ::strdup(path.str().c_str());
}

void qm::driver::keepFolderOnSignal(llvm::StringRef path) {
  std::lock_guard lock(mutex);
  for (std::atomic<char *> &slot : folders)
    if (char *name = slot; name && path == name)
      std::free(slot.exchange(nullptr));
}

void qm::driver::removeTemporaries() {
  llvm::sys::RunInterruptHandlers();
  for (size_t slot = std::size(folders); slot > 0; --slot)
    if (char *name = folders[slot - 1].exchange(nullptr))
      ::rmdir(name);
}

static void onSignal(int number) {
  removeTemporaries();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void qm::driver::installInterruption() {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {}, before = {};
    action.sa_handler = onSignal;
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) // nohup
      ::sigaction(number, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}
