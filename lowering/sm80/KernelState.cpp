// Thread coordinates, addresses, and control flow.
#include "lowering/sm80/KernelState.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

Thread qm::sm80::readThread(LocBuilder &b, bool again) {
  Int index(b, nvvm::readSpecial(b, nvvm::Special::ThreadX, again));
  if (again)
    return {index, index % 32, index / 32};
  return {index, index % 32, {b, nvvm::broadcastLane0(b, index / 32)}};
}

Int KernelState::rowAddress(Value tensor, Value batch, Value head, Int row,
                            bool ofKeys) const {
  return arguments.rowAddress(tensor, scalar(batch), scalar(head), row, ofKeys);
}
