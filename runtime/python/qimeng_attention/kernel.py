"""What a library holds, and calls of it: operators (one a spec), their kernels, and the images of a kernel."""

import ctypes
import struct

from .abi import F32, I32, TENSOR, ArgumentInfo, DLDevice, KernelInfo, OperatorInfo, VariantInfo, runtime
from .tensors import Tensor, current_stream, empty, parse_device, view, view_output


class Argument:
    """One argument of a kernel: name, dtype, shape (-1: run-time extent), and role: "q", "k", "v", "buffer", "scalar", a kind of lengths
    ("cu_q", "cu_kv", "len_q", "len_kv"), or a result ("o", "lse", "row_max").
    """

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


def _heads_first(tensor):
    return tensor.transposed(1, 2) if len(tensor.shape) == 4 else tensor


# A qm_value: kind, reserved, and a pointer or a number. Then qm_launch_options: size, stream, threads, flags.
_POINTER_VALUE, _I32_VALUE, _F32_VALUE = (struct.Struct(f"ii{field}") for field in ("P", "i4x", "f4x"))
_OPTIONS = struct.Struct("NPII")


class Callable:
    """What can be called with arrays: a kernel or an operator. See __call__."""

    def __init__(self, library, handle, launch, name, arguments):
        self._library = library
        self._handle = handle
        self._launch = launch
        self.name = name
        self.arguments = arguments
        self._fixed = [_POINTER_VALUE.size * len(arguments), _POINTER_VALUE.size * len(arguments) + _OPTIONS.size]
        self._captures = [a for a in self.arguments if a.role not in ("q", "k", "v") and not a.is_output]
        self._statistics = [a.role for a in self.arguments if a.is_output and a.role != "o"]

    def __call__(
        self, q, k, v, *, out=None, lse=None, row_max=None, layout="bhsd", stream=None, threads=0, **captures
    ):  # fmt: skip
        """Attention of q [B, Hq, Sq, D], k [B, Hkv, Skv, D] and v [B, Hkv, Skv, Dv]: o [B, Hq, Sq, Dv], or a tuple of o and the kernel's
        statistics, lse and row_max [B, Hq, Sq]. A kernel for packed sequences takes [T, H, D] as well, and gives o [T, Hq, Dv] and
        statistics [Hq, T].

        Arrays are NumPy's or anything with `__dlpack__`, all on one device, of any strides (the head dim contiguous; on a GPU rows
        start at multiples of 16 bytes). Nothing is copied or converted.

        captures: the kernel's buffers, scalars and lengths, by name.
        out, lse, row_max: results are written here, else to new arrays of q's library, in q's order of dimensions.
        layout: "bhsd", or "bshd" for q, k, v and o with heads after the sequence.
        stream: GPU: the address of a CUstream, or a stream object; default: the current stream of q's library. The call does not
            wait for the kernel.
        threads: CPU: threads to use; 0: every core. The call returns when the work is done.

        Raises LaunchError with the runtime's code where an argument does not fit; nothing is written then.
        """
        if layout not in ("bhsd", "bshd"):
            raise ValueError(f"layout is 'bhsd' or 'bshd', not {layout!r}")
        if not 0 <= threads < 2**32:
            raise ValueError(f"threads={threads}: a number of threads, or 0 for every core")
        self._library.check_open()
        address = _stream_address(stream, q)
        operands = {"q": view(q, address), "k": view(k, address), "v": view(v, address)}
        if layout == "bshd":
            operands = {role: _heads_first(tensor) for role, tensor in operands.items()}
        if out is None:
            out = self._new_output(q, operands, layout)
        o = view_output(out, address)
        results = {"o": _heads_first(o) if layout == "bshd" else o}
        returned, given = [out], {"lse": lse, "row_max": row_max}
        for role in self._statistics:
            array = given[role]
            if array is None:
                array = empty(q, self._statistics_shape(operands["q"].shape), "f32")
            returned.append(array)
            results[role] = view_output(array, address)
        for role, array in given.items():
            if array is not None and role not in self._statistics:
                raise TypeError(f"'{self.name}' returns no {role} to write to {role}=: a spec says return_{role}=True")
        tensors = {**operands, **results}
        given = [tensors[a.role] if a.role in tensors else self._captured(a, captures, address) for a in self.arguments]
        if len(captures) != len(self._captures):
            self._refuse_unknown(captures)
        self.launch(given, address, threads)
        return tuple(returned) if self._statistics else out

    @staticmethod
    def _statistics_shape(shape):
        """[B, H, S, D] to [B, H, S]; packed [T, H, D] to [H, T]."""
        return shape[1::-1] if len(shape) == 3 else shape[:-1]

    @staticmethod
    def _new_output(q, operands, layout):
        shape, strides = operands["q"].shape, operands["q"].strides
        rank = len(shape)
        order = sorted(range(rank - 1), key=lambda at: -strides[at]) + [rank - 1]
        out = empty(q, shape[:-1] + operands["v"].shape[-1:], operands["q"].dtype, order if rank else None)
        return out.swapaxes(1, 2) if layout == "bshd" and rank == 4 else out

    def launch(self, given, stream=0, threads=0):
        """The call itself: for each of `arguments` a Tensor or a number."""
        # One block of memory: the values, the options, then the DLTensors that values point to.
        options, at = self._fixed
        block = ctypes.create_string_buffer(at + sum([x.packed_bytes for x in given if type(x) is Tensor]))
        address, place = ctypes.addressof(block), 0
        for argument, value in zip(self.arguments, given):
            if type(value) is Tensor:
                _POINTER_VALUE.pack_into(block, place, TENSOR, 0, address + at)
                value.pack_into(block, at, address)
                at += value.packed_bytes
            elif argument.dtype == "f32":
                _F32_VALUE.pack_into(block, place, F32, 0, value)
            else:
                _I32_VALUE.pack_into(block, place, I32, 0, value)
            place += 16
        _OPTIONS.pack_into(block, options, _OPTIONS.size, stream, threads, 0)
        self._launch(self._handle, address, len(given), address + options)

    def bind(self, tensors, numbers):
        """Tensors and numbers of the kernel's buffers, lengths and scalars, each in the kernel's order, as `launch` takes them."""
        if len(tensors) + len(numbers) == len(self._captures):
            if not self._captures:
                return []
            tensors, numbers = iter(tensors), iter(numbers)
            bound = [next(tensors if a.is_tensor else numbers, None) for a in self._captures]
            if None not in bound:
                return [self._as_argument(a, x) for a, x in zip(self._captures, bound)]
        needed = ", ".join(f"{a.name} ({self._describe(a)})" for a in self._captures) or "none"
        raise TypeError(f"'{self.name}' needs other buffers and scalars: {needed}")

    def _captured(self, argument, captures, stream):
        if argument.name not in captures:
            raise TypeError(f"'{self.name}' needs {argument.name}=, {self._describe(argument)}")
        value = captures[argument.name]
        return self._as_argument(argument, view(value, stream) if argument.is_tensor else value)

    @staticmethod
    def _as_argument(argument, value):
        if argument.is_tensor:
            # Flags are bytes for the kernel.
            return value.of_dtype("i8") if argument.dtype == "i8" and value.dtype == "i1" else value
        if argument.dtype == "f32":
            return float(value)
        if int(value) != value or not -(2**31) <= value < 2**31:
            raise ValueError(f"{argument.name}={value!r} is not a 32-bit integer")
        return int(value)

    def _refuse_unknown(self, captures):
        known = {a.name for a in self._captures}
        unknown = [name for name in captures if name not in known]
        has = "; it has " + ", ".join(sorted(known)) if known else " and takes no buffers or scalars"
        raise TypeError(f"'{self.name}' has no argument {', '.join(unknown)}{has}")

    @staticmethod
    def _describe(argument):
        return f"an array of {argument.dtype} {list(argument.shape)}" if argument.is_tensor else f"a number ({argument.dtype})"


