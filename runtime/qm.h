/*===- qm.h - run compiled attention kernels: the C ABI -------------------===*\
|*
|* Loads what `qmc build` wrote (a JSON manifest and its images), checks tensors
|* against it, and launches on an NVIDIA GPU or on the CPU. C99; no C++ type, no
|* CUDA header. The driver is found at run time (libcuda.so.1, then libcuda.so,
|* or the file named by QM_CUDA_DRIVER), so a program that uses this header
|* builds, links and starts where there is no GPU.
|*
|* Rules that hold for every function:
|*  - The result is 0 (QM_OK) or a qm_status; its number is that of the
|*    diagnostic (513 is QM0513, `qmc explain QM0513`). qm_last_error() has the
|*    text for the calling thread.
|*  - On failure nothing was launched and no output was written.
|*  - Every function may be called from any thread at any time; only
|*    qm_library_destroy() must be the last call on its library. A handle that
|*    was freed, or never was one, is an error (QM_ERROR_INVALID_HANDLE).
|*  - Structs begin with `size`: set it to sizeof the struct. It lets a newer
|*    runtime serve an older caller, and the other way round.
|*
\*===----------------------------------------------------------------------===*/
#ifndef QM_QM_H
#define QM_QM_H

#include <stddef.h>
#include <stdint.h>

/* DLTensor. A newer copy (DLPack 1.x: same layout) may be included first. */
#ifndef DLPACK_DLPACK_H_
#include <dlpack/dlpack.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QM_API __attribute__((visibility("default")))
#else
#define QM_API
#endif

/* Raised when a struct or a function of this header changes incompatibly. */
#define QM_ABI_VERSION 1

typedef enum qm_status {
  QM_OK = 0,
  QM_ERROR_NULL_ARGUMENT = 501,
  QM_ERROR_STRUCT_SIZE = 502,
  QM_ERROR_MANIFEST_UNREADABLE = 503,
  QM_ERROR_MANIFEST_INVALID = 504,
  QM_ERROR_MANIFEST_VERSION = 505,
  QM_ERROR_IMAGE_UNREADABLE = 506,
  QM_ERROR_UNKNOWN_KERNEL = 507,
  QM_ERROR_NO_IMAGE_FOR_DEVICE = 508,
  QM_ERROR_ARGUMENT_COUNT = 509,
  QM_ERROR_ARGUMENT_KIND = 510,
  QM_ERROR_TENSOR_DEVICE = 511,
  QM_ERROR_TENSOR_DTYPE = 512,
  QM_ERROR_TENSOR_RANK = 513,
  QM_ERROR_TENSOR_SIZE = 514,
  QM_ERROR_TENSOR_SHAPE = 515,
  QM_ERROR_TENSOR_STRIDE = 516,
  QM_ERROR_TENSOR_ALIGNMENT = 517,
  QM_ERROR_TENSOR_NULL = 518,
  QM_ERROR_HEAD_GROUPS = 519,
  QM_ERROR_INDEX_RANGE = 520,
  QM_ERROR_CPU_ENTRY = 521,
  QM_ERROR_INVALID_HANDLE = 522,
  QM_ERROR_NO_KERNEL = 523,
  QM_ERROR_LIBRARY_FILE = 524,
  QM_ERROR_NO_DRIVER = 530,
  QM_ERROR_DRIVER_SYMBOL = 531,
  QM_ERROR_DRIVER_CALL = 532,
  QM_ERROR_NO_SUCH_DEVICE = 533,
  QM_ERROR_IMAGE_REJECTED = 534,
  QM_ERROR_IMAGE_UNSUPPORTED = 535,
  QM_ERROR_KERNEL_LIMITS = 536,
  QM_ERROR_STREAM_CONTEXT = 537,
  QM_ERROR_STREAM_CAPTURE = 538,
  QM_ERROR_CASE_FILE = 540,
  QM_ERROR_OUT_OF_MEMORY = 598,
  QM_ERROR_INTERNAL = 599
} qm_status;

/* The kernels of one manifest; owns everything below. */
typedef struct qm_library qm_library;
/* One spec: kernels that differ in element type, head dim, head counts or the
 * lengths they are made for. Lives with its library. */
typedef struct qm_operator qm_operator;
/* One kernel with its images for several targets; lives with its library. */
typedef struct qm_kernel qm_kernel;

/* A compiled CPU kernel: runs query tiles [tile_begin, tile_end). */
typedef void (*qm_cpu_entry)(const int64_t *slots, int64_t tile_begin,
                             int64_t tile_end);

QM_API int qm_abi_version(void);

/* Text of the calling thread's last failure, "QM0516: ...", never NULL; valid
 * until that thread's next failure. */
QM_API const char *qm_last_error(void);

/*--- Libraries -------------------------------------------------------------*/

