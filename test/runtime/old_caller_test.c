/*===- old_caller_test.c - callers of other versions of qm.h --------------===*\
|*
|* The structs as an earlier header had them (fewer fields), and as a later one
|* may (more): `size` tells the runtime. And the layout of today's, which must
|* not change while QM_ABI_VERSION is 1.
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/qm.h"

#include <stddef.h>
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
    "{\"qm_manifest\": 1, \"kernels\": [{\"name\": \"mark\", \"target\": "
    "\"cpu\","
    "\"entry\": \"mark\", \"image\": \"mark\", \"tile_m\": 1, \"tile_n\": 1,"
    "\"args\": ["
    "{\"name\": \"q\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"q\"},"
    "{\"name\": \"k\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"k\"},"
    "{\"name\": \"v\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"v\"},"
    "{\"name\": \"o\", \"kind\": \"tensor\", \"dtype\": \"f32\","
    " \"shape\": [-1, 1, -1, 2], \"role\": \"o\"}]}]}";

static int runs = 0;

static void mark(const int64_t *slots, int64_t begin, int64_t end) {
  (void)slots;
  runs += (int)(end - begin);
}

/* What an earlier header had. */
typedef struct {
  size_t size;
  const char *name;
} old_kernel_info;
typedef struct {
  size_t size;
  void *stream;
} old_launch_options;

/* What a later header may have. */
typedef struct {
  qm_launch_options known;
  int64_t added;
} new_launch_options;
typedef struct {
  qm_kernel_info known;
  int64_t added;
} new_kernel_info;

static int check_layout(void) {
  EXPECT(QM_ABI_VERSION == 1);
  EXPECT(sizeof(qm_value) == 16 && offsetof(qm_value, as) == 8);
  EXPECT(sizeof(qm_launch_options) == 24);
  EXPECT(offsetof(qm_launch_options, stream) == 8);
  EXPECT(offsetof(qm_launch_options, threads) == 16);
  EXPECT(offsetof(qm_launch_options, flags) == 20);
  EXPECT(sizeof(qm_image) == 40 && offsetof(qm_image, entry) == 32);
  EXPECT(sizeof(qm_kernel_info) == 32);
  EXPECT(sizeof(qm_operator_info) == 24);
  EXPECT(sizeof(qm_argument_info) == 56);
  EXPECT(offsetof(qm_argument_info, shape) == 48);
  EXPECT(sizeof(qm_variant_info) == 64);
  EXPECT(sizeof(qm_cpu_symbol) == 16);
  EXPECT(sizeof(qm_embedded) == 64 && offsetof(qm_embedded, state) == 56);
  EXPECT(QM_ERROR_NULL_ARGUMENT == 501 && QM_ERROR_INTERNAL == 599);
  return 0;
}

int main(void) {
  float data[2] = {0};
  int64_t shape[4] = {1, 1, 1, 2};
  DLTensor tensor;
  qm_image image;
  qm_library *library = NULL;
  const qm_kernel *kernel = NULL;
  qm_value arguments[4];
  struct {
    old_kernel_info info;
    const char *after;
  } old_info;
  old_launch_options old_options;
  new_launch_options new_options;
  new_kernel_info new_info;
  int i;

  if (check_layout())
    return 1;

  memset(&image, 0, sizeof image);
  image.size = sizeof image;
  image.name = "mark";
  image.entry = mark;
  EXPECT(qm_library_create(manifest, sizeof manifest - 1, &image, 1,
                           &library) == QM_OK);
  EXPECT(qm_library_find(library, "mark", &kernel) == QM_OK);
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 4;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  for (i = 0; i < 4; ++i)
    arguments[i] = qm_tensor(&tensor);

  /* An older caller's struct is filled as far as it goes, and no further. */
  old_info.info.size = sizeof old_info.info;
  old_info.after = "untouched";
  EXPECT(qm_kernel_get_info(kernel, (qm_kernel_info *)&old_info.info) == QM_OK);
  EXPECT(strcmp(old_info.info.name, "mark") == 0);
  EXPECT(old_info.info.size == sizeof old_info.info);
  EXPECT(strcmp(old_info.after, "untouched") == 0);
  old_options.size = sizeof old_options;
  old_options.stream = NULL;
  EXPECT(qm_launch(kernel, arguments, 4,
                   (const qm_launch_options *)&old_options) == QM_OK);
  EXPECT(runs == 1);

  /* A newer caller's: what is not known stays as it was, and must be zero where
   * it asks for something. */
  memset(&new_info, 0, sizeof new_info);
  new_info.known.size = sizeof new_info;
  new_info.added = 7;
  EXPECT(qm_kernel_get_info(kernel, &new_info.known) == QM_OK);
  EXPECT(new_info.known.argument_count == 4 && new_info.added == 7);
  memset(&new_options, 0, sizeof new_options);
  new_options.known.size = sizeof new_options;
  EXPECT(qm_launch(kernel, arguments, 4, &new_options.known) == QM_OK);
  EXPECT(runs == 2);
  new_options.added = 1;
  EXPECT(qm_launch(kernel, arguments, 4, &new_options.known) ==
         QM_ERROR_STRUCT_SIZE);
  EXPECT(runs == 2);

  qm_library_destroy(library);
  printf("callers of other versions are served\n");
  return 0;
}
