/*===- spec_abi.h - the specs of a shared object, for C and dlsym --*- C
-*-===*\
|*
|* A shared object made of spec files and libqm_dsl.a exports these functions.
|* Specs are numbered from 0 in the order of their definition. All strings
belong
|* to the library and live until it is unloaded. Not thread-safe.
|*
\*===----------------------------------------------------------------------===*/
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this interface; it grows when something below changes meaning. */
#define QM_SPEC_ABI_VERSION 1

typedef struct qm_spec_diagnostic_t {
  const char *code; /* "QM0103" */
  const char *file; /* as the compiler was given it */
  int line, column; /* from 1; 0 where unknown */
  const char *message;
  const char *help; /* the way out, or "" */
} qm_spec_diagnostic_t;

int qm_spec_abi_version(void);

/* Number of specs. */
int qm_spec_count(void);

/* Name of a spec; NULL for a number out of range. */
const char *qm_spec_name(int spec);

/* The spec as MLIR text. NULL if it has diagnostics, or for a number out of
 * range. */
const char *qm_spec_mlir(int spec);

/* Number of diagnostics (all are errors); -1 for a number out of range. */
int qm_spec_diagnostic_count(int spec);

/* Fills `out`; returns 0, or -1 for a number out of range. */
int qm_spec_diagnostic(int spec, int index, qm_spec_diagnostic_t *out);

#ifdef __cplusplus
}
#endif
