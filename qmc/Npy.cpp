//===- Npy.cpp - numpy's array files --------------------------------------===//
#include "qmc/Npy.h"
#include "qmc/Console.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace llvm;
using namespace qm;
using namespace qm::driver;
using reference::DType;
using reference::HostTensor;
using reference::TensorView;

namespace {

constexpr StringLiteral magic = "\x93NUMPY";

std::optional<DType> parseDescr(StringRef descr) {
  // '<' little-endian, '|' and '=' where the order does not matter or is ours.
  if (!descr.empty() && StringRef("<|=").contains(descr.front()))
    descr = descr.drop_front();
  return StringSwitch<std::optional<DType>>(descr)
      .Case("f2", DType::F16)
      .Case("f4", DType::F32)
      .Case("f8", DType::F64)
      .Cases({"u2", "V2"}, DType::BF16)
      .Case("b1", DType::I1)
      .Cases({"i1", "u1"}, DType::I8)
      .Case("i2", DType::I16)
      .Case("i4", DType::I32)
      .Case("i8", DType::I64)
      .Default(std::nullopt);
}

StringRef descrOf(DType type) {
  switch (type) {
  case DType::F16:
    return "<f2";
  case DType::BF16:
  case DType::F32:
    return "<f4";
  case DType::F64:
    return "<f8";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::I16:
    return "<i2";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  }
  llvm_unreachable("covered switch");
}

/// What follows `'key':` in the header, a Python dictionary literal.
StringRef headerValue(StringRef header, StringRef key) {
  StringRef rest = header.split(("'" + key + "'").str()).second;
  return rest.split(':').second.ltrim();
}

/// The memory order of dimensions, row-major or column-major.
SmallVector<unsigned> makeOrder(unsigned rank, bool fortran) {
  SmallVector<unsigned> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (fortran)
    std::reverse(order.begin(), order.end());
  return order;
}

/// Calls `visit` with the index of each element, row-major.
template <typename Visit>
void forEachIndex(ArrayRef<int64_t> extents, Visit visit) {
  if (is_contained(extents, 0))
    return;
  SmallVector<int64_t> index(extents.size(), 0);
  while (true) {
    visit(ArrayRef<int64_t>(index));
    int dimension = extents.size() - 1;
    for (; dimension >= 0 && ++index[dimension] == extents[dimension];
         --dimension)
      index[dimension] = 0;
    if (dimension < 0)
      return;
  }
}

template <typename Int>
void putLittle(std::string &out, Int value) {
  char bytes[sizeof(Int)];
  support::endian::write<Int, endianness::little>(bytes, value);
  out.append(bytes, sizeof(Int));
}

} // namespace

mlir::FailureOr<HostTensor> qm::driver::readNpy(StringRef path) {
  auto bad = [&](const Twine &why) {
    return reportError(diag::Id::BadNpy, "'" + path + "': " + why, path,
                       "save it with numpy.save; `qmc explain QM0018` lists "
                       "the types");
  };
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return reportError(diag::Id::CannotRead,
                       "cannot read '" + path +
                           "': " + buffer.getError().message(),
                       path, "name a .npy file");
  StringRef bytes = (*buffer)->getBuffer();
  if (!bytes.starts_with(magic) || bytes.size() < 12)
    return bad("not a .npy file");
  unsigned version = bytes[6];
  size_t prefix = version == 1 ? 10 : 12;
  size_t length = version == 1 ? support::endian::read16le(bytes.data() + 8)
                               : support::endian::read32le(bytes.data() + 8);
  if (version < 1 || version > 3 || prefix + length > bytes.size())
    return bad("its header is damaged or of an unknown version");
  StringRef header = bytes.substr(prefix, length);
  StringRef data = bytes.drop_front(prefix + length);

  StringRef descr = headerValue(header, "descr").ltrim("'").split('\'').first;
  std::optional<DType> dtype = parseDescr(descr);
  if (!dtype)
    return bad("element type '" + descr + "' is not supported");
  bool fortran = headerValue(header, "fortran_order").starts_with("True");
  StringRef shape = headerValue(header, "shape").ltrim("(").split(')').first;
  SmallVector<int64_t> extents;
  int64_t count = 1;
  for (StringRef part : split(shape, ',')) {
    if (part.trim().empty())
      continue;
    int64_t extent;
    if (part.trim().getAsInteger(10, extent) || extent < 0 ||
        __builtin_mul_overflow(count, extent, &count))
      return bad("shape (" + shape + ") is not a shape");
    extents.push_back(extent);
  }
  int64_t needed;
  if (__builtin_mul_overflow(count, runtime::bytesPerElement(*dtype),
                             &needed) ||
      needed > int64_t(data.size()))
    return bad("holds " + Twine(data.size()) + " bytes of data, its shape (" +
               shape + ") needs more");
  HostTensor tensor(*dtype, extents, makeOrder(extents.size(), fortran));
  llvm::copy(data.take_front(tensor.bytes().size()).bytes(),
             tensor.bytes().begin());
  return tensor;
}

std::string qm::driver::makeNpy(const TensorView &tensor) {
  std::string header = ("{'descr': '" + descrOf(tensor.dtype) +
                        "', 'fortran_order': False, 'shape': (")
                           .str();
  for (int64_t extent : tensor.extents)
    header += std::to_string(extent) + ",";
  header += "), }";
  // The data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out = magic.str();
  out += {1, 0};
  putLittle<uint16_t>(out, header.size());
  out += header;
  DType stored = tensor.dtype == DType::BF16 ? DType::F32 : tensor.dtype;
  HostTensor compact(stored, tensor.extents);
  int64_t position = 0;
  forEachIndex(tensor.extents, [&](ArrayRef<int64_t> index) {
    int64_t from = tensor.offset(index);
    if (reference::isFloat(tensor.dtype))
      storeFloat(compact.view(), position++, loadFloat(tensor, from));
    else
      storeInteger(compact.view(), position++, loadInteger(tensor, from));
  });
  out.append(compact.bytes().begin(), compact.bytes().end());
  return out;
}

// A .npz is a zip archive of .npy files; "stored" entries need no compression.
std::string
qm::driver::makeNpz(ArrayRef<std::pair<std::string, std::string>> entries) {
  std::string out, directory;
  for (const auto &[key, bytes] : entries) {
    std::string name = key + ".npy";
    std::string fields;
    putLittle<uint16_t>(fields, 20);         // version needed
    putLittle<uint16_t>(fields, 0);          // flags
    putLittle<uint16_t>(fields, 0);          // stored
    putLittle<uint32_t>(fields, 0x00210000); // 1980-01-01 00:00
    putLittle<uint32_t>(fields, crc32(arrayRefFromStringRef(bytes)));
    putLittle<uint32_t>(fields, bytes.size());
    putLittle<uint32_t>(fields, bytes.size());
    putLittle<uint16_t>(fields, name.size());
    putLittle<uint16_t>(fields, 0); // extra
    uint32_t offset = out.size();
    out += "PK\3\4" + fields + name + bytes;
    directory += "PK\1\2";
    putLittle<uint16_t>(directory, 20); // version made by
    directory += fields;
    directory.append(2 + 2 + 2 + 4, '\0'); // comment, disk, attributes
    putLittle<uint32_t>(directory, offset);
    directory += name;
  }
  uint32_t start = out.size();
  out += directory + "PK\5\6" + std::string(4, '\0');
  putLittle<uint16_t>(out, entries.size());
  putLittle<uint16_t>(out, entries.size());
  putLittle<uint32_t>(out, directory.size());
  putLittle<uint32_t>(out, start);
  putLittle<uint16_t>(out, 0);
  return out;
}
