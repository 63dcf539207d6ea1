#include "RandomSpec.h"

#include "runtime/DataType.h"

#include "llvm/ADT/STLExtras.h"

using namespace qm;
using namespace qm::test;
using reference::DType;
using reference::HostTensor;
using reference::TensorView;

namespace {

/// Writes one region; every expression is the name of a value.
class Writer {
public:
  explicit Writer(std::mt19937_64 &random) : random(random) {}

  /// A region's body that yields one value of the grammar.
  std::string score() {
    return body("score (%s, %b, %h, %i, %j)", "f32", scoreExpression(2));
  }
  std::string mask() {
    return body("mask (%b, %h, %i, %j)", "i1", condition(3));
  }

private:
  unsigned below(unsigned bound) { return random() % bound; }

  std::string body(const std::string &head, const std::string &type,
                   const std::string &result) {
    std::string text =
        head + " {\n" + ops + "attn.yield " + result + " : " + type + "\n}\n";
    ops.clear();
    return text;
  }

  std::string emit(const std::string &op) {
    std::string name = "%x" + std::to_string(next++);
    ops += name + " = " + op + "\n";
    return name;
  }
  std::string integer(int64_t value) {
    return emit("arith.constant " + std::to_string(value) + " : i32");
  }
  std::string real(double value) {
    return emit("arith.constant " + std::to_string(value) + " : f32");
  }
  std::string binary(const std::string &op, const std::string &a,
                     const std::string &b, const std::string &type) {
    return emit(op + " " + a + ", " + b + " : " + type);
  }

  /// An index of a gather, often outside of its buffer but no constant: one
  /// that is outside is refused.
  std::string place(int depth) {
    return binary("arith.addi", index(depth), "%b", "i32");
  }

  /// An i32 of moderate size.
  std::string index(unsigned depth) {
    static const char *leaves[] = {"%i", "%j", "%i", "%j", "%b", "%h", "%w"};
    static const char *extents[] = {"batch", "heads", "kv_heads", "query",
                                    "key"};
    if (depth == 0 || below(5) == 0) {
      unsigned choice = below(9);
      if (choice < 7)
        return leaves[choice];
      if (choice == 7)
        return integer(int64_t(below(300)) - 40);
      return emit(std::string("attn.extent ") + extents[below(5)] + " : i32");
    }
    auto operand = [&] { return index(depth - 1); };
    switch (below(12)) {
    case 0:
    case 1:
      return binary("arith.subi", operand(), operand(), "i32");
    case 2:
      return binary("arith.addi", operand(), operand(), "i32");
    case 3:
      return binary("arith.muli", operand(), integer(int64_t(below(7)) - 3),
                    "i32");
    case 4: { // divisors that are constants, or anything: 0 included
      static const char *ops[] = {"arith.floordivsi", "arith.divsi",
                                  "arith.remsi", "arith.ceildivsi"};
      std::string a = operand();
      std::string b = below(3) ? integer(1 + below(70)) : operand();
      return binary(ops[below(4)], a, b, "i32");
    }
    case 5:
      return binary(below(2) ? "arith.maxsi" : "arith.minsi", operand(),
                    operand(), "i32");
    case 6:
      return emit("math.absi " + operand() + " : i32");
    case 7: {
      static const char *ops[] = {"arith.andi", "arith.ori", "arith.xori"};
      return binary(ops[below(3)], operand(), integer(below(128)), "i32");
    }
    case 8:
      return binary(below(2) ? "arith.shrsi" : "arith.shli", operand(),
                    integer(below(5)), "i32");
    case 9:
      return emit(
          "attn.load %doc[" + place(depth - 1) +
          (below(2) ? "] sorted : tensor<?xi32>" : "] : tensor<?xi32>"));
    case 10: {
      std::string row = place(depth - 1);
      return emit("attn.load %table[" + row + ", " + place(depth - 1) +
                  "] : tensor<3x?xi32>");
    }
    default: {
      std::string c = condition(depth - 1), a = operand();
      return emit("arith.select " + c + ", " + a + ", " + operand() + " : i32");
    }
    }
  }

