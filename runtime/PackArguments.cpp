//===- PackArguments.cpp - a call's values to 64-bit slots ----------------===//

#include "runtime/PackArguments.h"
#include "runtime/CheckTensor.h"
#include "runtime/Error.h"

#include <bit>

using namespace qm::runtime;

namespace {

long long ll(int64_t value) { return value; }

/// Every argument has a value of its kind; no tensor is null.
int checkKinds(const Signature &signature, const qm_value *values) {
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument &argument = signature.arguments[i];
    int32_t expected = !argument.isScalar()              ? QM_TENSOR
                       : argument.dtype == DataType::I32 ? QM_I32
                                                         : QM_F32;
    const char *maker[] = {"", "qm_tensor", "qm_i32", "qm_f32"};
    if (values[i].kind != expected)
      return fail(QM_ERROR_ARGUMENT_KIND,
                  "argument %zu of kernel '%s', '%s', has value kind %d, not "
                  "%d\nhelp: make it with %s",
                  i, signature.kernel.c_str(), argument.name.c_str(),
                  values[i].kind, expected, maker[expected]);
    if (expected == QM_TENSOR && !values[i].as.tensor)
      return fail(QM_ERROR_TENSOR_NULL,
                  "argument %zu of kernel '%s', '%s', is a null tensor\nhelp: "
                  "pass a DLTensor",
                  i, signature.kernel.c_str(), argument.name.c_str());
  }
  return QM_OK;
}

/// The packed tensors by role, and what they must agree on.
class Relations {
public:
  Relations(const Signature &signature, DLDevice device)
      : signature(signature), onHost(device.device_type == kDLCPU) {}

  void add(const View &view, int64_t address) {
    if (view.argument->isLengths())
      lengths[static_cast<int>(view.argument->role) -
              static_cast<int>(Role::CuQ)] =
          reinterpret_cast<const int32_t *>(address);
    if (view.argument->role != Role::Buffer)
      extentsOf[static_cast<int>(view.argument->role)] = view.extents;
    else if (view.empty())
      emptyBuffer = view.name();
  }

  /// Extents of a buffer that are those of the call, or 1.
  int checkFollowed(const View &view) const {
    const Argument &argument = *view.argument;
    const int64_t *q = extents(Role::Q), *k = extents(Role::K);
    const int64_t *starts = extents(Role::CuQ);
    const struct {
      const char *name;
      int64_t extent;
    } followed[] = {
        {"", 0},
        {starts ? "sequences" : "batch entries", starts ? starts[0] - 1 : q[0]},
        {"queries", q[2]},
        {"keys", k[2]}};
    for (size_t i = 0; i < argument.follows.size(); ++i) {
      auto [what, extent] = followed[static_cast<int>(argument.follows[i])];
      if (argument.follows[i] != Follows::Nothing &&
          view.extents[i] != extent && view.extents[i] != 1)
        return fail(QM_ERROR_TENSOR_SHAPE,
                    "extent %d of buffer '%s' is %lld, but the call has %lld "
                    "%s\nhelp: pass one element for each, or one for all",
                    static_cast<int>(i), view.name(), ll(view.extents[i]),
                    ll(extent), what);
    }
    return QM_OK;
  }

  const int64_t *extents(Role role) const {
    return extentsOf[static_cast<int>(role)];
  }

  int check() const {
    for (const Shared &pair : shared)
      if (int status = checkShared(pair))
        return status;
    const int64_t *q = extents(Role::Q), *k = extents(Role::K);
    if (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)
      return fail(
          QM_ERROR_HEAD_GROUPS,
          "'%s' has %lld heads and '%s' has %lld: not a multiple\nhelp: "
          "the query heads are divided evenly among the key heads",
          name(Role::Q), ll(q[1]), name(Role::K), ll(k[1]));
    if (int status = checkRows())
      return status;
    if (int status = checkLengths())
      return status;
    // A gather clamps its index to [0, extent - 1]: there must be an element.
    bool runs = q[0] != 0 && q[1] != 0 && q[2] != 0 && k[2] != 0;
    if (emptyBuffer && runs)
      return fail(
          QM_ERROR_TENSOR_SIZE,
          "buffer '%s' is empty, but the kernel reads it\nhelp: pass at "
          "least one element",
          emptyBuffer);
    return QM_OK;
  }

private:
  /// Extents that two tensors of a call share.
  struct Shared {
    Role first;
    int firstDim;
    Role second;
    int secondDim;
  };
  static constexpr Shared shared[] = {
      {Role::Q, 0, Role::K, 0},      {Role::Q, 0, Role::V, 0},
      {Role::K, 1, Role::V, 1},      {Role::K, 2, Role::V, 2},
      {Role::Q, 3, Role::K, 3},      {Role::Q, 0, Role::O, 0},
      {Role::Q, 1, Role::O, 1},      {Role::Q, 2, Role::O, 2},
      {Role::V, 3, Role::O, 3},      {Role::Q, 0, Role::Lse, 0},
      {Role::Q, 1, Role::Lse, 1},    {Role::Q, 2, Role::Lse, 2},
      {Role::Q, 0, Role::RowMax, 0}, {Role::Q, 1, Role::RowMax, 1},
      {Role::Q, 2, Role::RowMax, 2}, {Role::Q, 0, Role::LenQ, 0},
      {Role::Q, 0, Role::LenKv, 0},  {Role::CuQ, 0, Role::CuKv, 0},
  };

  /// Masks add and subtract lengths and positions in 32 bits.
  int checkRows() const {
    for (Role role : {Role::Q, Role::K})
      if (int64_t rows = extents(role)[2]; rows >= 1 << 30)
        return fail(QM_ERROR_TENSOR_SIZE,
                    "tensor '%s' has %lld rows; sequences have fewer than "
                    "2^30\nhelp: split the call",
                    name(role), ll(rows));
    return QM_OK;
  }

