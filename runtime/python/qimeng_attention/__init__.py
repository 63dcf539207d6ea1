"""Attention kernels of the QiMeng compiler: ready libraries, and specs written in Python.

    import qimeng_attention as qa

    library = qa.load("libattn.so")
    o = library["gemma2"](q, k, v, slopes=slopes)

    o = qa.attention(q, k, v, score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i), mask=qa.masks.causal(qa.BOTTOM_RIGHT))

Needs neither NumPy nor PyTorch: arrays are anything with DLPack. README.md of the package has the rest; `qimeng_attention.torch` is
for PyTorch.
"""

from . import foreign, masks, scores
from .arguments import buffer, scalar
from .attention import attention
from .catalogue import BOTTOM_RIGHT, TOP_LEFT, extent
from .compiler import build, register
from .errors import CompileError, CompilerNotFound, CompileWarning, Error, LaunchError, SpecError, TraceError
from .functions import clamp, cos, erf, exp, exp2, log, maximum, minimum, rsqrt, sigmoid, sin, sqrt, tanh, to_float, to_int, where
from .kernel import Kernel, Operator
from .library import Library, load
from .spec import Spec

__version__ = "0.1.0"
__all__ = [
    "BOTTOM_RIGHT", "CompileError", "CompileWarning", "CompilerNotFound", "Error", "Kernel", "LaunchError", "Library", "Operator", "Spec",
    "SpecError", "TOP_LEFT", "TraceError", "attention", "buffer", "build", "clamp", "cos", "erf", "exp", "exp2", "extent", "load", "log",
    "masks", "maximum", "minimum", "register", "rsqrt", "scalar", "scores", "sigmoid", "sin", "sqrt", "tanh", "to_float",
    "to_int", "where",
]  # fmt: skip
