//===- CallCache.cpp - the last calls that were found right ---------------===//

#include "runtime/CallCache.h"

#include <cstring>

using namespace qm::runtime;

/// False for a call that is too large, or that packArguments has something to
/// say about before it reads a tensor's layout.
bool CallCache::Key::read(const Signature &signature, const qm_value *values,
                          size_t n) {
  if (!values || n != signature.arguments.size())
    return false;
  count = 0;
  for (size_t i = 0; i < n; ++i) {
    const qm_value &value = values[i];
    const Argument &argument = signature.arguments[i];
    if (value.kind != QM_TENSOR) {
      if (count + 2 > maxWords || !argument.isScalar())
        return false;
      words[count++] = value.kind;
      words[count++] = value.as.i32; // of an f32 its bits
      continue;
    }
    const DLTensor *tensor = value.as.tensor;
    // A shape is read as far as the checks read it: a tensor of a higher rank
    // is refused whatever its shape says.
    if (argument.isScalar() || !tensor || tensor->ndim < 0 ||
        static_cast<size_t>(tensor->ndim) > argument.shape.size() ||
        (tensor->ndim > 0 && !tensor->shape))
      return false;
    size_t rank = static_cast<size_t>(tensor->ndim);
    if (count + 5 + 2 * rank > maxWords)
      return false;
    words[count++] = reinterpret_cast<intptr_t>(tensor->data);
    words[count++] = static_cast<int64_t>(tensor->byte_offset);
    static_assert(sizeof tensor->device == 8 && sizeof tensor->dtype == 4);
    memcpy(&words[count++], &tensor->device, sizeof tensor->device);
    int32_t type = 0;
    memcpy(&type, &tensor->dtype, sizeof type);
    words[count++] = static_cast<int64_t>(rank) << 32 | (type & 0xffffffffll);
    words[count++] = tensor->strides != nullptr;
    memcpy(&words[count], tensor->shape, rank * sizeof(int64_t));
    count += rank;
    if (tensor->strides) {
      memcpy(&words[count], tensor->strides, rank * sizeof(int64_t));
      count += rank;
    }
  }
  return count != 0;
}

bool CallCache::get(const Signature &signature, const qm_value *values,
                    size_t count, PackedCall &packed) {
  Key key;
  if (!key.read(signature, values, count) ||
      taken.test_and_set(std::memory_order_acquire))
    return false;
  bool found = false;
  for (const Call &call : kept)
    if (call.key.count == key.count &&
        memcmp(call.key.words, key.words, key.count * sizeof(int64_t)) == 0) {
      static_cast<PackedCallHead &>(packed) = call.head;
      memcpy(packed.slots, call.slots, signature.slots * sizeof(int64_t));
      found = true;
      break;
    }
  taken.clear(std::memory_order_release);
  return found;
}

void CallCache::put(const Signature &signature, const qm_value *values,
                    size_t count, const PackedCall &packed) {
  Key key;
  if (static_cast<size_t>(signature.slots) > maxKept ||
      !key.read(signature, values, count) ||
      taken.test_and_set(std::memory_order_acquire))
    return;
  Call &call = kept[oldest];
  oldest = (oldest + 1) % calls;
  call.key = key;
  call.head = packed;
  memcpy(call.slots, packed.slots, signature.slots * sizeof(int64_t));
  taken.clear(std::memory_order_release);
}
