//===- ErrorMeasure.cpp - how far results are from the truth --------------===//
#include "qmc/ErrorMeasure.h"

#include <cmath>
#include <limits>

using namespace qm;
using namespace qm::driver;
using reference::DType;
using reference::Output;
using reference::TensorView;

Output qm::driver::readOutput(const TensorView &o, const TensorView *lse,
                              const TensorView *rowMax) {
  Output output;
  output.batch = o.extents[0];
  output.heads = o.extents[1];
  output.rows = o.extents[2];
  output.columns = o.extents[3];
  for (int64_t b = 0; b < output.batch; ++b)
    for (int64_t h = 0; h < output.heads; ++h)
      for (int64_t i = 0; i < output.rows; ++i) {
        for (int64_t d = 0; d < output.columns; ++d)
          output.o.push_back(loadFloat(o, o.offset({b, h, i, d})));
        if (lse)
          output.lse.push_back(loadFloat(*lse, lse->offset({b, h, i})));
        if (rowMax)
          output.rowMax.push_back(
              loadFloat(*rowMax, rowMax->offset({b, h, i})));
      }
  return output;
}

static double distance(double got, double truth) {
  if (got == truth || (std::isnan(got) && std::isnan(truth)))
    return 0;
  double difference = std::fabs(got - truth);
  return std::isfinite(difference) ? difference
                                   : std::numeric_limits<double>::infinity();
}

static double largest(llvm::ArrayRef<double> values) {
  double result = 0;
  for (double value : values)
    if (std::isfinite(value))
      result = std::max(result, std::fabs(value));
  return result;
}

Errors qm::driver::measureErrors(const Output &got, const Output &truth) {
  Errors errors;
  double threshold = 0.01 * largest(truth.o), squares = 0;
  for (size_t at = 0; at < truth.o.size(); ++at) {
    double error = distance(got.o[at], truth.o[at]);
    errors.maxAbs = std::max(errors.maxAbs, error);
    if (std::fabs(truth.o[at]) >= threshold && truth.o[at] != 0)
      errors.maxRel = std::max(errors.maxRel, error / std::fabs(truth.o[at]));
    squares += error * error;
  }
  if (!truth.o.empty())
    errors.rms = std::sqrt(squares / truth.o.size());
  for (size_t at = 0; at < got.lse.size(); ++at)
    errors.lse = std::max(errors.lse, distance(got.lse[at], truth.lse[at]));
  for (size_t at = 0; at < got.rowMax.size(); ++at)
    errors.rowMax =
        std::max(errors.rowMax, distance(got.rowMax[at], truth.rowMax[at]));
  return errors;
}

Bounds qm::driver::makeBounds(const Errors &yardstick, const Output &truth,
                              DType outputType, double operandRoundoff) {
  double ulps = outputType == DType::F16    ? 0x1p-11
                : outputType == DType::BF16 ? 0x1p-8 / 2
                                            : 4 * 0x1p-23;
  Bounds bounds;
  bounds.o = std::max(2 * yardstick.maxAbs,
                      std::max(ulps, 2 * operandRoundoff) * largest(truth.o));
  auto statistic = [&](double error, llvm::ArrayRef<double> values) {
    return std::max(2 * error, 4 * 0x1p-23 * std::max(1.0, largest(values)));
  };
  bounds.lse = statistic(yardstick.lse, truth.lse);
  bounds.rowMax = statistic(yardstick.rowMax, truth.rowMax);
  return bounds;
}
