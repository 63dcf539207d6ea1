//===- Probe.cpp - a small kernel and its tensors -------------------------===//

#include "test/runtime/Probe.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <map>
#include <stdexcept>

using namespace probe;

std::string probe::entry(const std::string &target, const std::string &image,
                         const std::string &fields) {
  std::string tensor = R"("kind": "tensor", "dtype": "f32", )";
  return R"({"name": "probe", "target": ")" + target +
         R"(", "entry": "probe_entry", "image": ")" + image +
         R"(", "tile_m": 4, "tile_n": 8, "threads": 128, "shared_bytes": 1024,
    "args": [
      {"name": "q", )" +
         tensor + R"("shape": [-1, 4, -1, 8], "role": "q"},
      {"name": "k", )" +
         tensor + R"("shape": [-1, 2, -1, 8], "role": "k"},
      {"name": "v", )" +
         tensor + R"("shape": [-1, 2, -1, 8], "role": "v"},
      {"name": "bias", )" +
         tensor + R"("shape": [-1], "role": "buffer"},
      {"name": "window", "kind": "scalar", "dtype": "i32", "role": "scalar"},
      {"name": "cap", "kind": "scalar", "dtype": "f32", "role": "scalar"},
      {"name": "o", )" +
         tensor + R"("shape": [-1, 4, -1, 8], "role": "o"},
      {"name": "lse", )" +
         tensor + R"("shape": [-1, 4, -1], "role": "lse"}],
    "schedule": {}, "precision": {})" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

std::string probe::manifest(const std::vector<std::string> &entries) {
  std::string text = R"({"qm_manifest": 1, "kernels": [)";
  for (size_t i = 0; i < entries.size(); ++i)
    text += (i ? ", " : "") + entries[i];
  return text + "]}";
}

std::string probe::ptx(const std::string &target) {
  return "// made for a test\n\n.version 7.0\n.target " + target + "\n";
}

std::string probe::cubin() {
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_CUDA;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr sections[2] = {};
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = 16;
  std::string image(reinterpret_cast<char *>(&header), sizeof header);
  image.append(reinterpret_cast<char *>(sections), sizeof sections);
  return image + std::string(16, '\1');
}

namespace {

/// A tensor as a kernel sees it.
struct SlotTensor {
  const int64_t *slots;
  int rank;

  int64_t extent(int i) const { return slots[1 + i]; }
  float &operator()(int64_t b, int64_t h, int64_t i, int64_t d = 0) const {
    const int64_t *stride = slots + 1 + rank;
    int64_t at = b * stride[0] + h * stride[1] + i * stride[2] +
                 (rank == 4 ? d * stride[3] : 0);
    return reinterpret_cast<float *>(slots[0])[at];
  }
};

} // namespace

void probe::run(const int64_t *slots, int64_t tileBegin, int64_t tileEnd) {
  SlotTensor q{slots, 4}, k{slots + 9, 4}, v{slots + 18, 4}, o{slots + 32, 4},
      lse{slots + 41, 3};
  const float *bias = reinterpret_cast<const float *>(slots[27]);
  float lastBias = bias[(slots[28] - 1) * slots[29]];
  auto window = static_cast<float>(slots[30]);
  auto cap = std::bit_cast<float>(static_cast<uint32_t>(slots[31]));
  int64_t heads = q.extent(1), queries = q.extent(2), keys = k.extent(2);
  int64_t tilesPerHead = (queries + tileM - 1) / tileM;
  for (int64_t tile = tileBegin; tile < tileEnd; ++tile) {
    int64_t b = tile / tilesPerHead / heads, h = tile / tilesPerHead % heads;
    int64_t first = tile % tilesPerHead * tileM;
    for (int64_t i = first; i < std::min(first + tileM, queries); ++i) {
      for (int64_t d = 0; d < headDim; ++d)
        o(b, h, i, d) = q(b, h, i, d) + window * k(b, h / 2, 0, d) +
                        v(b, h / 2, keys - 1, d);
      lse(b, h, i) = cap + lastBias;
    }
  }
}

