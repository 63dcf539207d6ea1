/* Attention in a C program: no compiler, no Python, no JIT at run time. The
 * kernels are in this program; the same call runs on a GPU if the tensors are
 * there. Checks itself against three loops. */
#include "layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 8, KV_HEADS = 2, LENGTH = 40, DIM = 64 };

static float *numbers(size_t count) {
  static unsigned state = 1;
  float *data = malloc(count * sizeof *data);
  size_t i;
  for (i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = (float)(state >> 8) / (float)(1 << 23) - 1.0f;
  }
  return data;
}

static DLTensor tensor(void *data, int64_t *shape) {
  DLTensor made;
  memset(&made, 0, sizeof made);
  made.data = data;
  made.device.device_type = kDLCPU;
  made.ndim = 4;
  made.dtype.code = kDLFloat;
  made.dtype.bits = 32;
  made.dtype.lanes = 1;
  made.shape = shape;
  return made;
}

/* The largest difference from causal attention in double precision. */
static double worst_error(const float *q, const float *k, const float *v,
                          const float *o) {
  double worst = 0;
  int h, i, j, d;
  for (h = 0; h < HEADS; ++h)
    for (i = 0; i < LENGTH; ++i) {
      const float *query = q + (h * LENGTH + i) * DIM;
      size_t kv = (size_t)(h / (HEADS / KV_HEADS)) * LENGTH * DIM;
      double weight[LENGTH], sum = 0;
      for (j = 0; j <= i; ++j) {
        double score = 0;
        for (d = 0; d < DIM; ++d)
          score += (double)query[d] * k[kv + (size_t)j * DIM + d];
        sum += weight[j] = exp(score / sqrt(DIM));
      }
      for (d = 0; d < DIM; ++d) {
        double value = 0;
        for (j = 0; j <= i; ++j)
          value += weight[j] / sum * v[kv + (size_t)j * DIM + d];
        worst = fmax(worst, fabs(value - o[(h * LENGTH + i) * DIM + d]));
      }
    }
  return worst;
}

int main(void) {
  int64_t q_shape[4] = {1, HEADS, LENGTH, DIM};
  int64_t kv_shape[4] = {1, KV_HEADS, LENGTH, DIM};
  float *q = numbers(HEADS * LENGTH * DIM), *o = numbers(HEADS * LENGTH * DIM);
  float *k = numbers(KV_HEADS * LENGTH * DIM);
  float *v = numbers(KV_HEADS * LENGTH * DIM);
  DLTensor dq = tensor(q, q_shape), dk = tensor(k, kv_shape);
  DLTensor dv = tensor(v, kv_shape), out = tensor(o, q_shape);
  double error;

  if (layers_full(&dq, &dk, &dv, &out, NULL)) {
    fprintf(stderr, "%s\n", qm_last_error());
    return 1;
  }
  printf("o[0, 0, 0, 0:4] = %.6f %.6f %.6f %.6f\n", o[0], o[1], o[2], o[3]);
  error = worst_error(q, k, v, o);
  printf("largest error against double precision: %.1e\n", error);

  /* What does not fit is an error that says what there is. */
  kv_shape[3] = q_shape[3] = 32;
  if (layers_full(&dq, &dk, &dv, &out, NULL) != QM_ERROR_NO_KERNEL)
    return 1;
  printf("head dim 32: %.60s...\n", qm_last_error());

  layers_unload();
  free(q);
  free(k);
  free(v);
  free(o);
  return error < 1e-5 ? 0 : 1;
}
