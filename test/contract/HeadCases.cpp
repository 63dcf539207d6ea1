// Groups of heads, strides, and head dims whose last element counts.
#include "test/contract/RowCases.h"

#include <cmath>

using namespace qm;
using namespace qm::contract;

/// V of kv head g is 10 g everywhere, so O[h] = 10 floor(h / group).
static RowCase groups(const std::string &name, int64_t heads, int64_t kvHeads,
                      int64_t queries, int64_t keys) {
  RowCase result{name + "_" + std::to_string(heads) + "on" +
                     std::to_string(kvHeads),
                 heads, kvHeads, [](Spec &) {}};
  RowCall call = probe(queries, keys,
                       [](int64_t, int64_t, int64_t, int64_t) { return true; });
  call.make = [make = call.make](Element type, Shape shape) {
    Call call = make(type, shape);
    for (int64_t g = 0; g < shape.kvHeads; ++g)
      call.v.slice(1, g, 1).fill(10 * g);
    return call;
  };
  result.calls.push_back(call);
  return result;
}

// K is every second row of a buffer with NaN between, V is contiguous.
static RowCase everySecondRow() {
  RowCase result{"Row31_EverySecondRow", 2, 1,
                 [](Spec &spec) { spec.mask(causal(BottomRight)); }};
  RowCall call = random(70, 130, 2);
  call.make = [make = call.make](Element type, Shape shape) {
    Call call = make(type, shape);
    Tensor rows(type, {2, shape.kvHeads, 2 * 130, shape.headDim});
    rows.fill(std::nan(""));
    TensorView view = rows.view;
    view.extents[2] = 130;
    view.strides[2] *= 2;
    Tensor second(rows, view);
    copy(call.k, second);
    call.k = second;
    return call;
  };
  result.calls.push_back(call);
  return result;
}

// q, k and v are views of one [B, S, heads + 2 kvHeads, D]; O is [B, S, H, D].
static RowCase packed(int64_t heads, int64_t kvHeads) {
  RowCase result{"Row31_PackedQkv_" + std::to_string(heads) + "on" +
                     std::to_string(kvHeads),
                 heads, kvHeads,
                 [](Spec &spec) { spec.mask(causal(TopLeft)); }};
  RowCall call = random(75, 75, 2);
  call.make = [=, make = call.make](Element type, Shape shape) {
    Call call = make(type, shape);
    int64_t b = 2, s = 75, d = shape.headDim;
    Tensor qkv(type, {b, s, heads + 2 * kvHeads, d});
    Tensor o(type, {b, s, heads, d});
    auto bhsd = [](const Tensor &tensor) {
      TensorView view = tensor.view;
      std::swap(view.extents[1], view.extents[2]);
      std::swap(view.strides[1], view.strides[2]);
      return Tensor(tensor, view);
    };
    int64_t first = 0;
    for (Tensor *tensor : {&call.q, &call.k, &call.v}) {
      int64_t count = tensor->view.extents[1];
      Tensor part = bhsd(qkv).slice(1, first, count);
      copy(*tensor, part);
      *tensor = part;
      first += count;
    }
    call.o = bhsd(o);
    call.o.fill(std::nan(""));
    return call;
  };
  result.calls.push_back(call);
  return result;
}

// One K and V row for all batches, and one for all positions.
static RowCase broadcast() {
  RowCase result{"Row31_StrideZero", 2, 1, [](Spec &) {}};
  for (unsigned dim : {0, 2}) {
    RowCall call = random(40, 100, 3);
    call.name += dim == 0 ? "_batch" : "_position";
    call.make = [make = call.make, dim](Element type, Shape shape) {
      Call call = make(type, shape);
      for (Tensor *tensor : {&call.k, &call.v})
        tensor->view.strides[dim] = 0;
      return call;
    };
    result.calls.push_back(call);
  }
  return result;
}

// Only the last element of q and k is not 0, so losing it changes everything.
static RowCase lastElement(int64_t headDim, int64_t valueDim) {
  RowCase result{"Row34_LastElementOfHeadDim", 2, 1,
                 [](Spec &spec) { spec.scale(1); }};
  if (headDim) {
    result.name +=
        "_" + std::to_string(headDim) + "x" + std::to_string(valueDim);
    result.headDim = headDim;
    result.valueDim = valueDim;
  }
  RowCall call = random(33, 70);
  call.make = [make = call.make](Element type, Shape shape) {
    Call call = make(type, shape);
    for (const Tensor *tensor : {&call.q, &call.k}) {
      const TensorView &view = tensor->view;
      tensor->forEach([&](auto at) {
        double last = tensor == &call.q ? 1 : (at[2] % 16 - 8) / 4.0;
        storeFloat(view, view.offset(at),
                   at[3] == shape.headDim - 1 ? last : 0);
      });
    }
    return call;
  };
  result.calls.push_back(call);
  return result;
}

std::vector<RowCase> qm::contract::headCases() {
  std::vector<RowCase> list;
  const std::pair<int64_t, int64_t> pairs[] = {
      {32, 8}, {28, 4}, {12, 2}, {48, 2}, {40, 2}, {6, 2}, {71, 1}};
  for (auto [heads, kvHeads] : pairs) {
    // Rows of several groups, and one row a head as in decoding.
    list.push_back(groups("Row12_Groups", heads, kvHeads, 5, 33));
    list.back().calls.push_back(
        groups("", heads, kvHeads, 1, 70).calls.front());
  }
  list.push_back(groups("Row13_Decode", 28, 4, 1, 300));
  list.push_back(groups("Row13_Decode", 12, 2, 1, 200));
  list.push_back(everySecondRow());
  list.push_back(packed(16, 1));
  list.push_back(packed(4, 2));
  list.push_back(broadcast());
  // The setting's head dim, and dims that no tile divides.
  for (auto [headDim, valueDim] : {std::pair<int64_t, int64_t>(0, 0),
                                   {8, 8},
                                   {40, 40},
                                   {72, 72},
                                   {80, 80},
                                   {96, 96},
                                   {160, 160},
                                   {192, 192},
                                   {256, 256},
                                   {192, 128},
                                   {64, 24},
                                   {8, 120},
                                   {40, 256}})
    list.push_back(lastElement(headDim, valueDim));
  return list;
}