/* An image that is in memory already; `name` is the manifest's "image". Either
 * `data` (cubin or PTX, borrowed: it must outlive the library) or, for a CPU
 * kernel, `entry`. */
typedef struct qm_image {
  size_t size;
  const char *name;
  const void *data;
  size_t bytes;
  qm_cpu_entry entry;
} qm_image;

/* Reads a library (libNAME.so of `qmc build --emit=lib`), or a manifest (.json)
 * and the images beside it. Touches no device. */
QM_API int qm_library_load(const char *path, qm_library **library);

/* The same from memory: `manifest` is the JSON text of `bytes` bytes. */
QM_API int qm_library_create(const char *manifest, size_t bytes,
                             const qm_image *images, size_t image_count,
                             qm_library **library);

/* Unloads its images from every device and frees it. Work still running on a
 * stream must have finished, and the contexts it was launched in must still
 * exist. NULL is allowed. */
QM_API void qm_library_destroy(qm_library *library);

QM_API size_t qm_library_kernel_count(const qm_library *library);
QM_API int qm_library_kernel_at(const qm_library *library, size_t index,
                                const qm_kernel **kernel);
QM_API int qm_library_find(const qm_library *library, const char *name,
                           const qm_kernel **kernel);

QM_API size_t qm_library_operator_count(const qm_library *library);
QM_API int qm_library_operator_at(const qm_library *library, size_t index,
                                  const qm_operator **op);
QM_API int qm_library_find_operator(const qm_library *library, const char *name,
                                    const qm_operator **op);

/* The manifest, JSON text; lives with the library. */
QM_API int qm_library_manifest(const qm_library *library, const char **text);

/*--- What a kernel is ------------------------------------------------------*/

/* Strings and arrays in these structs belong to the library. */
typedef struct qm_kernel_info {
  size_t size;
  const char *name;
  size_t argument_count;
  size_t variant_count; /* images of this kernel */
} qm_kernel_info;

typedef struct qm_argument_info {
  size_t size;
  const char *name;
  const char *role; /* "q", "k", "v", "buffer", "scalar", "o", "lse", "row_max",
                     * "cu_q", "cu_kv", "len_q" or "len_kv" */
  const char *dtype; /* "f16", "bf16", "f32", "f64", "i1", "i8" ... "i64" */
  int32_t is_tensor; /* 0: a scalar, i32 or f32 */
  int32_t is_output;
  int32_t rank;
  const int64_t *shape; /* `rank` extents, -1 where decided at run time */
} qm_argument_info;

typedef struct qm_variant_info {
  size_t size;
  const char *target; /* "sm_80", "cpu" */
  const char *image;
  const char *format; /* "cubin", "ptx" or "cpu" */
  int64_t tile_m;     /* query rows a tile */
  int64_t tile_n;     /* keys a block */
  int64_t threads;    /* threads a CTA; 0 on the CPU */
  int64_t shared_bytes;
} qm_variant_info;

QM_API int qm_kernel_get_info(const qm_kernel *kernel, qm_kernel_info *info);
QM_API int qm_kernel_get_argument(const qm_kernel *kernel, size_t index,
                                  qm_argument_info *info);
QM_API int qm_kernel_get_variant(const qm_kernel *kernel, size_t index,
                                 qm_variant_info *info);

/* Which variant runs on a device: a cubin for exactly this GPU, else a cubin
 * for an earlier GPU of the same major version, else the latest PTX this GPU
 * can run (compiled by the driver when it is loaded), else an error. */
QM_API int qm_kernel_select(const qm_kernel *kernel, DLDevice device,
                            size_t *variant);

/*--- Launch ----------------------------------------------------------------*/

typedef enum qm_value_kind {
  QM_TENSOR = 1,
  QM_I32 = 2,
  QM_F32 = 3
} qm_value_kind;

/* One argument of a call; make it with qm_tensor, qm_i32 or qm_f32. */
typedef struct qm_value {
  int32_t kind; /* a qm_value_kind */
  int32_t reserved;
  union {
    const DLTensor *tensor;
    int32_t i32;
    float f32;
  } as;
} qm_value;

static inline qm_value qm_tensor(const DLTensor *tensor) {
  qm_value value;
  value.kind = QM_TENSOR;
  value.reserved = 0;
  value.as.tensor = tensor;
  return value;
}
static inline qm_value qm_i32(int32_t scalar) {
  qm_value value;
  value.kind = QM_I32;
  value.reserved = 0;
  value.as.tensor = NULL;
  value.as.i32 = scalar;
  return value;
}
static inline qm_value qm_f32(float scalar) {
  qm_value value;
  value.kind = QM_F32;
  value.reserved = 0;
  value.as.tensor = NULL;
  value.as.f32 = scalar;
  return value;
}

