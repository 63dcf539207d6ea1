"""NumPy's and PyTorch's functions and methods on symbolic values, by their names: what np.tanh(s), torch.where(...) and s.tanh() do.

`to` and the like round nothing: values are f32, i32 or Bool, as in PyTorch's compiled kernels.
"""

import re

from . import functions
from .errors import TraceError
from .functions import absolute, constant, maximum, minimum, to_float, to_int, where
from .values import FUNCTIONS, METHODS, Bool, Float, Value, condition, floor_divide, floor_modulo, is_bool


def _logical(operator):
    def function(a, b):
        return operator(Bool(condition(a)), Bool(condition(b)))

    return function


def _operator(apply):
    def function(a, b):
        # Constants on the left have no operators of ours.
        return apply(a if isinstance(a, Value) else constant(a), b)

    return function


def _clip(x, min=None, max=None):
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


def _divide(a, b, *, rounding_mode=None):
    if rounding_mode is None:
        return (a if isinstance(a, Value) else constant(a)) / b
    if rounding_mode == "floor":
        return floor_divide(a, b, "/")
    raise TraceError(f"rounding_mode={rounding_mode!r} has no meaning in a traced function", "use 'floor', or none for a quotient in f32")


def _to_bool(x):
    return x if is_bool(x) else x != 0


_KINDS = (
    (r"(bfloat16|float16|float32|float|half)$", to_float),
    (r"u?(int8|int16|int32|int64|int|long|short)$", to_int),
    (r"bool_?$", _to_bool),
)


def _to(x, dtype, **unused):
    """A dtype of NumPy or PyTorch, or what has one."""
    name = getattr(dtype, "__name__", None) or str(getattr(dtype, "dtype", dtype))
    for pattern, convert in _KINDS:
        if re.search(r"(^|[.])" + pattern, name):
            return convert(x)
    raise TraceError(f"{name} is no type of values in a traced function", "convert to float32, int32 or bool")


def _like(value):
    return lambda x, **unused: constant(float(value) if isinstance(x, Float) else value)


_SAME = ("where", "minimum", "maximum", "absolute", "exp", "exp2", "log", "tanh", "sqrt", "rsqrt", "erf", "sin", "cos", "sigmoid")
FUNCTIONS.update({name: getattr(functions, name) for name in _SAME})
FUNCTIONS.update(
    {
        "abs": absolute,
        "clip": _clip,
        "clamp": _clip,
        "min": minimum,
        "max": maximum,
        "relu": lambda x: maximum(x, 0),
        "square": lambda x: x * x,
        "negative": lambda x: -x,
        "neg": lambda x: -x,
        "add": _operator(lambda a, b: a + b),
        "subtract": _operator(lambda a, b: a - b),
        "sub": _operator(lambda a, b: a - b),
        "multiply": _operator(lambda a, b: a * b),
        "mul": _operator(lambda a, b: a * b),
        "divide": _divide,
        "true_divide": _divide,
        "div": _divide,
        "floor_divide": floor_divide,
        "remainder": floor_modulo,
        "pow": lambda base, exponent: base**exponent,
        "power": lambda base, exponent: base**exponent,
        "equal": _operator(lambda a, b: a == b),
        "eq": _operator(lambda a, b: a == b),
        "not_equal": _operator(lambda a, b: a != b),
        "ne": _operator(lambda a, b: a != b),
        "less": _operator(lambda a, b: a < b),
        "lt": _operator(lambda a, b: a < b),
        "less_equal": _operator(lambda a, b: a <= b),
        "le": _operator(lambda a, b: a <= b),
        "greater": _operator(lambda a, b: a > b),
        "gt": _operator(lambda a, b: a > b),
        "greater_equal": _operator(lambda a, b: a >= b),
        "ge": _operator(lambda a, b: a >= b),
        "logical_and": _logical(lambda a, b: a & b),
        "logical_or": _logical(lambda a, b: a | b),
        "logical_xor": _logical(lambda a, b: a ^ b),
        "logical_not": lambda a: ~Bool(condition(a)),
        "bitwise_and": lambda a, b: a & b,
        "bitwise_or": lambda a, b: a | b,
        "bitwise_xor": lambda a, b: a ^ b,
        "bitwise_not": lambda a: ~a,
        "invert": lambda a: ~a,
        "left_shift": lambda a, b: a << b,
        "right_shift": lambda a, b: a >> b,
        "masked_fill": lambda x, chosen, value: where(chosen, value, x),
        "zeros_like": _like(0),
        "ones_like": _like(1),
        "full_like": lambda x, value, **unused: constant(value),
    }
)
METHODS.update(
    {
        "where": lambda x, chosen, y: where(chosen, x, y),
        "to": _to,
        "astype": _to,
        "type_as": lambda x, other: _to_bool(x) if is_bool(other) else to_int(x) if other.node.type == "i32" else to_float(x),
        "float": to_float,
        "int": to_int,
        "long": to_int,
        "bool": _to_bool,
    }
)