def _info(make, get, *arguments):
    """A struct of the runtime's, filled by one of its functions."""
    info = make(ctypes.sizeof(make))
    get(*arguments, info)
    return info


class Kernel(Callable):
    """One kernel of a library: a spec for one element type and one set of shapes. `variants` are its images."""

    def __init__(self, library, handle):
        abi = runtime()
        info = _info(KernelInfo, abi.kernel_get_info, handle)
        arguments = [Argument(_info(ArgumentInfo, abi.kernel_get_argument, handle, at)) for at in range(info.argument_count)]
        super().__init__(library, handle, abi.launch, info.name.decode(), arguments)
        self.variants = [Variant(_info(VariantInfo, abi.kernel_get_variant, handle, at)) for at in range(info.variant_count)]

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

    def __repr__(self):
        return f"<Kernel {self.name}: {', '.join(v.target for v in self.variants)}>"


class Operator(Callable):
    """A spec in a library. A call runs the first of its `kernels` that fits element types, shapes, lengths and the device."""

    def __init__(self, library, handle, kernels):
        abi = runtime()
        info = _info(OperatorInfo, abi.operator_get_info, handle)
        self.kernels = []
        for at in range(info.kernel_count):
            kernel = ctypes.c_void_p()
            abi.operator_kernel_at(handle, at, kernel)
            self.kernels.append(kernels[kernel.value])
        super().__init__(library, handle, abi.operator_launch, info.name.decode(), self.kernels[0].arguments)

    def prepare(self, device="cpu"):
        """Loads the kernels that run on a device now: before a timed region or CUDA graph capture."""
        self._library.check_open()
        runtime().operator_prepare(self._handle, DLDevice(*parse_device(device)))

    def __repr__(self):
        return f"<Operator {self.name}: {', '.join(k.name for k in self.kernels)}>"
