// The launch contract of a kernel as data.
#include "lowering/common/KernelInfo.h"
#include "lowering/common/KernelTarget.h"

using namespace mlir;
using namespace qm;
using namespace qm::lowering;

static std::string dtypeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

static std::string roleOf(attn::KernelOp kernel, unsigned index, Type type) {
  unsigned inputs = kernel.getNumInputs();
  if (index < 3)
    return std::string(1, "qkv"[index]);
  if (attn::TilePositionOp position = kernel.getPosition())
    for (auto [place, lengths] : llvm::enumerate(position.getLengths()))
      if (cast<BlockArgument>(lengths).getArgNumber() == index)
        return std::string(position.getPacked() ? "cu" : "len") +
               (place == 0 ? "_q" : "_kv");
  if (index >= inputs)
    return index == inputs                                   ? "o"
           : kernel.getArguments()[index] == kernel.getMax() ? "row_max"
                                                             : "lse";
  return isa<RankedTensorType>(type) ? "buffer" : "scalar";
}

/// What the caller declared of a buffer's extents (attn.follows); a list that
/// does not fit the buffer says nothing.
static std::vector<std::string> followsOf(attn::KernelOp kernel, StringRef name,
                                          RankedTensorType type) {
  auto all = kernel->getAttrOfType<DictionaryAttr>("attn.follows");
  auto list = all ? all.getAs<ArrayAttr>(name) : ArrayAttr();
  std::vector<std::string> result;
  if (!list || int64_t(list.size()) != type.getRank())
    return result;
  for (Attribute entry : list) {
    auto text = dyn_cast<StringAttr>(entry);
    bool known =
        text && llvm::is_contained({"batch", "query", "key"}, text.getValue());
    result.push_back(known ? text.str() : "");
  }
  return result;
}

/// How a matrix unit multiplies operands of 32 bits; nothing where none does.
static std::optional<StringRef> wideProducts(attn::KernelOp kernel) {
  if (!kernel.getPrecisionAttr())
    return std::nullopt;
  const TargetInfo *target = getTarget(kernel);
  Type operand = kernel.getPrecisionAttr().getQk();
  if (operand.isTF32())
    return "tf32";
  if (operand.isF32() && target && target->kind == TargetKind::Nvidia)
    return "bf16x3";
  return std::nullopt;
}

/// Boxes of the tensor copies: panels of 64 columns (128 bytes, the width of
/// the swizzle); q by query tiles, k and v by key blocks, o by a consumer's 64
/// rows.
/// With lengths the rows of each consumer's queries have a box: a short
/// sequence needs the first.
static std::vector<TensorMapInfo> getTensorMaps(attn::KernelOp kernel,
                                                attn::ScheduleAttr schedule,
                                                bool hasLengths) {
  constexpr int64_t swizzle = 128, columns = 64;
  int64_t ofConsumer = schedule.getTileM() / schedule.getConsumers();
  int64_t queries = hasLengths ? ofConsumer : schedule.getTileM();
  std::vector<TensorMapInfo> maps;
  for (auto [operand, rows] : {std::pair{kernel.getQ(), queries},
                               {kernel.getK(), schedule.getTileN()},
                               {kernel.getV(), schedule.getTileN()},
                               {kernel.getO(), ofConsumer}})
    maps.push_back({operand.getArgNumber(), columns, rows, swizzle});
  return maps;
}

/// Counters of an image: as many streams may launch with a run-time order.
static constexpr unsigned tileCounterCount = 1024;

