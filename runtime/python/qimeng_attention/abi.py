"""runtime/qm.h as ctypes, and the search for the runtime, libqimeng.so.

It is, in this order: the file that QM_LIBRARY names, the one inside this package (a wheel has it), libqimeng.so.1 of the loader's
search path.
"""

import ctypes
import os
import pathlib

from .errors import LaunchError

ABI_VERSION = 1
TENSOR, I32, F32 = 1, 2, 3


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("ordinal", ctypes.c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


class KernelInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("argument_count", ctypes.c_size_t),
        ("variant_count", ctypes.c_size_t),
    ]


class OperatorInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("kernel_count", ctypes.c_size_t)]


class ArgumentInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("role", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("is_tensor", ctypes.c_int32),
        ("is_output", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
    ]


class VariantInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("image", ctypes.c_char_p),
        ("format", ctypes.c_char_p),
        ("tile_m", ctypes.c_int64),
        ("tile_n", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("shared_bytes", ctypes.c_int64),
    ]


_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_FUNCTIONS = {
    "qm_library_load": [ctypes.c_char_p, ctypes.POINTER(_POINTER)],
    "qm_library_kernel_at": [_POINTER, _SIZE, ctypes.POINTER(_POINTER)],
    "qm_library_operator_at": [_POINTER, _SIZE, ctypes.POINTER(_POINTER)],
    "qm_operator_get_info": [_POINTER, ctypes.POINTER(OperatorInfo)],
    "qm_operator_kernel_at": [_POINTER, _SIZE, ctypes.POINTER(_POINTER)],
    "qm_operator_launch": [_POINTER, _POINTER, _SIZE, _POINTER],
    "qm_operator_prepare": [_POINTER, DLDevice],
    "qm_kernel_get_info": [_POINTER, ctypes.POINTER(KernelInfo)],
    "qm_kernel_get_argument": [_POINTER, _SIZE, ctypes.POINTER(ArgumentInfo)],
    "qm_kernel_get_variant": [_POINTER, _SIZE, ctypes.POINTER(VariantInfo)],
    "qm_kernel_select": [_POINTER, DLDevice, ctypes.POINTER(_SIZE)],
    "qm_kernel_prepare": [_POINTER, DLDevice],
    "qm_kernel_check": [_POINTER, _POINTER, _SIZE],
    "qm_launch": [_POINTER, _POINTER, _SIZE, _POINTER],
}


def _candidates():
    if named := os.environ.get("QM_LIBRARY"):
        return [named]
    return [str(pathlib.Path(__file__).with_name("libqimeng.so")), "libqimeng.so.1"]


class Runtime:
    """libqimeng.so: each function of _FUNCTIONS as a method that raises LaunchError with the runtime's text."""

    def __init__(self):
        failures = []
        for path in _candidates():
            try:
                self.library = ctypes.CDLL(path)
                break
            except OSError as error:
                failures.append(str(error))
        else:
            raise LaunchError(
                "the runtime libqimeng.so is not found: " + "; ".join(failures) + "\nhelp: install the wheel that holds it, or set "
                "QM_LIBRARY to the file"
            )
        self.library.qm_last_error.restype = ctypes.c_char_p
        for count in (self.library.qm_library_kernel_count, self.library.qm_library_operator_count):
            count.restype, count.argtypes = _SIZE, [_POINTER]
        self.library.qm_library_destroy.restype = None
        self.library.qm_library_destroy.argtypes = [_POINTER]
        version = self.library.qm_abi_version()
        if version != ABI_VERSION:
            raise LaunchError(
                f"libqimeng.so has version {version} of the interface, this package speaks {ABI_VERSION}\nhelp: install the two of one "
                "release"
            )
        for name, arguments in _FUNCTIONS.items():
            function = getattr(self.library, name)
            function.argtypes = arguments
            setattr(self, name[3:], self._checked(function))

    def _checked(self, function):
        last_error = self.library.qm_last_error

        def call(*arguments):
            if function(*arguments):
                raise LaunchError.from_text(last_error().decode(errors="replace"))

        return call


_runtime = None


def runtime():
    """The one Runtime, loaded when it is first needed."""
    global _runtime
    if _runtime is None:
        _runtime = Runtime()
    return _runtime
