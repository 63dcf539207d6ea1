"""Libraries of ready kernels: what `qmc build` wrote, loaded by the runtime."""

import ctypes

from .abi import runtime
from .errors import LaunchError
from .kernel import Kernel, Operator


class Library:
    """The operators of one library, by name: `library["gemma2"]`. It lives until the process ends or `close` is called.

    `kernels` are all kernels by name: an operator has one for each element type and head dim it was built for.
    """

    def __init__(self, path):
        self.path = str(path)
        handle = ctypes.c_void_p()
        runtime().library_load(self.path.encode(), handle)
        self._handle = handle
        kernels = {}
        for kernel in self._each("kernel"):
            kernels[kernel] = Kernel(self, ctypes.c_void_p(kernel))
        self.kernels = {kernel.name: kernel for kernel in kernels.values()}
        operators = [Operator(self, ctypes.c_void_p(operator), kernels) for operator in self._each("operator")]
        self.operators = {operator.name: operator for operator in operators}

    def _each(self, what):
        """The addresses of the library's kernels or operators."""
        count = getattr(runtime().library, f"qm_library_{what}_count")(self._handle)
        for at in range(count):
            handle = ctypes.c_void_p()
            getattr(runtime(), f"library_{what}_at")(self._handle, at, handle)
            yield handle.value

    def check_open(self):
        if self._handle is None:
            raise LaunchError(f"the library {self.path} is closed\nhelp: load it again")

    def __getitem__(self, name):
        """The operator `name`, or the kernel of that name; LaunchError QM0507 lists what there is."""
        found = self.operators.get(name) or self.kernels.get(name)
        if found is None:
            raise LaunchError(
                f"QM0507: {self.path} has no operator '{name}'\nhelp: it has {', '.join(sorted(self.operators)) or 'none'}", "QM0507"
            )
        return found

    def __contains__(self, name):
        return name in self.operators

    def __iter__(self):
        return iter(self.operators)

    def __len__(self):
        return len(self.operators)

    def close(self):
        """Unloads the kernels. Work on streams must have finished. Kernels of a closed library raise when called."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            runtime().library.qm_library_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<Library {self.path}: {len(self.operators)} operators, {len(self.kernels)} kernels>"


def load(path):
    """The Library of a file: libNAME.so of `qmc build --emit=lib`, or a manifest NAME.json with its images beside it."""
    return Library(path)
