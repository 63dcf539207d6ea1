/* Prints the specs of a shared object: print_spec LIBRARY. C, because the
 * interface is for C. */
#include <qm/spec_abi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ISO C has no cast from an object pointer to a function pointer. */
static int find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof(symbol));
  return symbol != NULL;
}

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*version)(void), (*count)(void), (*diagnostic_count)(int);
  const char *(*mlir)(int);
  int (*diagnostic)(int, int, qm_spec_diagnostic_t *);
  int failed = 0;
  if (!library || !find(library, "qm_spec_abi_version", &version) ||
      !find(library, "qm_spec_count", &count) ||
      !find(library, "qm_spec_mlir", &mlir) ||
      !find(library, "qm_spec_diagnostic_count", &diagnostic_count) ||
      !find(library, "qm_spec_diagnostic", &diagnostic)) {
    fprintf(stderr, "print_spec: %s\n",
            argc == 2 ? dlerror() : "usage: print_spec LIBRARY");
    return 2;
  }
  if (version() != QM_SPEC_ABI_VERSION || count() == 0)
    return 2;
  for (int spec = 0; spec < count(); ++spec) {
    const char *text = mlir(spec);
    if (text)
      fputs(text, stdout);
    for (int k = 0; k < diagnostic_count(spec); ++k) {
      qm_spec_diagnostic_t d;
      if (diagnostic(spec, k, &d))
        return 2;
      failed = 1;
      fprintf(stderr, "%s:%d:%d: error: %s: %s\nhelp: %s\n", d.file, d.line,
              d.column, d.code, d.message, d.help);
    }
  }
  return failed;
}