KernelInfo KernelInfo::get(attn::KernelOp kernel) {
  KernelInfo info;
  info.name = kernel.getSymName().str();
  unsigned slot = 0;
  for (BlockArgument value : kernel.getArguments()) {
    unsigned index = value.getArgNumber();
    ArgumentInfo argument;
    argument.name = cast<StringAttr>(kernel.getArgNames()[index]).str();
    argument.role = roleOf(kernel, index, value.getType());
    argument.slot = slot;
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
      argument.tensor = true;
      argument.dtype = dtypeName(tensor.getElementType());
      for (int64_t extent : tensor.getShape())
        argument.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
      argument.follows = followsOf(kernel, argument.name, tensor);
    } else {
      argument.dtype = dtypeName(value.getType());
    }
    slot += argument.slotCount();
    info.arguments.push_back(std::move(argument));
  }
  attn::TilePositionOp position = kernel.getPosition();
  if (position && !position.getLengths().empty()) {
    info.sequences =
        position.getPacked() ? Sequences::Packed : Sequences::Padded;
    auto number = [&](unsigned index) {
      return cast<BlockArgument>(position.getLengths()[index]).getArgNumber();
    };
    info.queryLengths = number(0), info.keyLengths = number(1);
  }
  if (attn::ScheduleAttr schedule = kernel.getScheduleAttr()) {
    info.target = schedule.getTarget().str();
    info.tileM = schedule.getTileM();
    info.tileN = schedule.getTileN();
    const TargetInfo *target = findTarget(schedule.getTarget());
    bool gpu = target && target->kind == TargetKind::Nvidia;
    info.threads = gpu ? 32 * schedule.getWarps() : 1;
    info.schedule = llvm::json::Object{
        {"tile_m", schedule.getTileM()},   {"tile_n", schedule.getTileN()},
        {"warps", schedule.getWarps()},    {"stages", schedule.getStages()},
        {"micro_m", schedule.getMicroM()}, {"micro_n", schedule.getMicroN()}};
    if (schedule.getPingPong())
      info.schedule["ping_pong"] = schedule.getPingPong();
    if (schedule.getOneLoop())
      info.schedule["one_loop"] = schedule.getOneLoop();
    if (schedule.getConsumers()) {
      info.tensorMaps =
          getTensorMaps(kernel, schedule, info.sequences != Sequences::Whole);
      info.ctasPerSm = schedule.getPersistent();
      info.schedule["consumers"] = schedule.getConsumers();
      info.schedule["query_buffers"] = schedule.getQueryBuffers();
      info.schedule["producer_registers"] = schedule.getProducerRegisters();
      info.schedule["consumer_registers"] = schedule.getConsumerRegisters();
      info.schedule["persistent"] = schedule.getPersistent();
      info.schedule["dynamic_order"] = schedule.getDynamicOrder();
      if (schedule.getPolyExp2())
        info.schedule["poly_exp2"] = schedule.getPolyExp2();
      info.tileCounters = schedule.getDynamicOrder() ? tileCounterCount : 0;
    }
  }
  if (attn::PrecisionAttr precision = kernel.getPrecisionAttr())
    info.precision =
        llvm::json::Object{{"qk", dtypeName(precision.getQk())},
                           {"pv", dtypeName(precision.getPv())},
                           {"p", dtypeName(precision.getP())},
                           {"score", dtypeName(precision.getScore())},
                           {"stat", dtypeName(precision.getStat())},
                           {"acc", dtypeName(precision.getAcc())}};
  if (std::optional<StringRef> products = wideProducts(kernel))
    info.precision["products"] = *products;
  return info;
}

unsigned KernelInfo::slotCount() const {
  unsigned count = 0;
  for (const ArgumentInfo &argument : arguments)
    count += argument.slotCount();
  return count;
}

int64_t KernelInfo::countTiles(ArrayRef<int64_t> slots) const {
  const ArgumentInfo &q = arguments[0];
  int64_t batch = slots[q.extentSlot(0)], heads = slots[q.extentSlot(1)],
          rows = slots[q.extentSlot(2)];
  if (sequences != Sequences::Packed)
    return batch * heads * llvm::divideCeil(rows, tileM);
  int64_t count = slots[arguments[queryLengths].extentSlot(0)] - 1;
  return count <= 0 ? 0 : heads * (rows / tileM + count);
}

llvm::json::Object KernelInfo::toJson() const {
  llvm::json::Array args;
  for (const ArgumentInfo &argument : arguments) {
    llvm::json::Object entry{{"name", argument.name},
                             {"kind", argument.tensor ? "tensor" : "scalar"},
                             {"dtype", argument.dtype},
                             {"shape", llvm::json::Array(argument.shape)},
                             {"role", argument.role}};
    if (!argument.follows.empty())
      entry["follows"] = llvm::json::Array(argument.follows);
    args.push_back(std::move(entry));
  }
  llvm::json::Object json{{"name", name},
                          {"target", target},
                          {"entry", name},
                          {"image", image},
                          {"tile_m", tileM},
                          {"tile_n", tileN},
                          {"threads", threads},
                          {"shared_bytes", sharedBytes},
                          {"args", std::move(args)},
                          {"schedule", llvm::json::Object(schedule)},
                          {"precision", llvm::json::Object(precision)}};
  if (ctasPerSm)
    json["ctas_per_sm"] = ctasPerSm;
  if (tileCounters)
    json["tile_counters"] = tileCounters;
  if (tensorMaps.empty())
    return json;
  llvm::json::Array maps;
  for (const TensorMapInfo &map : tensorMaps)
    maps.push_back(
        llvm::json::Object{{"argument", arguments[map.argument].name},
                           {"box", {map.columns, map.rows, 1, 1}},
                           {"swizzle_bytes", map.swizzleBytes}});
  json["tensor_maps"] = std::move(maps);
  return json;
}

llvm::json::Object qm::lowering::makeManifest(ArrayRef<KernelInfo> kernels) {
  llvm::json::Array list;
  for (const KernelInfo &kernel : kernels)
    list.push_back(kernel.toJson());
  return llvm::json::Object{{"qm_manifest", 1}, {"kernels", std::move(list)}};
}
