//===- RowCases.cpp - running the list of users' reports ------------------===//
#include "test/contract/RowCases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace qm;
using namespace qm::contract;

llvm::ArrayRef<Setting> qm::contract::cpuSettings() {
  static const Setting settings[] = {
      {Element::F32, 17}, {Element::BF16, 64}, {Element::F16, 128}};
  return settings;
}

Shape RowCase::shape(Setting setting) const {
  Shape shape;
  shape.heads = heads;
  shape.kvHeads = kvHeads;
  shape.headDim = headDim ? headDim : setting.headDim;
  shape.valueDim = valueDim ? valueDim : setting.headDim;
  return shape;
}

static RowCall make(llvm::function_ref<Call(Element, const Shape &)> data,
                    int64_t queries, int64_t keys, int64_t batch,
                    Captures captures, Keep keep) {
  RowCall call;
  call.name = std::to_string(queries) + "x" + std::to_string(keys);
  call.make = [=, data = std::function(data)](Element type, Shape shape) {
    shape.queries = queries;
    shape.keys = keys;
    shape.batch = batch;
    Call made = data(type, shape);
    made.captures = captures;
    return made;
  };
  call.keep = std::move(keep);
  return call;
}

RowCall qm::contract::probe(int64_t queries, int64_t keys, Keep keep,
                            int64_t batch, Captures captures) {
  return make(uniformProbe, queries, keys, batch, std::move(captures),
              std::move(keep));
}

RowCall qm::contract::random(int64_t queries, int64_t keys, int64_t batch,
                             Captures captures) {
  return make(
      [](Element type, const Shape &shape) { return randomCall(type, shape); },
      queries, keys, batch, std::move(captures), {});
}

Truth qm::contract::uniformTruth(const Call &call, const Keep &keep,
                                 double shift) {
  Shape shape = call.shape();
  int64_t group = shape.heads / shape.kvHeads;
  const std::vector<double> v = call.v.values();
  Truth truth;
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t h = 0; h < shape.heads; ++h)
      for (int64_t i = 0; i < shape.queries; ++i) {
        std::vector<double> sums(shape.valueDim, 0.0);
        int64_t count = 0;
        for (int64_t j = 0; j < shape.keys; ++j) {
          if (!keep(b, h, i, j))
            continue;
          ++count;
          const double *row =
              &v[((b * shape.kvHeads + h / group) * shape.keys + j) *
                 shape.valueDim];
          for (int64_t c = 0; c < shape.valueDim; ++c)
            sums[c] += row[c];
        }
        for (double sum : sums)
          truth.o.push_back(count ? sum / count : 0);
        truth.lse.push_back(count ? shift + std::log(double(count))
                                  : -std::numeric_limits<double>::infinity());
      }
  // Probabilities are 1 and the sums whole numbers, all exact; what rounds is
  // the division (as a reciprocal and a product) and the result.
  truth.oRelative = unitRoundoff(call.o.view.dtype) + 4 * 0x1p-24;
  double largest =
      std::fabs(shift) + std::log(double(std::max<int64_t>(shape.keys, 1)));
  truth.lseAbsolute = 4 * 0x1p-23 * std::max(1.0, largest);
  return truth;
}

Truth qm::contract::truthOf(const RowCall &rowCall, const Call &call,
                            const Program &program) {
  return rowCall.keep ? uniformTruth(call, rowCall.keep, rowCall.shift)
                      : program.evaluate(call);
}

const std::vector<RowCase> &qm::contract::rowCases() {
  static const std::vector<RowCase> all = [] {
    std::vector<RowCase> list;
    for (auto part : {emptyRowCases, maskCases, lengthCases, headCases,
                      sequenceCases, statisticCases, tokenCases, bufferCases})
      llvm::append_range(list, part());
    return list;
  }();
  return all;
}

void qm::contract::checkRow(const std::string &row, const Inspect &inspect) {
  int checked = 0;
  for (const RowCase &rowCase : rowCases()) {
    if (!llvm::StringRef(rowCase.name).starts_with(row))
      continue;
    for (Setting setting : cpuSettings()) {
      Program program(setting.type, rowCase.shape(setting), rowCase.describe);
      for (const RowCall &rowCall : rowCase.calls) {
        SCOPED_TRACE(testing::Message()
                     << rowCase.name << ", " << rowCall.name << ", "
                     << runtime::dataTypeName(setting.type) << ", D "
                     << setting.headDim);
        Call call = rowCall.make(setting.type, rowCase.shape(setting));
        program.run(call);
        expectNear(call, truthOf(rowCall, call, program));
        if (inspect)
          inspect(program, rowCall, call);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0) << row;
}
