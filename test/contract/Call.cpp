//===- Call.cpp - the tensors of one call of a contract test --------------===//
#include "test/contract/Call.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace qm;
using namespace qm::contract;
using reference::HostTensor;

Tensor::Tensor(Element type, llvm::ArrayRef<int64_t> extents)
    : memory(std::make_shared<HostTensor>(type, extents)),
      view(memory->view()) {}

Tensor::Tensor(const Tensor &owner, TensorView view)
    : memory(owner.memory), view(std::move(view)) {}

int64_t Tensor::offsetBytes() const {
  return static_cast<uint8_t *>(view.data) - memory->bytes().data();
}

Tensor Tensor::slice(unsigned dim, int64_t first, int64_t count) const {
  TensorView part = view;
  part.extents[dim] = count;
  part.data = static_cast<uint8_t *>(view.data) +
              first * view.strides[dim] * runtime::bytesPerElement(view.dtype);
  return Tensor(*this, std::move(part));
}

void Tensor::forEach(
    llvm::function_ref<void(llvm::ArrayRef<int64_t>)> f) const {
  llvm::SmallVector<int64_t, 4> index(view.rank(), 0);
  for (int64_t left = view.numElements(); left > 0; --left) {
    f(index);
    for (unsigned dim = view.rank(); dim-- > 0;) {
      if (++index[dim] < view.extents[dim])
        break;
      index[dim] = 0;
    }
  }
}

void Tensor::fill(double value) const {
  forEach([&](auto index) { storeFloat(view, view.offset(index), value); });
}

std::vector<double> Tensor::values() const {
  std::vector<double> result;
  forEach([&](auto index) {
    result.push_back(loadFloat(view, view.offset(index)));
  });
  return result;
}

void qm::contract::copy(const Tensor &from, const Tensor &to) {
  from.forEach([&](auto index) {
    storeFloat(to.view, to.view.offset(index),
               loadFloat(from.view, from.view.offset(index)));
  });
}

std::vector<reference::Argument> Call::inputs() const {
  std::vector<reference::Argument> arguments = {q.view, k.view, v.view};
  for (const auto &capture : captures)
    if (const auto *tensor = std::get_if<Tensor>(&capture))
      arguments.push_back(tensor->view);
    else if (const auto *integer = std::get_if<int32_t>(&capture))
      arguments.push_back(*integer);
    else
      arguments.push_back(std::get<float>(capture));
  return arguments;
}

std::vector<reference::Argument> Call::all() const {
  std::vector<reference::Argument> arguments = inputs();
  arguments.push_back(o.view);
  arguments.push_back(lse.view);
  if (rowMax.memory)
    arguments.push_back(rowMax.view);
  return arguments;
}

Shape Call::shape() const {
  return {q.view.extents[2], k.view.extents[2], q.view.extents[0],
          q.view.extents[1], k.view.extents[1], q.view.extents[3],
          v.view.extents[3]};
}

void Call::resetOutputs() {
  Shape s = shape();
  o = Tensor(q.view.dtype, {s.batch, s.heads, s.queries, s.valueDim});
  lse = Tensor(Element::F32, {s.batch, s.heads, s.queries});
  o.fill(std::nan(""));
  lse.fill(std::nan(""));
  if (rowMax.memory)
    addRowMax();
}

void Call::addRowMax() {
  rowMax = Tensor(Element::F32, lse.view.extents);
  rowMax.fill(std::nan(""));
}

Call qm::contract::randomCall(Element type, const Shape &shape, unsigned seed) {
  Call call;
  call.q =
      Tensor(type, {shape.batch, shape.heads, shape.queries, shape.headDim});
  call.k =
      Tensor(type, {shape.batch, shape.kvHeads, shape.keys, shape.headDim});
  call.v =
      Tensor(type, {shape.batch, shape.kvHeads, shape.keys, shape.valueDim});
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  for (const Tensor *tensor : {&call.q, &call.k, &call.v})
    tensor->forEach([&](auto index) {
      storeFloat(tensor->view, tensor->view.offset(index), normal(generator));
    });
  call.resetOutputs();
  return call;
}

Call qm::contract::uniformProbe(Element type, const Shape &shape) {
  Call call = randomCall(type, shape);
  call.q.fill(0);
  const TensorView &k = call.k.view, &v = call.v.view;
  call.k.forEach([&](auto at) {
    storeFloat(k, k.offset(at), (at[2] + 3 * at[3]) % 8 - 3);
  });
  call.v.forEach([&](auto at) { storeFloat(v, v.offset(at), at[2]); });
  return call;
}

Call qm::contract::k4Call(Element type, const Shape &shape) {
  const double q[] = {1, 2, -1, 0.5}, k[] = {0.5, -1, 2, 1}, v[] = {1, 2, 3, 4};
  Call call = randomCall(type, shape);
  auto set = [](const Tensor &tensor, const double *values, bool allColumns) {
    tensor.forEach([&](auto at) {
      storeFloat(tensor.view, tensor.view.offset(at),
                 allColumns || at[3] == 0 ? values[at[2]] : 0);
    });
  };
  set(call.q, q, false);
  set(call.k, k, false);
  set(call.v, v, true);
  return call;
}

Tensor qm::contract::tokensOutermost(const Tensor &tensor) {
  llvm::ArrayRef<int64_t> extents = tensor.view.extents;
  int64_t heads = extents[1], tokens = extents[2], columns = extents[3];
  Tensor result(tensor.view.dtype, {extents[0], tokens, heads, columns});
  result.view.extents = tensor.view.extents;
  result.view.strides = {tokens * heads * columns, columns, heads * columns, 1};
  copy(tensor, result);
  return result;
}

Tensor qm::contract::vectorOf(Element type, llvm::ArrayRef<int64_t> values) {
  Tensor tensor(type, {int64_t(values.size())});
  for (size_t at = 0; at < values.size(); ++at)
    storeInteger(tensor.view, at, values[at]);
  return tensor;
}