  /// Starts of sequences ascend within the tensor, and lengths are within it.
  /// On a GPU they are not read here: kernels clamp them.
  int checkLengths() const {
    for (Role role : {Role::CuQ, Role::CuKv, Role::LenQ, Role::LenKv}) {
      const int64_t *extent = extents(role);
      if (!extent)
        continue;
      bool starts = role == Role::CuQ || role == Role::CuKv;
      bool ofKeys = role == Role::CuKv || role == Role::LenKv;
      if (starts && extent[0] < 1)
        return fail(QM_ERROR_TENSOR_SIZE,
                    "'%s' is empty\nhelp: it says where each sequence starts "
                    "and where the last one ends",
                    name(role));
      const int32_t *values =
          lengths[static_cast<int>(role) - static_cast<int>(Role::CuQ)];
      int64_t most = extents(ofKeys ? Role::K : Role::Q)[2], least = 0;
      for (int64_t i = 0; onHost && i < extent[0]; ++i) {
        int64_t value = values[i * extent[1]];
        if (value < least || value > most)
          return fail(QM_ERROR_TENSOR_SIZE,
                      "'%s' is %lld at %lld, not from %lld to %lld\nhelp: %s",
                      name(role), ll(value), ll(i), ll(least), ll(most),
                      starts ? "starts of sequences ascend up to the number of "
                               "tokens"
                             : "a length is at most the sequence extent");
        least = starts ? value : 0;
      }
    }
    return QM_OK;
  }

  int checkShared(const Shared &pair) const {
    const int64_t *first = extents(pair.first), *second = extents(pair.second);
    if (!first || !second || first[pair.firstDim] == second[pair.secondDim])
      return QM_OK; // there may be no lse
    return fail(
        QM_ERROR_TENSOR_SHAPE,
        "extent %d of '%s' is %lld but extent %d of '%s' is %lld\nhelp: "
        "they must be equal",
        pair.firstDim, name(pair.first), ll(first[pair.firstDim]),
        pair.secondDim, name(pair.second), ll(second[pair.secondDim]));
  }

  const char *name(Role role) const {
    const int at[roleCount] = {signature.q,
                               signature.k,
                               signature.v,
                               -1,
                               -1,
                               signature.o,
                               signature.lse,
                               signature.rowMax,
                               signature.cuQ,
                               signature.cuKv,
                               signature.lenQ,
                               signature.lenKv};
    return signature.arguments[at[static_cast<int>(role)]].name.c_str();
  }

  const Signature &signature;
  bool onHost;
  // By role, strides after extents; none for buffers and scalars.
  const int64_t *extentsOf[roleCount] = {};
  const int32_t *lengths[4] = {}; // of the roles from CuQ on
  const char *emptyBuffer = nullptr;
};

} // namespace

int64_t PackedCallHead::tiles(int64_t tileM) const {
  int64_t heads = batch * queryHeads; // each at most 2^31
  int64_t rows = (queries + tileM - 1) / tileM;
  if (sequences >= 0)
    rows = sequences == 0 ? 0 : queries / tileM + sequences;
  int64_t product;
  if (__builtin_mul_overflow(heads, rows, &product) || product > INT32_MAX)
    return -1;
  return product;
}

int qm::runtime::packArguments(const Signature &signature,
                               const qm_value *values, size_t count,
                               PackedCall &packed) {
  if (count != signature.arguments.size())
    return fail(QM_ERROR_ARGUMENT_COUNT,
                "the call has %zu arguments, kernel '%s' takes %zu\nhelp: pass "
                "inputs, then outputs, in the order of qm_kernel_get_argument",
                count, signature.kernel.c_str(), signature.arguments.size());
  if (!values)
    return fail(QM_ERROR_NULL_ARGUMENT,
                "the arguments of kernel '%s' are null\nhelp: pass an array of "
                "qm_value",
                signature.kernel.c_str());

  if (int status = checkKinds(signature, values))
    return status;
  if (int status = chooseDevice(signature, values, packed.device))
    return status;

  Relations relations(signature, packed.device);
  int64_t *slot = packed.slots;
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = signature.arguments[i];
    if (argument.isScalar()) {
      *slot++ = argument.dtype == DataType::I32
                    ? static_cast<int64_t>(values[i].as.i32)
                    : std::bit_cast<uint32_t>(values[i].as.f32);
      continue;
    }
    View view{&argument, values[i].as.tensor, slot + 1,
              slot + 1 + argument.rank(), signature.isPacked()};
    if (int status = checkTensor(view, packed.device, *slot))
      return status;
    relations.add(view, *slot);
    slot += argument.slots();
  }
  if (int status = relations.check())
    return status;
  slot = packed.slots;
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = signature.arguments[i];
    View view{&argument, values[i].as.tensor, slot + 1, nullptr};
    if (int status = relations.checkFollowed(view))
      return status;
    slot += argument.slots();
  }
  const int64_t *q = relations.extents(Role::Q);
  packed.batch = q[0];
  packed.queryHeads = q[1];
  packed.queries = q[2];
  if (const int64_t *starts = relations.extents(Role::CuQ))
    packed.sequences = starts[0] - 1;
  return QM_OK;
}

int qm::runtime::failTooManyTiles(const Signature &signature,
                                  const PackedCall &call, int64_t tileM) {
  return fail(QM_ERROR_INDEX_RANGE,
              "kernel '%s' is called with %lld batches, %lld heads and %lld "
              "queries in tiles of %lld: more than %d tiles\nhelp: split the "
              "call",
              signature.kernel.c_str(), ll(call.batch), ll(call.queryHeads),
              ll(call.queries), ll(tileM), INT32_MAX);
}
