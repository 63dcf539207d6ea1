"""Functions on symbolic values, for traced functions: with numbers only they give a symbolic constant too."""

from . import graph
from .graph import F32, I1, I32, operation
from .values import Bool, Float, Index, arithmetic, as_float, as_index, condition, is_bool, numeric


def where(condition_, x, y):
    """`x` where the condition holds, else `y`; both are always evaluated. (C++: select.)"""
    chosen = condition(condition_)
    if is_bool(x) and is_bool(y):
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
    return abs(x if isinstance(x, (Float, Index)) else constant(x))


def constant(x):
    node = numeric(x)
    return Float(node) if node.type == F32 else Index(node)


def _unary(name, mnemonic, text):
    def function(x):
        return Float(operation(mnemonic, F32, as_float(numeric(x))))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def tanh(x, approximate=False):
    """Hyperbolic tangent; `approximate`: by the GPU's own instruction, within 2^-11 of its value."""
    return Float(operation("math.tanh", F32, as_float(numeric(x)), flags=" fastmath<afn>" if approximate else ""))


exp = _unary("exp", "math.exp", "e^x")
exp2 = _unary("exp2", "math.exp2", "2^x")
log = _unary("log", "math.log", "Natural logarithm.")
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
    if is_bool(x):
        return Float(operation("arith.uitofp", F32, condition(x)))
    return Float(as_float(numeric(x)))


def to_int(x):
    """A Float rounded towards zero (beyond the range of i32 the result is unspecified); a Bool as 0 or 1."""
    if is_bool(x):
        return Index(operation("arith.extui", I32, condition(x)))
    node = numeric(x)
    return Index(node if node.type == I32 else operation("arith.fptosi", I32, node))


def scalar_like(value):
    """A number or a symbolic value as an Index or a Float."""
    return value if isinstance(value, (Index, Float)) else constant(value)


def index_like(value, what):
    """An integer or an Index as an Index."""
    return value if isinstance(value, Index) else Index(as_index(value, what))
