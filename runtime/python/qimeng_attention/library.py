"""Libraries of ready kernels: what `qmc build` wrote, loaded by the runtime."""

import ctypes

from .abi import F32, I32, TENSOR, ArgumentInfo, DLDevice, DLTensor, KernelInfo, LaunchOptions, Value, VariantInfo, runtime
from .errors import LaunchError
from .tensors import current_stream, empty, parse_device, view


class Argument:
    """One argument of a kernel: name, role ("q", "k", "v", "buffer", "scalar", "o", "lse"), dtype, shape (-1: run-time extent)."""

    __slots__ = ("name", "role", "dtype", "is_tensor", "is_output", "shape")

    def __init__(self, info):
        self.name = info.name.decode()
        self.role = info.role.decode()
        self.dtype = info.dtype.decode()
        self.is_tensor = bool(info.is_tensor)
        self.is_output = bool(info.is_output)
        self.shape = tuple(info.shape[i] for i in range(info.rank)) if self.is_tensor else ()

    def __repr__(self):
        return f"<{self.role} '{self.name}' {self.dtype} {list(self.shape) if self.is_tensor else ''}>"


class Variant:
    """One image of a kernel: target ("sm_80", "cpu"), format ("cubin", "ptx", "cpu"), tile_m, tile_n, threads, shared_bytes."""

    __slots__ = ("target", "image", "format", "tile_m", "tile_n", "threads", "shared_bytes")

    def __init__(self, info):
        for field in self.__slots__:
            value = getattr(info, field)
            setattr(self, field, value.decode() if isinstance(value, bytes) else value)

    def __repr__(self):
        return f"<variant {self.target} {self.format}>"


def _stream_address(stream, q):
    if stream is None:
        return current_stream(q)
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        if hasattr(stream, name):
            return getattr(stream, name)
    raise TypeError("a stream is the address of a CUstream, or an object with __cuda_stream__, cuda_stream or ptr")