  std::string condition(unsigned depth) {
    static const char *predicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                       "sge", "ult", "ule", "sge", "sge"};
    if (depth == 0 || below(3) == 0) {
      if (below(6) == 0) {
        std::string byte =
            emit("attn.load %flags[" + place(1) + "] : tensor<?xi8>");
        std::string zero = emit("arith.constant 0 : i8");
        return binary("arith.cmpi ne,", byte, zero, "i8");
      }
      std::string a = index(std::min(depth + 1, 2u));
      std::string predicate = predicates[below(10)];
      return binary("arith.cmpi " + predicate + ",", a,
                    index(std::min(depth + 1, 2u)), "i32");
    }
    std::string a = condition(depth - 1);
    switch (below(4)) {
    case 0:
      return binary("arith.andi", a, condition(depth - 1), "i1");
    case 1:
      return binary("arith.ori", a, condition(depth - 1), "i1");
    case 2:
      return binary("arith.xori", a, condition(depth - 1), "i1");
    default:
      return binary("arith.xori", a, emit("arith.constant true"), "i1");
    }
  }

  /// A bounded f32 that does not depend on the score.
  std::string bias(unsigned depth) {
    switch (below(4)) {
    case 0:
      return emit("attn.load %slopes[" + place(1) + "] : tensor<?xf32>");
    case 1: { // a distance, scaled to at most a few units
      std::string n = index(depth);
      std::string f = emit("arith.sitofp " + n + " : i32 to f32");
      std::string scaled =
          binary("arith.mulf", f, real(0.001 * (1 + below(9))), "f32");
      return emit("math.tanh " + scaled + " : f32");
    }
    case 2: {
      std::string n =
          binary("arith.remsi", index(depth), integer(1 + below(40)), "i32");
      std::string f = emit("arith.sitofp " + n + " : i32 to f32");
      static const char *ops[] = {"math.sin", "math.cos", "math.absf"};
      std::string scaled = binary("arith.mulf", f, real(0.05), "f32");
      return emit(std::string(ops[below(3)]) + " " + scaled + " : f32");
    }
    default: {
      std::string half =
          emit("attn.load %halves[" + place(1) + "] : tensor<?xbf16>");
      return emit("arith.extf " + half + " : bf16 to f32");
    }
    }
  }

  /// A smooth function of the score with moderate slope.
  std::string scoreExpression(unsigned depth) {
    if (depth == 0)
      return "%s";
    std::string t = scoreExpression(depth - 1);
    switch (below(7)) {
    case 0: { // softcap
      std::string cap = real(2 + below(30));
      std::string x = binary("arith.divf", t, cap, "f32");
      return binary("arith.mulf", emit("math.tanh " + x + " : f32"), cap,
                    "f32");
    }
    case 1:
    case 2:
      return binary("arith.addf", t, bias(2), "f32");
    case 3:
      return binary("arith.mulf", t, real(0.25 * (1 + below(6))), "f32");
    case 4: { // a run-time scalar
      return binary("arith.mulf", t, "%temperature", "f32");
    }
    case 5: {
      std::string c = condition(1);
      return emit("arith.select " + c + ", " + t + ", " +
                  binary("arith.subf", t, bias(1), "f32") + " : f32");
    }
    default: {
      static const char *ops[] = {"arith.maximumf", "arith.minimumf"};
      return binary(ops[below(2)], t, bias(1), "f32");
    }
    }
  }

  std::mt19937_64 &random;
  std::string ops;
  unsigned next = 0;
};

template <typename T, size_t N>
T pick(std::mt19937_64 &random, const T (&from)[N]) {
  return from[random() % N];
}

} // namespace

