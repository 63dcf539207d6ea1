"""Arrays of other libraries as DLTensors, without a copy.

NumPy's arrays come through the array interface (that of DLPack refuses read-only arrays and knows no bfloat16 of ml_dtypes),
all others through `__dlpack__`. A library whose objects can be read faster registers a reader (torch/operator.py does).
"""

import ctypes
import struct
import sys

from .abi import DLManagedTensor, DLManagedTensorVersioned

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_CODES = {"i": 0, "u": 1, "f": 2, "bf": 4, "b": 6}
# DLPack's (code, bits) to names; unsigned bytes and booleans are read as flags.
_NAMES = {
    (2, 16): "f16",
    (4, 16): "bf16",
    (2, 32): "f32",
    (2, 64): "f64",
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (6, 8): "i1",
    (1, 8): "i1",
    (1, 1): "i1",
}
BITS = {name: code_bits for code_bits, name in reversed(_NAMES.items())}

# A DLTensor: data, device type and ordinal, rank, type code, bits, lanes, shape, strides, byte offset.
HEADER = struct.Struct("PiiiBBHPPQ")
_HEADER_BYTES = HEADER.size
# Extents and strides of a tensor, by rank. DLPack knows no limit; NumPy's and PyTorch's is 64.
EXTENTS = [struct.Struct(f"{2 * rank}q") for rank in range(65)]


class Tensor:
    """A view of memory that somebody else owns. `owner` keeps the memory alive.

    Fields: data (address of the first element), shape, strides (in elements), dtype ("f16", ...), device (type, ordinal), owner,
    read_only.
    """

    __slots__ = ("data", "shape", "strides", "dtype", "device", "owner", "read_only")

    def __init__(self, data, shape, strides, dtype, device, owner, read_only=False):
        self.data = data
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.dtype = dtype
        self.device = device
        self.owner = owner
        self.read_only = read_only

    def transposed(self, first, second):
        """The same memory with two dimensions exchanged."""
        order = list(range(len(self.shape)))
        order[first], order[second] = second, first
        return Tensor(
            self.data,
            [self.shape[i] for i in order],
            [self.strides[i] for i in order],
            self.dtype,
            self.device,
            self.owner,
            self.read_only,
        )

    def of_dtype(self, dtype):
        """The same memory read as another type of the same size."""
        return Tensor(self.data, self.shape, self.strides, dtype, self.device, self.owner, self.read_only)

    @property
    def packed_bytes(self):
        return _HEADER_BYTES + 16 * len(self.shape)

    def pack_into(self, buffer, at, address):
        """Writes a DLTensor and the extents and strides that it points to; `buffer` lies at `address`."""
        rank, at_extents = len(self.shape), at + _HEADER_BYTES
        extents = address + at_extents
        code, bits = BITS[self.dtype]
        device_type, ordinal = self.device
        HEADER.pack_into(buffer, at, self.data, device_type, ordinal, rank, code, bits, 1, extents, extents + 8 * rank, 0)
        EXTENTS[rank].pack_into(buffer, at_extents, *self.shape, *self.strides)


_readers = {}


def register_reader(type, reader):
    """`reader(array)` gives the Tensor of an array of this type."""
    _readers[type] = reader


def view(array, stream=None):
    """The Tensor of an array; a GPU producer is told that `stream` (an address) will use it."""
    if isinstance(array, Tensor):
        return array
    reader = _readers.get(type(array))
    if reader is not None:
        return reader(array)
    if _is_numpy(array):
        return _view_numpy(array)
    if hasattr(array, "__dlpack__"):
        return _view_dlpack(array, stream)
    raise TypeError(f"{type(array).__name__} is not an array: it has neither __dlpack__ nor NumPy's array interface")


def view_output(array, stream=None):
    """The Tensor of an array that is written."""
    tensor = view(array, stream)
    if tensor.read_only:
        raise ValueError("a result cannot be written to an array that is read-only")
    return tensor


def describe(array):
    """(dtype, shape)"""
    tensor = view(array)
    return tensor.dtype, tensor.shape


def device_of(array):
    """(type, ordinal) as DLPack has them."""
    if isinstance(array, Tensor):
        return array.device
    if _is_numpy(array):
        return (CPU, 0)
    if not hasattr(array, "__dlpack_device__"):
        raise TypeError(f"{type(array).__name__} is not an array: it has neither __dlpack__ nor NumPy's array interface")
    return tuple(int(x) for x in array.__dlpack_device__())


