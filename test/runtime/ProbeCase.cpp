//===- ProbeCase.cpp - a case file of the probe kernel --------------------===//

#include "test/runtime/ProbeCase.h"
#include "test/runtime/Probe.h"

#include <stdexcept>

using namespace qm::runtime;
using probe::Arguments;

namespace {

CaseArgument tensor(const char *name, const probe::Tensor &from,
                    CaseArgument::Kind kind) {
  CaseArgument argument;
  argument.name = name;
  argument.kind = kind;
  argument.shape = from.shape;
  argument.strides = from.strides;
  argument.storageBytes = static_cast<int64_t>(from.data.size() * 4);
  if (kind == CaseArgument::Kind::Input)
    argument.storage.assign(reinterpret_cast<const char *>(from.data.data()),
                            argument.storageBytes);
  else
    argument.expected = from.data;
  return argument;
}

CaseArgument scalar(const char *name, DataType dtype, uint32_t bits) {
  CaseArgument argument;
  argument.name = name;
  argument.kind = CaseArgument::Kind::Scalar;
  argument.dtype = dtype;
  argument.bits = bits;
  return argument;
}

} // namespace

CaseFile probe::makeCase() {
  Arguments arguments;
  qm_library *library = cpuLibrary();
  std::vector<qm_value> values = arguments.values();
  if (qm_launch(kernelOf(library), values.data(), values.size(), nullptr))
    throw std::runtime_error(qm_last_error());
  qm_library_destroy(library);

  using Kind = CaseArgument::Kind;
  CaseFile file{"probe-strided", "probe.json", "probe", {}};
  file.arguments = {tensor("q", arguments.q, Kind::Input),
                    tensor("k", arguments.k, Kind::Input),
                    tensor("v", arguments.v, Kind::Input),
                    tensor("bias", arguments.bias, Kind::Input),
                    scalar("window", DataType::I32, 3),
                    scalar("cap", DataType::F32, 0x3f000000),
                    tensor("o", arguments.o, Kind::Output),
                    tensor("lse", arguments.lse, Kind::Output)};
  CaseArgument &o = file.arguments[6];
  o.strides = {6 * 4 * 16, 16, 4 * 16, 1}; // [B, S, H, D] with rows of 16
  o.offset = 16;
  o.storageBytes = 2 * 6 * 4 * 16 * 4;
  return file;
}