RandomSpec qm::test::makeRandomSpec(uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomSpec spec;
  spec.dtype = pick(random, {DType::F16, DType::BF16, DType::F32});
  spec.batch = 1 + random() % 3;
  spec.kvHeads = 1 + random() % 3;
  spec.heads = spec.kvHeads * (1 + random() % 4);
  const int64_t dims[] = {1,  3,  8,  16, 17, 32,  40,
                          64, 64, 72, 80, 96, 128, 128};
  spec.headDim = pick(random, dims);
  spec.valueDim = random() % 3 ? spec.headDim : pick(random, dims);
  const int64_t lengths[] = {0,  1,   2,   5,   17,  63,  64,  65,
                             97, 100, 128, 129, 191, 200, 257, 300};
  spec.sq = pick(random, lengths);
  spec.skv = random() % 3 ? pick(random, lengths) : spec.sq;
  spec.lse = random() % 3 != 0;

  Writer writer(random);
  std::string score = random() % 3 ? writer.score() : "";
  std::string mask = random() % 4 ? writer.mask() : "";
  std::string element = runtime::dataTypeName(spec.dtype);
  auto tensor = [&](int64_t heads, int64_t columns) {
    return "tensor<?x" + std::to_string(heads) + "x?x" +
           std::to_string(columns) + "x" + element + ">";
  };
  std::string q = tensor(spec.heads, spec.headDim),
              k = tensor(spec.kvHeads, spec.headDim),
              v = tensor(spec.kvHeads, spec.valueDim),
              o = tensor(spec.heads, spec.valueDim);
  if (spec.lse)
    o += ", tensor<?x" + std::to_string(spec.heads) + "x?xf32>";
  std::string results = spec.lse ? "%o, %lse" : "%o";
  std::string scale =
      random() % 2
          ? " scale(" + std::to_string(0.05 + random() % 8 * 0.05) + ")"
          : "";
  spec.text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v +
              ", %doc: tensor<?xi32>, %table: tensor<3x?xi32>, %flags: "
              "tensor<?xi8>, %slopes: tensor<?xf32>, %halves: tensor<?xbf16>, "
              "%w: i32, %temperature: f32) -> (" +
              o + ") {\n" + results + " = attn.attention q(%q) k(%k) v(%v)" +
              scale + "\n" + score + mask + ": " + q + ", " + k + ", " + v +
              " -> " + o + "\nreturn " + results + " : " + o + "\n}\n";
  return spec;
}

TensorView RandomCall::allocate(DType dtype, llvm::ArrayRef<int64_t> extents,
                                bool operand) {
  // Memory for more than is seen, with the first three dimensions in any order;
  // the last stays contiguous, as the launch contract wants.
  llvm::SmallVector<int64_t> padded(extents);
  llvm::SmallVector<unsigned> order;
  for (unsigned dimension = 0; dimension < extents.size(); ++dimension) {
    order.push_back(dimension);
    if (random() % 2)
      padded[dimension] += random() % 3;
  }
  std::shuffle(order.begin(), order.end() - 1, random);
  HostTensor &tensor = storage.emplace_back(dtype, padded, order);
  TensorView view = tensor.view();
  view.extents.assign(extents.begin(), extents.end());
  if (operand && random() % 6 == 0)
    view.strides[0] = 0;
  return view;
}

RandomCall::RandomCall(const RandomSpec &spec, uint64_t seed) : random(~seed) {
  std::normal_distribution<double> normal;
  auto fill = [&](const TensorView &view, auto next) {
    // All of the memory, so that padding holds numbers too.
    HostTensor &tensor = storage.back();
    TensorView flat = tensor.view();
    int64_t count = flat.numElements();
    for (int64_t at = 0; at < count; ++at)
      if (reference::isFloat(view.dtype))
        storeFloat(flat, at, next());
      else
        storeInteger(flat, at, static_cast<int64_t>(next()));
    inputs.push_back(view);
  };
  auto gaussian = [&] { return normal(random); };
  auto operand = [&](int64_t heads, int64_t rows, int64_t columns) {
    fill(allocate(spec.dtype, {spec.batch, heads, rows, columns}, true),
         gaussian);
  };
  operand(spec.heads, spec.sq, spec.headDim);
  operand(spec.kvHeads, spec.skv, spec.headDim);
  operand(spec.kvHeads, spec.skv, spec.valueDim);
  int64_t longest = std::max<int64_t>({spec.sq, spec.skv, 1});
  int64_t document = 0;
  fill(allocate(DType::I32, {longest}, false),
       [&] { return document += random() % 20 == 0; });
  fill(allocate(DType::I32, {3, 1 + int64_t(random() % 50)}, false),
       [&] { return double(random() % 200) - 20; });
  fill(allocate(DType::I8, {longest}, false),
       [&] { return random() % 4 != 0; });
  fill(allocate(DType::F32, {1 + int64_t(random() % 40)}, false), gaussian);
  fill(allocate(DType::BF16, {longest}, false), gaussian);
  inputs.push_back(static_cast<int32_t>(random() % 200));
  inputs.push_back(0.25f + 0.25f * (random() % 5));

  all = inputs;
  auto output = [&](DType dtype, llvm::ArrayRef<int64_t> extents) {
    TensorView view = allocate(dtype, extents, false);
    llvm::fill(storage.back().bytes(), 0xFF);
    all.push_back(view);
    return view;
  };
  o = output(spec.dtype, {spec.batch, spec.heads, spec.sq, spec.valueDim});
  if (spec.lse)
    lse = output(DType::F32, {spec.batch, spec.heads, spec.sq});
}