typedef struct qm_launch_options {
  size_t size;
  void *stream; /* GPU: CUstream or cudaStream_t; NULL: the default stream */
  uint32_t threads; /* CPU: threads to use; 0: every core */
  uint32_t flags;   /* 0 */
} qm_launch_options;

/* Loads the kernel for a device now. A launch does it by itself the first time
 * it meets a device (or context): call this before a timed region or before
 * CUDA graph capture. A device is {kDLCUDA, ordinal} or {kDLCPU, 0}. */
QM_API int qm_kernel_prepare(const qm_kernel *kernel, DLDevice device);

/* The checks of a launch, and nothing else. */
QM_API int qm_kernel_check(const qm_kernel *kernel, const qm_value *arguments,
                           size_t count);

/* Runs the kernel. `arguments` are all arguments of the kernel in the order of
 * qm_kernel_get_argument: q, k, v, captured buffers and scalars, then outputs.
 *
 * q [B, Hq, Sq, D], k [B, Hkv, Skv, D], v [B, Hkv, Skv, Dv], o [B, Hq, Sq, Dv],
 * lse [B, Hq, Sq] are logical shapes; memory layout is a matter of strides (in
 * elements; NULL: compact row-major). The last stride of q, k, v, o is 1. On a
 * GPU, q, k, v and o start at a multiple of 16 bytes, and so does each row.
 * Hq is a multiple of Hkv. Sq = 0 is legal (nothing to do), and so is Skv = 0
 * (o = 0, lse = -inf). Outputs share no element with an input or with each
 * other; tensors may lie in one another's gaps, so this is not checked.
 *
 * The device is that of the tensors. On a GPU the call is asynchronous on the
 * stream, in the current context if that is on the device, else in the stream's
 * or the device's primary one. On the CPU it returns when the work is done.
 * After the first launch on a device it allocates nothing and waits for
 * nothing. */
QM_API int qm_launch(const qm_kernel *kernel, const qm_value *arguments,
                     size_t count, const qm_launch_options *options);

/*--- Operators -------------------------------------------------------------*/

typedef struct qm_operator_info {
  size_t size;
  const char *name;
  size_t kernel_count;
} qm_operator_info;

QM_API int qm_operator_get_info(const qm_operator *op, qm_operator_info *info);
QM_API int qm_operator_kernel_at(const qm_operator *op, size_t index,
                                 const qm_kernel **kernel);

/* Which kernel a call runs: the first, in the order of the manifest, whose
 * element types, static extents and lengths are those of the call and which has
 * a variant for the device. Else QM_ERROR_NO_KERNEL, with a list of what there
 * is. QM_VERBOSE=1 in the environment prints each choice the first time it is
 * made, and why; QM_VERBOSE=2 prints it at every call. */
QM_API int qm_operator_select(const qm_operator *op, const qm_value *arguments,
                              size_t count, const qm_kernel **kernel);

/* qm_operator_select, then qm_launch. */
QM_API int qm_operator_launch(const qm_operator *op, const qm_value *arguments,
                              size_t count, const qm_launch_options *options);

/* qm_kernel_prepare for each of its kernels that runs on the device. */
QM_API int qm_operator_prepare(const qm_operator *op, DLDevice device);

/* Bytes of device memory that a call needs besides its arguments. A kernel of
 * this version needs none: `bytes` is 0 for every valid call. A later library
 * whose kernels need some is refused when it is loaded (QM0505). */
QM_API int qm_operator_workspace(const qm_operator *op,
                                 const qm_value *arguments, size_t count,
                                 size_t *bytes);

/*--- Embedded libraries ----------------------------------------------------*/

typedef struct qm_cpu_symbol {
  const char *name; /* the manifest's "image" without "cpu:" */
  qm_cpu_entry entry;
} qm_cpu_symbol;

/* What `qmc build --emit=lib` puts into an object file; the functions of NAME.h
 * pass it on. Not for writing by hand. */
typedef struct qm_embedded {
  size_t size;
  int64_t abi_version; /* QM_ABI_VERSION of the compiler */
  const char *name;
  const void *data; /* the package: manifest and images */
  size_t bytes;
  const qm_cpu_symbol *symbols;
  size_t symbol_count;
  void *state; /* the runtime's; NULL at first */
} qm_embedded;

/* The embedded library, made when first asked for and shared from then on;
 * qm_embedded_close frees it, and qm_library_destroy does nothing to it. */
QM_API int qm_embedded_open(qm_embedded *embedded, qm_library **library);

/* Unloads and frees it; the next use makes it again. */
QM_API int qm_embedded_close(qm_embedded *embedded);

/* qm_operator_launch on its operator number `index`. */
QM_API int qm_embedded_launch(qm_embedded *embedded, size_t index,
                              const qm_value *arguments, size_t count,
                              const qm_launch_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* QM_QM_H */
