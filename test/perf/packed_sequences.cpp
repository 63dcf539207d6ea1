// The kernels of packed_sequences.py.
#include <qm/attention.h>
using namespace qm;

static void sizes(Spec &spec, int headDim) {
  spec.heads(16).headDim(headDim).dtype(bf16);
}

QM_ATTENTION(packed_full_128) {
  sizes(spec, 128);
  spec.packed();
}
QM_ATTENTION(packed_causal_128) {
  sizes(spec, 128);
  spec.packed().mask(causal(BottomRight));
}
QM_ATTENTION(packed_causal_64) {
  sizes(spec, 64);
  spec.packed().mask(causal(BottomRight));
}
QM_ATTENTION(dense_full_128) { sizes(spec, 128); }
QM_ATTENTION(dense_causal_128) {
  sizes(spec, 128);
  spec.mask(causal(BottomRight));
}
QM_ATTENTION(dense_causal_64) {
  sizes(spec, 64);
  spec.mask(causal(BottomRight));
}
// The same tokens as one sequence: its documents.
QM_ATTENTION(documents_full_128) {
  sizes(spec, 128);
  auto ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
  spec.mask(document(ids));
}
QM_ATTENTION(documents_causal_128) {
  sizes(spec, 128);
  auto ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
  auto offsets = spec.buffer("offsets", i32, qm::dynamic).sorted();
  spec.mask(documentCausalByOffsets(ids, offsets));
}
// A window given at launch, and every third key.
QM_ATTENTION(packed_custom_128) {
  sizes(spec, 128);
  Index window = spec.param("window", i32);
  spec.packed().mask([=](Batch, Head, Query i, Key j) {
    return i >= j && (i - j < window || (i - j) % 3 == 0);
  });
}
