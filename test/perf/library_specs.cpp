// 25 specs; with two element types and two head dims, the library of 100
// kernels that library_bars.py measures.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(full) { spec.heads(16).kvHeads(4).headDim(64); }
QM_ATTENTION(full_lse) { spec.heads(16).kvHeads(4).headDim(64).returnLse(); }
QM_ATTENTION(causal_0) {
  spec.heads(16).kvHeads(4).headDim(64).mask(causal(BottomRight));
}
QM_ATTENTION(causal_lse) {
  spec.heads(16).kvHeads(4).headDim(64).mask(causal(BottomRight)).returnLse();
}
#define WINDOW(n)                                                              \
  QM_ATTENTION(window_##n) {                                                   \
    spec.heads(16).kvHeads(4).headDim(64).mask(causal(BottomRight) &&          \
                                               slidingWindow(n));              \
  }
WINDOW(128)
WINDOW(256) WINDOW(512) WINDOW(1024) WINDOW(2048) WINDOW(4096) WINDOW(8192)
#define CAP(n)                                                                 \
  QM_ATTENTION(cap_##n) {                                                      \
    spec.heads(16).kvHeads(4).headDim(64).mask(causal(BottomRight));           \
    spec.score([](Score s, Batch, Head, Query, Key) {                          \
      return float(n) * tanh(s / float(n));                                    \
    });                                                                        \
  }
    CAP(10) CAP(20) CAP(30) CAP(50)
#define ALIBI(n)                                                               \
  QM_ATTENTION(alibi_##n) {                                                    \
    spec.heads(16).kvHeads(4).headDim(64).mask(causal(BottomRight));           \
    auto slopes = spec.buffer("slopes", f32, spec.heads());                    \
    spec.score([&](Score s, Batch, Head h, Query i, Key j) {                   \
      return s + slopes[h] * float(n) * (j - i);                               \
    });                                                                        \
  }
        ALIBI(1) ALIBI(2) ALIBI(3) ALIBI(4)
#define PAD(n)                                                                 \
  QM_ATTENTION(pad_##n) {                                                      \
    spec.heads(16).kvHeads(4).headDim(64);                                     \
    auto lengths = spec.buffer("lengths", i32, spec.batch());                  \
    spec.mask([&](Batch b, Head, Query i, Key j) {                             \
      return j < lengths[b] && j <= i + n;                                     \
    });                                                                        \
  }
            PAD(0) PAD(16) PAD(64)
#define BIAS(n)                                                                \
  QM_ATTENTION(bias_##n) {                                                     \
    spec.heads(16).kvHeads(4).headDim(64);                                     \
    Float scale = spec.param("factor", f32);                                   \
    spec.score([&](Score s, Batch, Head, Query i, Key j) {                     \
      return s - scale * abs(j - i) / float(n);                                \
    });                                                                        \
  }
                BIAS(1) BIAS(2) BIAS(3)
