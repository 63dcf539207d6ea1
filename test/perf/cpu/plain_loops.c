/* Attention as its definition reads: three loops a head, f32, one thread. What
 * a compiler has to beat. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Tensors are [heads, rows, dim], contiguous. Heads [head_begin, head_end) are
 * computed. */
void plain_attention(const float *q, const float *k, const float *v, float *o,
                     int64_t head_begin, int64_t head_end, int64_t rows,
                     int64_t dim, int causal) {
  float scale = 1.0f / sqrtf((float)dim);
  float *scores = malloc(rows * sizeof(float));
  for (int64_t h = head_begin; h < head_end; ++h)
    for (int64_t i = 0; i < rows; ++i) {
      const float *query = q + (h * rows + i) * dim;
      float *out = o + (h * rows + i) * dim;
      int64_t keys = causal ? i + 1 : rows;
      float max = -INFINITY, sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        const float *key = k + (h * rows + j) * dim;
        float score = 0;
        for (int64_t d = 0; d < dim; ++d)
          score += query[d] * key[d];
        scores[j] = score * scale;
        max = scores[j] > max ? scores[j] : max;
      }
      for (int64_t d = 0; d < dim; ++d)
        out[d] = 0;
      for (int64_t j = 0; j < keys; ++j) {
        const float *value = v + (h * rows + j) * dim;
        float p = expf(scores[j] - max);
        sum += p;
        for (int64_t d = 0; d < dim; ++d)
          out[d] += p * value[d];
      }
      for (int64_t d = 0; d < dim; ++d)
        out[d] /= sum;
    }
  free(scores);
}
