// The kernels of mask_setup.py.
#include <qm/attention.h>
using namespace qm;

static void sizes(Spec &spec) { spec.heads(1).headDim(128).dtype(bf16); }

QM_ATTENTION(unmasked) { sizes(spec); }
QM_ATTENTION(window) {
  sizes(spec);
  Index left = spec.param("left", i32);
  spec.mask(slidingWindow(left, unbounded, TopLeft));
}
// Ids of queries and keys apart: those that nothing shares keep nothing.
QM_ATTENTION(documents) {
  sizes(spec);
  auto ofQueries = spec.buffer("of_queries", i32, spec.queryLength()).sorted();
  auto ofKeys = spec.buffer("of_keys", i32, spec.keyLength()).sorted();
  spec.mask(document(ofQueries, ofKeys));
}
QM_ATTENTION(classes) {
  sizes(spec);
  auto ofQueries = spec.buffer("of_queries", i32, spec.queryLength());
  auto ofKeys = spec.buffer("of_keys", i32, spec.keyLength());
  spec.mask(document(ofQueries, ofKeys));
}
QM_ATTENTION(thresholds) {
  sizes(spec);
  auto counts = spec.buffer("counts", i32, spec.queryLength());
  spec.mask(rowThreshold(counts));
}
// Strips of keys at a distance that no closed form describes.
QM_ATTENTION(strips) {
  sizes(spec);
  Index kept = spec.param("kept", i32);
  spec.mask(
      [=](Batch, Head, Query i, Key j) { return (i - j) / 512 % 8 < kept; });
}
