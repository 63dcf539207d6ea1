"""Arrays of a library that speaks DLPack only: the memory is NumPy's, the device what the test says."""

import ctypes

from qimeng_attention.abi import DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor
from qimeng_attention.tensors import view

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """`versioned`: gives the capsules of DLPack 1.x where they are asked for. `streams` records what consumers named."""

    def __init__(self, array, device=(1, 0), versioned=True, offset=0, read_only=False):
        self.array, self.device, self.versioned, self.offset, self.read_only = array, device, versioned, offset, read_only
        self.streams = []
        self._kept = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, max_version=None):
        if max_version is not None and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        source = view(self.array)
        block = ctypes.create_string_buffer(source.packed_bytes)
        source.pack_into(block, 0, ctypes.addressof(block))
        tensor = DLTensor.from_buffer(block)  # points into the block
        tensor.device, tensor.data, tensor.byte_offset = DLDevice(*self.device), tensor.data - self.offset, self.offset
        if max_version is None:
            managed, name = DLManagedTensor(tensor, None, None), b"dltensor"
        else:
            managed, name = DLManagedTensorVersioned(1, 0, None, None, int(self.read_only), tensor), b"dltensor_versioned"
        self._kept += [block, managed]
        return _new(ctypes.addressof(managed), name, None)
