//===- RandomData.cpp - reproducible data for a spec ----------------------===//
#include "qmc/RandomData.h"

#include "llvm/Support/xxhash.h"

#include <cmath>
#include <numbers>

using namespace llvm;
using namespace qm;
using namespace qm::driver;
using reference::TensorView;

namespace {

/// SplitMix64: a well-mixed number for each counter value.
uint64_t mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// In (0, 1].
double uniform(uint64_t stream, uint64_t counter) {
  return ((mix(stream ^ mix(counter)) >> 11) + 1) * 0x1p-53;
}

uint64_t streamOf(uint64_t seed, StringRef name) {
  return mix(seed) ^ xxh3_64bits(name);
}

/// Calls `visit(position, offset)` for each element in row-major order.
template <typename Visit>
void forEachElement(const TensorView &tensor, Visit visit) {
  int64_t count = tensor.numElements();
  SmallVector<int64_t> index(tensor.rank(), 0);
  for (int64_t position = 0; position < count; ++position) {
    visit(position, tensor.offset(index));
    for (int dimension = tensor.rank() - 1;
         dimension >= 0 && ++index[dimension] == tensor.extents[dimension];
         --dimension)
      index[dimension] = 0;
  }
}

} // namespace

void qm::driver::fillNormal(const TensorView &tensor, uint64_t seed,
                            StringRef name) {
  uint64_t stream = streamOf(seed, name);
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    // Box and Muller.
    double radius = std::sqrt(-2 * std::log(uniform(stream, 2 * position)));
    double angle = 2 * std::numbers::pi * uniform(stream, 2 * position + 1);
    storeFloat(tensor, offset, radius * std::cos(angle));
  });
}

void qm::driver::fillIntegers(const TensorView &tensor, uint64_t seed,
                              StringRef name, IntegerFill fill, int64_t limit) {
  uint64_t stream = streamOf(seed, name);
  int64_t columns = tensor.rank() ? tensor.extents.back() : 1;
  int64_t id = 0;
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    double random = uniform(stream, position);
    int64_t value = 0;
    switch (fill) {
    case IntegerFill::Documents:
      // A new document begins at one position in columns / 8.
      id = position % columns == 0 ? 0 : id + (random * columns <= 8);
      value = id;
      break;
    case IntegerFill::Lengths:
      value = limit - static_cast<int64_t>(random * (limit / 2 + 1) * 0.999999);
      break;
    case IntegerFill::Ragged:
      value = position == 0    ? limit
              : random < 0.125 ? 0
                               : static_cast<int64_t>(random * limit);
      break;
    case IntegerFill::Flags:
      value = random > 0.125;
      break;
    }
    storeInteger(tensor, offset, value);
  });
}
