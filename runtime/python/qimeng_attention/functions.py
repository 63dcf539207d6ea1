"""Functions on symbolic values. NumPy's and PyTorch's functions of the same names do the same when they meet one.

They are for traced functions: with numbers only they give a symbolic constant too.
"""

from . import graph
from .graph import F32, I1, I32, operation
from .values import FUNCTIONS, Bool, Float, Index, _is_bool, arithmetic, as_float, as_index, condition, floor_divide, floor_modulo, numeric


def where(condition_, x, y):
    """`x` where the condition holds, else `y`; both are always evaluated. (C++: select.)"""
    chosen = condition(condition_)
    if _is_bool(x) and _is_bool(y):
        return Bool(operation("arith.select", I1, chosen, condition(x), condition(y)))
    a, b = numeric(x), numeric(y)
    if a.type == I32 and b.type == I32:
        return Index(operation("arith.select", I32, chosen, a, b))
    return Float(operation("arith.select", F32, chosen, as_float(a), as_float(b)))


def minimum(x, y):
    return arithmetic("arith.minsi", "arith.minimumf", x, y)


def maximum(x, y):
    return arithmetic("arith.maxsi", "arith.maximumf", x, y)


def clamp(x, low, high):
    """`x` limited to [low, high]."""
    return minimum(maximum(x, low), high)


def absolute(x):
    return abs(x if isinstance(x, (Float, Index)) else _constant(x))


def _constant(x):
    node = numeric(x)
    return Float(node) if node.type == F32 else Index(node)


def _unary(name, mnemonic, text):
    def function(x):
        return Float(operation(mnemonic, F32, as_float(numeric(x))))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


exp = _unary("exp", "math.exp", "e^x")
exp2 = _unary("exp2", "math.exp2", "2^x")
log = _unary("log", "math.log", "Natural logarithm.")
tanh = _unary("tanh", "math.tanh", "Hyperbolic tangent.")
sqrt = _unary("sqrt", "math.sqrt", "Square root.")
rsqrt = _unary("rsqrt", "math.rsqrt", "1 / sqrt(x)")
erf = _unary("erf", "math.erf", "Error function.")
sin = _unary("sin", "math.sin", "Sine of radians.")
cos = _unary("cos", "math.cos", "Cosine of radians.")


def sigmoid(x):
    """1 / (1 + e^-x)"""
    one = graph.real(1)
    power = operation("math.exp", F32, operation("arith.negf", F32, as_float(numeric(x))))
    return Float(operation("arith.divf", F32, one, operation("arith.addf", F32, one, power)))


def to_float(x):
    """An Index as f32; a Bool as 0 or 1."""
    if _is_bool(x):
        return Float(operation("arith.uitofp", F32, condition(x)))
    return Float(as_float(numeric(x)))


def to_int(x):
    """A Float rounded towards zero (beyond the range of i32 the result is unspecified); a Bool as 0 or 1."""
    if _is_bool(x):
        return Index(operation("arith.extui", I32, condition(x)))
    node = numeric(x)
    return Index(node if node.type == I32 else operation("arith.fptosi", I32, node))


# What NumPy and PyTorch call these and the operators.


def _logical(operator):
    def function(a, b):
        return operator(Bool(condition(a)), Bool(condition(b)))

    return function


def _clip(x, min=None, max=None):
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


def _operator(apply):
    def function(a, b):
        # Constants on the left have no operators of ours.
        return apply(a if hasattr(a, "node") else _constant(a), b)

    return function


def _power(base, exponent):
    return base**exponent


FUNCTIONS.update({f.__name__: f for f in (where, minimum, maximum, absolute, exp, exp2, log, tanh, sqrt, rsqrt, erf, sin, cos, sigmoid)})
FUNCTIONS.update(
    {
        "abs": absolute,
        "clip": _clip,
        "clamp": _clip,
        "min": minimum,
        "max": maximum,
        "square": lambda x: x * x,
        "negative": lambda x: -x,
        "neg": lambda x: -x,
        "add": _operator(lambda a, b: a + b),
        "subtract": _operator(lambda a, b: a - b),
        "sub": _operator(lambda a, b: a - b),
        "multiply": _operator(lambda a, b: a * b),
        "mul": _operator(lambda a, b: a * b),
        "divide": _operator(lambda a, b: a / b),
        "true_divide": _operator(lambda a, b: a / b),
        "div": _operator(lambda a, b: a / b),
        "floor_divide": floor_divide,
        "remainder": floor_modulo,
        "pow": _power,
        "power": _power,
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
    }
)


def scalar_like(value):
    """A number or a symbolic value as an Index or a Float."""
    return value if isinstance(value, (Index, Float)) else _constant(value)


def index_like(value, what):
    """An integer or an Index as an Index."""
    return value if isinstance(value, Index) else Index(as_index(value, what))
