"""What the package asks the CUDA driver itself: the compute capability of a GPU."""

import ctypes
import os

from .errors import LaunchError

_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


def _driver():
    names = [os.environ["QM_CUDA_DRIVER"]] if "QM_CUDA_DRIVER" in os.environ else ["libcuda.so.1", "libcuda.so"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise LaunchError("QM0530: there is no CUDA driver\nhelp: install it, or pass CPU arrays", "QM0530")


def capability(ordinal):
    """(major, minor) of a GPU."""
    driver, device, parts = _driver(), ctypes.c_int(), []
    status = driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), ordinal)
    for attribute in (_MAJOR, _MINOR):
        value = ctypes.c_int()
        status = status or driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        parts.append(value.value)
    if status:
        raise LaunchError(f"QM0533: there is no GPU {ordinal} (driver status {status})", "QM0533")
    return tuple(parts)