class Kernel:
    """A kernel of a library. Call it with arrays; see __call__."""

    def __init__(self, library, handle):
        self._library = library
        self._handle = handle
        info = KernelInfo(ctypes.sizeof(KernelInfo))
        runtime().kernel_get_info(handle, info)
        self.name = info.name.decode()
        self.arguments = [self._argument(at) for at in range(info.argument_count)]
        self.variants = [self._variant(at) for at in range(info.variant_count)]
        self._captures = [a for a in self.arguments if a.role in ("buffer", "scalar")]
        self._returns_lse = any(a.role == "lse" for a in self.arguments)

    def _argument(self, at):
        info = ArgumentInfo(ctypes.sizeof(ArgumentInfo))
        runtime().kernel_get_argument(self._handle, at, info)
        return Argument(info)

    def _variant(self, at):
        info = VariantInfo(ctypes.sizeof(VariantInfo))
        runtime().kernel_get_variant(self._handle, at, info)
        return Variant(info)

    def prepare(self, device="cpu"):
        """Loads the kernel for a device now, so that the first call does not: before a timed region or CUDA graph capture."""
        self._library.check_open()
        runtime().kernel_prepare(self._handle, DLDevice(*parse_device(device)))

    def select(self, device="cpu"):
        """The Variant that runs on a device."""
        self._library.check_open()
        at = ctypes.c_size_t()
        runtime().kernel_select(self._handle, DLDevice(*parse_device(device)), at)
        return self.variants[at.value]

    def __call__(self, q, k, v, *, out=None, lse=None, layout="bhsd", stream=None, threads=0, **captures):
        """Attention of q [B, Hq, Sq, D], k [B, Hkv, Skv, D] and v [B, Hkv, Skv, Dv]: o [B, Hq, Sq, Dv], or (o, lse) if the kernel has it.

        Arrays are NumPy's or anything with `__dlpack__`, all on one device, of any strides (the head dim contiguous; on a GPU rows
        start at multiples of 16 bytes). Nothing is copied or converted.

        captures: the kernel's buffers and scalars, by name.
        out, lse: results are written here, else to new arrays of q's library, in q's order of dimensions.
        layout: "bhsd", or "bshd" for q, k, v and o with heads after the sequence.
        stream: GPU: the address of a CUstream, or a stream object; default: the current stream of q's library. The call does not
            wait for the kernel.
        threads: CPU: threads to use; 0: every core. The call returns when the work is done.

        Raises LaunchError with the runtime's code where an argument does not fit; nothing is written then.
        """
        if layout not in ("bhsd", "bshd"):
            raise ValueError(f"layout is 'bhsd' or 'bshd', not {layout!r}")
        self._library.check_open()
        address = _stream_address(stream, q)
        operands = {"q": view(q, address), "k": view(k, address), "v": view(v, address)}
        if layout == "bshd":
            operands = {role: _heads_first(tensor) for role, tensor in operands.items()}
        out, lse = self._results(q, operands, out, lse, layout)
        results = {"o": view(out, address)}
        if layout == "bshd":
            results["o"] = _heads_first(results["o"])
        if self._returns_lse:
            results["lse"] = view(lse, address)
        self.launch({**operands, **results}, captures, address, threads)
        return (out, lse) if self._returns_lse else out

    def _results(self, q, operands, out, lse, layout):
        shape, width = operands["q"].shape, operands["v"].shape[-1:]
        if len(shape) != 4:  # the runtime says what is wrong with it
            return (q if out is None else out), (q if lse is None else lse)
        if out is None:
            extents = shape[:3] + width
            strides = operands["q"].strides
            order = sorted(range(3), key=lambda at: -strides[at]) + [3]
            out = empty(q, extents, operands["q"].dtype, order)
            if layout == "bshd":
                out = out.swapaxes(1, 2)
        if lse is None and self._returns_lse:
            lse = empty(q, shape[:3], "f32")
        return out, lse

    def launch(self, tensors, captures, stream=0, threads=0):
        """The call itself: `tensors` are Tensors by role, `captures` arrays and numbers by name."""
        count = len(self.arguments)
        values, descriptors = (Value * count)(), (DLTensor * count)()
        owners = []
        for at, argument in enumerate(self.arguments):
            value = values[at]
            if not argument.is_tensor:
                self._set_scalar(value, argument, captures)
                continue
            tensor = tensors.get(argument.role)
            if tensor is None:
                tensor = view(self._capture(argument, captures), stream)
                if argument.dtype == "i8" and tensor.dtype == "i1":  # flags are bytes for the kernel
                    tensor = tensor.of_dtype("i8")
                owners.append(tensor)
            descriptors[at] = tensor.as_dltensor()
            value.kind = TENSOR
            value.as_.tensor = ctypes.addressof(descriptors[at])
        if captures and len(captures) != len(self._captures):
            self._refuse_unknown(captures)
        options = LaunchOptions(ctypes.sizeof(LaunchOptions), stream or None, threads, 0)
        runtime().launch(self._handle, values, count, options)

    def bind(self, tensors, numbers):
        """Buffers and scalars given in the kernel's order, by name."""
        tensors, numbers = iter(tensors), iter(numbers)
        try:
            bound = {a.name: next(tensors if a.is_tensor else numbers) for a in self._captures}
        except StopIteration:
            bound = {}
        if len(bound) != len(self._captures) or next(tensors, None) is not None or next(numbers, None) is not None:
            needed = ", ".join(f"{a.name} ({self._describe(a)})" for a in self._captures) or "none"
            raise TypeError(f"kernel '{self.name}' needs other buffers and scalars: {needed}")
        return bound

    def _capture(self, argument, captures):
        if argument.name not in captures:
            raise TypeError(f"kernel '{self.name}' needs {argument.name}=, {self._describe(argument)}")
        return captures[argument.name]

    def _set_scalar(self, value, argument, captures):
        number = self._capture(argument, captures)
        if argument.dtype == "i32":
            if int(number) != number or not -(2**31) <= number < 2**31:
                raise ValueError(f"{argument.name}={number!r} is not a 32-bit integer")
            value.kind, value.as_.i32 = I32, int(number)
        else:
            value.kind, value.as_.f32 = F32, float(number)

    def _refuse_unknown(self, captures):
        known = {a.name for a in self._captures}
        unknown = [name for name in captures if name not in known]
        has = "; it has " + ", ".join(sorted(known)) if known else " and takes no buffers or scalars"
        raise TypeError(f"kernel '{self.name}' has no argument {', '.join(unknown)}{has}")

    @staticmethod
    def _describe(argument):
        return f"an array of {argument.dtype} {list(argument.shape)}" if argument.is_tensor else f"a number ({argument.dtype})"

    def __repr__(self):
        return f"<Kernel {self.name}: {', '.join(v.target for v in self.variants)}>"


def _heads_first(tensor):
    return tensor.transposed(1, 2) if len(tensor.shape) == 4 else tensor


class Library:
    """The kernels of one library, by name: `library["gemma2"]`. It lives until the process ends or `close` is called."""

    def __init__(self, path):
        self.path = str(path)
        handle = ctypes.c_void_p()
        runtime().library_load(self.path.encode(), handle)
        self._handle = handle
        count = runtime().library.qm_library_kernel_count(handle)
        self.kernels = {kernel.name: kernel for kernel in (self._kernel(at) for at in range(count))}

    def _kernel(self, at):
        handle = ctypes.c_void_p()
        runtime().library_kernel_at(self._handle, at, handle)
        return Kernel(self, handle)

    def check_open(self):
        if self._handle is None:
            raise LaunchError(f"the library {self.path} is closed\nhelp: load it again")

    def __getitem__(self, name):
        """The kernel `name`; LaunchError QM0507 lists what there is."""
        if name not in self.kernels:
            raise LaunchError(
                f"QM0507: {self.path} has no kernel '{name}'\nhelp: it has {', '.join(sorted(self.kernels)) or 'none'}", "QM0507"
            )
        return self.kernels[name]

    def __contains__(self, name):
        return name in self.kernels

    def __iter__(self):
        return iter(self.kernels)

    def __len__(self):
        return len(self.kernels)

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
        return f"<Library {self.path}: {len(self.kernels)} kernels>"


def load(path):
    """The Library of a file: libNAME.so of `qmc build --emit=lib`, or a manifest NAME.json with its images beside it."""
    return Library(path)