qm_library *probe::cpuLibrary() {
  std::string text = manifest({entry("cpu", "probe.so")});
  qm_image image = {sizeof image, "probe.so", nullptr, 0, run};
  qm_library *library = nullptr;
  if (qm_library_create(text.data(), text.size(), &image, 1, &library))
    throw std::runtime_error(qm_last_error());
  return library;
}

qm_library *probe::gpuLibrary(const std::vector<std::string> &images,
                              const std::string &fields) {
  // Images are borrowed: these live as long as the program.
  static const std::string asCubin = cubin();
  static std::map<std::string, std::string> asPtx; // by target
  std::vector<std::string> entries;
  std::vector<qm_image> given;
  for (const std::string &image : images) {
    size_t colon = image.find(':');
    std::string target = image.substr(0, colon);
    const std::string *bytes = &asCubin;
    if (image.substr(colon + 1) == "ptx")
      bytes = &asPtx.emplace(target, ptx(target)).first->second;
    entries.push_back(entry(target, image, fields));
    given.push_back({sizeof(qm_image), image.c_str(), bytes->data(),
                     bytes->size(), nullptr});
  }
  std::string text = manifest(entries);
  qm_library *library = nullptr;
  if (qm_library_create(text.data(), text.size(), given.data(), given.size(),
                        &library))
    throw std::runtime_error(qm_last_error());
  return library;
}

const qm_kernel *probe::kernelOf(const qm_library *library) {
  const qm_kernel *kernel = nullptr;
  if (qm_library_find(library, "probe", &kernel))
    throw std::runtime_error(qm_last_error());
  return kernel;
}

Tensor::Tensor(std::vector<int64_t> extents, DLDevice device)
    : shape(std::move(extents)), strides(shape.size()) {
  int64_t count = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = count;
    count *= shape[i];
  }
  data.resize(count);
  dl = {data.data(),
        device,
        static_cast<int>(shape.size()),
        {kDLFloat, 32, 1},
        shape.data(),
        strides.data(),
        0};
}

static void fill(Tensor &tensor, float start) {
  for (float &value : tensor.data)
    value = start += 0.25f;
}

static constexpr float untouched = -12345.0f;

Arguments::Arguments(DLDevice device, int64_t batch, int64_t queries,
                     int64_t keys)
    : q({batch, 4, queries, headDim}, device),
      k({batch, 2, keys, headDim}, device),
      v({batch, 2, keys, headDim}, device), bias({7}, device),
      o({batch, 4, queries, headDim}, device),
      lse({batch, 4, queries}, device) {
  fill(q, 1);
  fill(k, -3);
  fill(v, 7);
  fill(bias, 0);
  for (Tensor *output : {&o, &lse})
    std::fill(output->data.begin(), output->data.end(), untouched);
}

std::vector<qm_value> Arguments::values() const {
  return {qm_tensor(&q.dl),    qm_tensor(&k.dl),  qm_tensor(&v.dl),
          qm_tensor(&bias.dl), qm_i32(window),    qm_f32(cap),
          qm_tensor(&o.dl),    qm_tensor(&lse.dl)};
}

bool Arguments::outputsAreUntouched() const {
  for (const Tensor *output : {&o, &lse})
    for (float value : output->data)
      if (value != untouched)
        return false;
  return true;
}

bool Arguments::outputsAreRight() const {
  int64_t queries = q.shape[2], keys = k.shape[2];
  for (int64_t row = 0; row < q.shape[0] * 4 * queries; ++row) {
    int64_t kvHead = row / queries / 2; // of all batches
    for (int64_t d = 0; d < headDim; ++d) {
      float expected =
          q.data[row * headDim + d] +
          static_cast<float>(window) * k.data[kvHead * keys * headDim + d] +
          v.data[(kvHead * keys + keys - 1) * headDim + d];
      if (o.data[row * headDim + d] != expected)
        return false;
    }
    if (lse.data[row] != cap + bias.data.back())
      return false;
  }
  return true;
}
