//===- KernelJob.cpp - one kernel for one target --------------------------===//
#include "qmc/library/KernelJob.h"
#include "qmc/CompileForGpu.h"
#include "qmc/library/TargetLimit.h"

#include "dialect/AttnOps.h"
#include "lowering/cpu/ObjectFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <memory>
#include <new>
#include <zstd.h>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::KernelInfo;
using lowering::TargetKind;

namespace {

/// zstd's strongest levels pay: an image is packed once and copied often.
constexpr int compressionLevel = 19;

/// Strings of any bytes, one after the other, each after its length.
class Writer {
public:
  void add(StringRef bytes) {
    uint64_t size = bytes.size();
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
    text.append(bytes.data(), bytes.size());
  }
  std::string text;
};

class Reader {
public:
  explicit Reader(StringRef text) : text(text) {}
  StringRef next() {
    uint64_t size = 0;
    if (text.size() < sizeof size)
      return fail();
    memcpy(&size, text.data(), sizeof size);
    text = text.drop_front(sizeof size);
    if (size > text.size())
      return fail();
    StringRef bytes = text.take_front(size);
    text = text.drop_front(size);
    return bytes;
  }
  bool failed = false;

private:
  StringRef fail() {
    failed = true;
    text = "";
    return "";
  }
  StringRef text;
};

} // namespace

PackedImage qm::driver::packImage(StringRef image) {
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> context(ZSTD_createCCtx(),
                                                              ZSTD_freeCCtx);
  if (!context)
    throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                         compressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  PackedImage result = {hashBytes(image), image.size(), {}};
  result.packed.resize(ZSTD_compressBound(image.size()));
  size_t size =
      ZSTD_compress2(context.get(), result.packed.data(), result.packed.size(),
                     image.data(), image.size());
  if (ZSTD_isError(size))
    throw std::bad_alloc();
  result.packed.resize(size);
  return result;
}

std::string CompiledKernel::serialize() const {
  Writer writer;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object(info));
  writer.add(text);
  writer.add(symbol);
  writer.add(object);
  for (const auto &[format, image] : images) {
    writer.add(format);
    writer.add(llvm::toStringRef(image.hash));
    writer.add(std::to_string(image.bytes));
    writer.add(image.packed);
  }
  writer.add("");
  return writer.text;
}

std::optional<CompiledKernel> CompiledKernel::deserialize(StringRef bytes) {
  Reader reader(bytes);
  CompiledKernel kernel;
  llvm::Expected<llvm::json::Value> info = llvm::json::parse(reader.next());
  if (!info) {
    llvm::consumeError(info.takeError());
    return std::nullopt;
  }
  if (!info->getAsObject())
    return std::nullopt;
  kernel.info = std::move(*info->getAsObject());
  kernel.symbol = reader.next().str();
  kernel.object = reader.next().str();
  for (StringRef format = reader.next(); !format.empty();
       format = reader.next()) {
    PackedImage image;
    StringRef hash = reader.next();
    if (hash.size() != image.hash.size() ||
        reader.next().getAsInteger(10, image.bytes))
      return std::nullopt;
    memcpy(image.hash.data(), hash.data(), hash.size());
    image.packed = reader.next().str();
    kernel.images.emplace_back(format.str(), std::move(image));
  }
  if (reader.failed)
    return std::nullopt;
  return kernel;
}

std::string KernelJob::describe() const {
  return request.name + " for " + target.name.str();
}

/// Everything that decides the bytes.
ContentHash KernelJob::key() const {
  SmallVector<std::string> parts = {
      "kernel 2",   compilerIdentity(), ptxas,
      request.name, request.identity,   target.name.str()};
  llvm::append_range(parts, request.overridesFor(target.name));
  SmallVector<StringRef> views(parts.begin(), parts.end());
  return hashParts(views);
}

LogicalResult KernelJob::run(Cache &cache) {
  ContentHash hash = key();
  // What is to be shown on the way has to be made.
  bool mayBeKnown = !options.saveTemps && !options.printIrAfter;
  if (std::optional<std::string> entry =
          mayBeKnown ? cache.get(hash) : std::nullopt)
    if (std::optional<CompiledKernel> known =
            CompiledKernel::deserialize(*entry)) {
      result = std::move(*known);
      wasCached = true;
      return success();
    }
  if (failed(compile(hash)))
    return failure();
  cache.put(hash, result.serialize());
  return success();
}

LogicalResult KernelJob::compile(const ContentHash &key) {
  llvm::raw_string_ostream stream(messages);
  Session session(stream);
  options.overrides = request.overridesFor(target.name);
  TargetLimit targetLimit(&session.context, options.overrides);
  options.input = request.name; // what --save-temps calls its files
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      request.text, ParserConfig(&session.context), request.name);
  if (!module)
    return failure();
  if (target.kind == TargetKind::Nvidia) {
    LogicalResult result = makeImages(session, *module);
    limit = targetLimit.text();
    return result;
  }
  // The symbol is the program's: two libraries in one program may have the same
  // kernel, and must not have two kernels of one symbol.
  result.symbol = request.name + "_" + toHex(key).substr(0, 16);
  (*(*module).getOps<func::FuncOp>().begin()).setSymName(result.symbol);
  return makeObject(session, *module);
}

LogicalResult KernelJob::makeObject(Session &session, ModuleOp module) {
  CompilePipeline pipeline(session, options);
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      pipeline.lowerTo(module, passes::Level::Scheduled, target);
  if (failed(lowered))
    return failure();
  result.info = getKernels(**lowered).front().toJson();
  if (failed(pipeline.lowerToCpu(**lowered)))
    return failure();
  FailureOr<std::string> object = cpu::makeObjectFile(**lowered);
  if (failed(object))
    return failure();
  result.object = std::move(*object);
  return success();
}

LogicalResult KernelJob::makeImages(Session &session, ModuleOp module) {
  FailureOr<GpuModule> compiled =
      compileForGpu(session, options, module, target, /*wantCubin=*/true);
  if (failed(compiled))
    return failure();
  GpuCode &code = compiled->code;
  result.info = code.kernels.front().toJson();
  if (const ptx::KernelResources *resources = code.report.find(request.name)) {
    result.info["registers"] = resources->registers;
    result.info["spill_bytes"] = resources->spillStores;
  }
  result.images.emplace_back("cubin", packImage(code.cubin));
  if (!target.name.ends_with("a")) // that of sm_90a runs on no other GPU
    result.images.emplace_back("ptx", packImage(code.ptx));
  return success();
}
