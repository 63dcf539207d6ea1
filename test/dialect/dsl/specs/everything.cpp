// Every operator, function, element type and library mask in one spec: nothing
// that the front end prints is unknown to what follows.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(everything) {
  spec.heads(4)
      .kvHeads(2)
      .headDim(64)
      .valueHeadDim(64)
      .dtype(bf16)
      .scale(0.1f)
      .returnLse()
      .returnRowMax();
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  auto perKey = spec.buffer("per_key", f16, spec.keyLength());
  auto bias = spec.buffer("bias", bf16, spec.queryLength(), spec.keyLength());
  auto bytes = spec.buffer("bytes", i8, spec.batch(), spec.queryLength());
  auto shorts = spec.buffer("shorts", i16, 17);
  auto longs = spec.buffer("longs", i64, dynamic);
  auto flags = spec.buffer("flags", i1, spec.kvHeads(), dynamic, 3);
  auto lengths = spec.buffer("lengths", i32, spec.batch());
  auto valid = spec.buffer("valid", i1, spec.batch(), spec.keyLength());
  auto n = spec.param("n", i32);
  auto x = spec.param("x", f32);

  spec.score([&](Score s, Batch b, Head h, Query i, Key j) {
    Float t = s * slopes[h] + perKey[j] * 0.1f + bias(i, j);
    t += tanh(t / 30.f) + sigmoid(s) + exp(-abs(t)) + exp2(min(t, 1.f)) +
         log(abs(t) + 1);
    t -= sqrt(abs(s)) * rsqrt(abs(s) + 1) + erf(s) * sin(t) * cos(x);
    Index k =
        (bytes(b, i) + shorts[longs[j % 7] / 3]) % 11 - (i ^ j) / 5 + (i << 2);
    k += clamp(abs(i - j), 1, 9) * max(n, 2) - min(j, n) + (i >> n) + i / n +
         j % n;
    k -= (j >> 1) - (~i & 7) - (i | 3) - spec.batch() * spec.queryLength();
    t = t + toFloat(k) * 0.01f + toFloat(i > j) + toInt(i <= 3) -
        clamp(t, -1, 1);
    Bool same = (flags[KvHead(h / 2)][j][k] == (i != j)) != (t < 100 && t != x);
    return select(same, t, max(t, -3) * 0.5f);
  });

  spec.sink([&](Batch b, Head h) { return slopes[h] - toFloat(b) * x; });

  Mask striped = custom([&](Batch, Head h, Query i, Key j) {
    return (i + h) % 3 != j % 2 && (flags(0, j, 1) ^ (j > 4));
  });
  Mask window = causal(BottomRight) && slidingWindow(n, 3);
  spec.mask((window || (!prefix(2) && striped.shift(n, 1))) &&
            padding(lengths) &&
            (padding(valid) || prefix(lengths) || document(bytes, shorts)));
}
