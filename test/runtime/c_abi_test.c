/*===- c_abi_test.c - qm.h from C99
------------------------------------------===*\
|*
|* Compiled with -std=c99 -pedantic -Wall -Wextra -Werror. A whole use of the
|* library: make it from memory, look a kernel up, launch, read an error.
|*
\*===------------------------------------------------------------------------===*/

#include "runtime/qm.h"

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("line %d: %s; last error: %s\n", __LINE__, #condition,            \
             qm_last_error());                                                 \
      return 1;                                                                \
    }                                                                          \
  } while (0)

static const char manifest[] =
    "{\"qm_manifest\": 1, \"kernels\": [{\"name\": \"copy\", \"target\": "
    "\"cpu\","
    "\"entry\": \"copy\", \"image\": \"copy\", \"tile_m\": 1, \"tile_n\": 1,"
    "\"args\": ["
    "{\"name\": \"q\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"q\"},"
    "{\"name\": \"k\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"k\"},"
    "{\"name\": \"v\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"v\"},"
    "{\"name\": \"bonus\", \"kind\": \"scalar\", \"dtype\": \"i32\","
    " \"role\": \"scalar\"},"
    "{\"name\": \"o\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"o\"}]}]}";

/* o = q + bonus; slots: 9 each for q, k, v, one for bonus, 9 for o. */
static void copy(const int64_t *slots, int64_t begin, int64_t end) {
  const float *q = (const float *)(intptr_t)slots[0];
  float *o = (float *)(intptr_t)slots[28];
  int64_t tile, d;
  for (tile = begin; tile < end; ++tile)
    for (d = 0; d < 2; ++d)
      o[tile * slots[35] + d] = q[tile * slots[7] + d] + (float)slots[27];
}

int main(void) {
  float q[6] = {1, 2, 3, 4, 5, 6}, o[6] = {0};
  int64_t shape[4] = {1, 1, 3, 2};
  DLTensor input, output;
  qm_image image;
  qm_library *library = NULL;
  const qm_kernel *kernel = NULL;
  qm_launch_options options;
  DLDevice cpu;
  size_t variant = 7;
  int i;

  EXPECT(qm_abi_version() == QM_ABI_VERSION);
  EXPECT(strcmp(qm_last_error(), "") == 0);

  memset(&image, 0, sizeof image);
  image.size = sizeof image;
  image.name = "copy";
  image.entry = copy;
  EXPECT(qm_library_create(manifest, sizeof manifest - 1, &image, 1,
                           &library) == QM_OK);
  EXPECT(qm_library_find(library, "copy", &kernel) == QM_OK);
  cpu.device_type = kDLCPU;
  cpu.device_id = 0;
  EXPECT(qm_kernel_select(kernel, cpu, &variant) == QM_OK && variant == 0);

  memset(&input, 0, sizeof input);
  input.data = q;
  input.device = cpu;
  input.ndim = 4;
  input.dtype.code = kDLFloat;
  input.dtype.bits = 32;
  input.dtype.lanes = 1;
  input.shape = shape;
  output = input;
  output.data = o;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  {
    qm_value arguments[5];
    arguments[0] = qm_tensor(&input);
    arguments[1] = qm_tensor(&input);
    arguments[2] = qm_tensor(&input);
    arguments[3] = qm_i32(10);
    arguments[4] = qm_tensor(&output);
    EXPECT(qm_launch(kernel, arguments, 5, &options) == QM_OK);
    for (i = 0; i < 6; ++i)
      EXPECT(o[i] == q[i] + 10);

    arguments[3] = qm_f32(10.0f);
    EXPECT(qm_launch(kernel, arguments, 5, NULL) == QM_ERROR_ARGUMENT_KIND);
    EXPECT(strncmp(qm_last_error(), "QM0510: ", 8) == 0);
  }
  qm_library_destroy(library);
  printf("the C ABI works from C99\n");
  return 0;
}