def parse_device(device):
    """ "cpu", "cuda", "cuda:1", or a pair of DLPack, as (type, ordinal)."""
    if isinstance(device, tuple):
        type, ordinal = device
        return (CPU, 0) if type == CUDA_HOST else (CUDA if type == CUDA_MANAGED else type, ordinal)
    name, _, ordinal = str(device).partition(":")
    if name not in ("cpu", "cuda") or (ordinal and not ordinal.isdigit()):
        raise ValueError(f"a device is 'cpu', 'cuda' or 'cuda:1', not {device!r}")
    return (CPU if name == "cpu" else CUDA, int(ordinal or 0))


def _is_numpy(array):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.ndarray)


def _view_numpy(array):
    interface = array.__array_interface__
    kind, size = array.dtype.kind, array.dtype.itemsize
    if array.dtype.name == "bfloat16":
        dtype = "bf16"
    elif not array.dtype.isnative:
        raise TypeError("the array's bytes are in the other order: array.astype(array.dtype.newbyteorder('='))")
    else:
        dtype = _NAMES.get((_CODES.get(kind), 8 * size))
    if dtype is None:
        raise TypeError(f"no kernel takes elements of type {array.dtype}")
    for stride, extent in zip(array.strides, array.shape):
        if stride % size and extent > 1:
            raise TypeError("the array's strides are not multiples of its element size: a copy is needed")
    address, read_only = interface["data"]
    return Tensor(address, array.shape, [s // size for s in array.strides], dtype, (CPU, 0), array, read_only)


def _view_dlpack(array, stream):
    device = tuple(int(x) for x in array.__dlpack_device__())
    options = {}
    if device[0] in (CUDA, CUDA_MANAGED):
        options["stream"] = 1 if not stream else stream  # 1: the legacy default stream
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        capsule = array.__dlpack__(**options)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    if valid(capsule, b"dltensor_versioned"):
        managed = DLManagedTensorVersioned.from_address(get(capsule, b"dltensor_versioned"))
        tensor, read_only = managed.tensor, bool(managed.flags & 1)
    else:
        read_only = False
        tensor = DLManagedTensor.from_address(get(capsule, b"dltensor")).tensor
    dtype = _NAMES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"no kernel takes elements of DLPack type ({tensor.code}, {tensor.bits}, {tensor.lanes})")
    shape = [ctypes.c_int64.from_address(tensor.shape + 8 * i).value for i in range(tensor.rank)]
    if tensor.strides:
        strides = [ctypes.c_int64.from_address(tensor.strides + 8 * i).value for i in range(tensor.rank)]
    else:
        strides, compact = [], 1
        for extent in reversed(shape):
            strides.insert(0, compact)
            compact *= extent
    # The capsule is not consumed: when it dies, its destructor gives the memory back.
    return Tensor((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, device, (array, capsule), read_only)


def current_stream(array):
    """The stream on which the array's own library works now, as an address; 0 is the default stream."""
    library = type(array).__module__.split(".", 1)[0]
    module = sys.modules.get(library)
    if library == "torch":
        return module.cuda.current_stream(array.device).cuda_stream if array.is_cuda else 0
    if library in ("cupy", "cupyx"):
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def empty(like, shape, dtype, order=None):
    """An array without contents, of the library and on the device of `like`.

    order: the dimensions from the outermost in memory to the innermost; default: as they stand.
    """
    library = type(like).__module__.split(".", 1)[0]
    order = list(order or range(len(shape)))
    back = [order.index(i) for i in range(len(shape))]
    extents = [shape[i] for i in order]
    if library == "torch":
        torch = sys.modules["torch"]
        kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]
        return torch.empty(extents, dtype=kind, device=like.device).permute(back)
    if library == "cupy" or _is_numpy(like):
        module = sys.modules["cupy" if library == "cupy" else "numpy"]
        kind = like.dtype if dtype == "bf16" else {"f16": "float16", "f32": "float32"}[dtype]
        return module.empty(extents, dtype=kind).transpose(back)
    raise TypeError(f"results cannot be made as arrays of {library}: pass out= (and lse=) in memory that may be written")
