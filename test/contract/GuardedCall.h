//===- GuardedCall.h - a call beside forbidden pages ------------*- C++ -*-===//
#pragma once

#include "test/contract/Call.h"
#include "test/contract/GuardedMemory.h"

namespace qm::contract {

/// Copies every tensor of the call to memory that ends (or begins) at a page
/// that must not be touched.
class GuardedCall {
public:
  GuardedCall(Call from, bool atEnd) : call(std::move(from)) {
    for (Tensor *tensor : {&call.q, &call.k, &call.v, &call.o, &call.lse})
      guard(*tensor, atEnd);
    for (auto &capture : call.captures)
      guard(std::get<Tensor>(capture), atEnd);
  }
  Call call;

private:
  void guard(Tensor &tensor, bool atEnd) {
    size_t bytes =
        tensor.view.numElements() * runtime::bytesPerElement(tensor.view.dtype);
    memory.push_back(std::make_unique<GuardedMemory>(bytes, atEnd));
    Tensor copied = tensor;
    copied.view.data = memory.back()->data();
    copy(tensor, copied);
    tensor = copied;
  }
  std::vector<std::unique_ptr<GuardedMemory>> memory;
};

} // namespace qm::contract
