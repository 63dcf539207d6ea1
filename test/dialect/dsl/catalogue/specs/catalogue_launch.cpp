// Sizes and weights of the catalogue that are given at launch.
#include <qm/attention.h>
using namespace qm;

struct AtLaunch {
  Index n;
  Float weight;
  explicit AtLaunch(Spec &spec)
      : n(spec.param("n", i32)), weight(spec.param("weight", f32)) {
    spec.heads(2).headDim(64).dtype(f16).returnLse();
  }
};

QM_ATTENTION(sink_window) {
  AtLaunch given(spec);
  spec.mask(sinkWindow(given.n, 2 * given.n));
  spec.score(temperature(given.weight));
}

QM_ATTENTION(chunked_causal) {
  AtLaunch given(spec);
  spec.mask(chunkedCausal(given.n));
  spec.score(softcap(given.weight));
}

QM_ATTENTION(block_diffusion) {
  AtLaunch given(spec);
  spec.mask(blockDiffusion(3 * given.n, given.n));
  spec.score(relativePosition(given.weight));
}

QM_ATTENTION(natten) {
  AtLaunch given(spec);
  spec.mask(natten2d({6, given.n}, {3, 5}));
  spec.score(relativeDistance(-given.weight));
}

QM_ATTENTION(dilated_batches) {
  AtLaunch given(spec);
  spec.mask(batchify(2 * given.n, dilatedWindow(given.n, 3, TopLeft)));
  spec.score(softcap(30).then(temperature(given.weight)));
}
