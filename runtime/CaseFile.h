//===- CaseFile.h - one launch with the results it must give ----*- C++ -*-===//
//
// A case carries a kernel's call and its expected outputs to a machine that has
// the device and nothing else: NAME.json (what) and NAME.bin (the numbers).
// `qmc verify --dump-case` writes them, qm-run-cases runs them; the format is
// in README.md.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/DataType.h"

#include <string>
#include <vector>

namespace qm::runtime {

/// One argument of the kernel, in the kernel's order.
struct CaseArgument {
  enum class Kind : uint8_t { Input, Output, Scalar };

  std::string name;
  Kind kind = Kind::Input;
  DataType dtype = DataType::F32;

  /// Scalar: the i32, or the bits of the f32.
  uint32_t bits = 0;

  // Tensor. Element [i...] is at storage byte offset + sum(i * stride) * size.
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements; as many as extents
  int64_t storageBytes = 0;     ///< of the memory the tensor is a view of
  int64_t offset = 0;           ///< of element 0 in it, in bytes
  std::string storage;          ///< Input: its storageBytes bytes

  // Output: what each element must be, compact row-major, and how closely:
  // |got - expected| <= absolute + relative |expected|; infinities exactly.
  std::vector<float> expected;
  double absolute = 0, relative = 0;

  int64_t elements() const;
};

struct CaseFile {
  std::string name;     ///< also the stem of the two files
  std::string manifest; ///< path, relative to the case's folder or absolute
  std::string kernel;
  std::vector<CaseArgument> arguments;
};

/// Writes DIRECTORY/NAME.json and .bin. Returns a qm_status.
int writeCase(const std::string &directory, const CaseFile &file);

/// Reads a case's .json and the .bin beside it; `manifest` comes back relative
/// to the working directory. Anything malformed is a status.
int readCase(const std::string &path, CaseFile &file);

} // namespace qm::runtime
