//===- RunCase.cpp - launch a case and check every output -----------------===//

#include "runtime/tools/RunCase.h"
#include "runtime/tools/CompareOutput.h"

#include <algorithm>

using namespace qm::runtime;

namespace {

/// All bits set: NaN in every floating-point type.
constexpr char poison = '\xff';

/// A case's memory on its device, and the values of the call.
class Call {
public:
  Call(const CaseFile &file, const qm_kernel *kernel, CaseMemory &memory)
      : file(file), kernel(kernel), memory(memory),
        storages(file.arguments.size()), tensors(file.arguments.size()) {}

  ~Call() { memory.freeAll(); }

  int prepare() {
    for (size_t i = 0; i < file.arguments.size(); ++i) {
      const CaseArgument &argument = file.arguments[i];
      if (argument.kind == CaseArgument::Kind::Scalar) {
        values.push_back(scalar(argument));
        continue;
      }
      if (int status = memory.allocate(argument.storageBytes, storages[i]))
        return status;
      if (argument.kind == CaseArgument::Kind::Input)
        if (int status = memory.upload(storages[i], argument.storage.data(),
                                       argument.storage.size()))
          return status;
      tensors[i] = {storages[i],
                    memory.device(),
                    static_cast<int>(argument.shape.size()),
                    toDLPack(argument.dtype),
                    const_cast<int64_t *>(argument.shape.data()),
                    const_cast<int64_t *>(argument.strides.data()),
                    static_cast<uint64_t>(argument.offset)};
      values.push_back(qm_tensor(&tensors[i]));
    }
    return QM_OK;
  }

  int launch() {
    qm_launch_options options = {sizeof options, memory.stream(), 0, 0};
    return qm_launch(kernel, values.data(), values.size(), &options);
  }

  /// Poisons the outputs, launches, and brings the outputs back.
  int launchOnce(std::vector<std::string> &outputs) {
    outputs.assign(storages.size(), {});
    for (size_t i = 0; i < storages.size(); ++i) {
      const CaseArgument &argument = file.arguments[i];
      if (argument.kind != CaseArgument::Kind::Output)
        continue;
      outputs[i].assign(argument.storageBytes, poison);
      if (int status =
              memory.upload(storages[i], outputs[i].data(), outputs[i].size()))
        return status;
    }
    int status = launch();
    if (status == QM_OK)
      status = memory.synchronize();
    for (size_t i = 0; i < storages.size() && status == QM_OK; ++i)
      if (!outputs[i].empty())
        status =
            memory.download(outputs[i].data(), storages[i], outputs[i].size());
    return status;
  }

  int time(int repeats, double &median) {
    constexpr int warmUps = 3;
    std::vector<double> times;
    for (int i = 0; i < warmUps + repeats; ++i) {
      double milliseconds = 0;
      if (int status = memory.time([&] { return launch(); }, milliseconds))
        return status;
      if (i >= warmUps)
        times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    median = times[times.size() / 2];
    return QM_OK;
  }

private:
  static qm_value scalar(const CaseArgument &argument) {
    qm_value value = qm_i32(static_cast<int32_t>(argument.bits));
    if (argument.dtype == DataType::F32)
      value.kind = QM_F32; // the same 32 bits
    return value;
  }

  const CaseFile &file;
  const qm_kernel *kernel;
  CaseMemory &memory;
  std::vector<void *> storages;
  std::vector<DLTensor> tensors;
  std::vector<qm_value> values;
};

} // namespace

CaseResult qm::runtime::runCase(const CaseFile &file, const qm_kernel *kernel,
                                CaseMemory &memory, int repeats) {
  CaseResult result;
  Call call(file, kernel, memory);
  std::vector<std::string> first, second;
  int status = call.prepare();
  if (status == QM_OK)
    status = call.launchOnce(first);
  if (status == QM_OK)
    status = call.launchOnce(second);
  if (status != QM_OK) {
    result.flaw = qm_last_error();
    return result;
  }
  for (size_t i = 0; i < first.size() && result.flaw.empty(); ++i) {
    const CaseArgument &argument = file.arguments[i];
    if (argument.kind != CaseArgument::Kind::Output)
      continue;
    OutputError error = compareOutput(argument, first[i], poison);
    result.maxError = std::max(result.maxError, error.maxError);
    result.worst = std::max(result.worst, error.worst);
    result.flaw = error.flaw;
    if (result.flaw.empty() && first[i] != second[i])
      result.flaw = "'" + argument.name + "' has other bits in a second run";
  }
  result.passed = result.flaw.empty();
  if (result.passed && repeats > 0 &&
      call.time(repeats, result.milliseconds) != QM_OK) {
    result.passed = false;
    result.flaw = qm_last_error();
  }
  return result;
}
