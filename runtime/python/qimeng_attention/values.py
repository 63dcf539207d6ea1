"""What a traced function computes with: `Float` (f32), `Index` (i32) and `Bool`.

    Index  + - * // % << >> & | ^ ~   `//` and `%` floor, and are 0 for a run-time divisor of 0; `/` divides as f32
    Float  + - * / **                 IEEE f32; the exponent of ** is an integer known now
    any    == != < <= > >=            give a Bool; false with a NaN, but != is true
    Bool   & | ^ ~                    for and, or, exclusive or, not; both sides are always evaluated

With a Float beside it an Index becomes f32. A symbolic value has no truth and no number: `if`, `and`, `or`, `not` and
`0 <= i < n` raise a TraceError that says what to write.
"""

import functools
import numbers

from . import graph
from .errors import SpecError, TraceAttributeError, TraceError
from .graph import F32, I1, I32, operation
from .places import here

# NumPy's and PyTorch's functions on symbolic values, by name; foreign.py fills them. METHODS: where the method differs.
FUNCTIONS, METHODS = {}, {}


def is_bool(value):
    return isinstance(value, (bool, Bool)) or type(value).__name__ in ("bool_", "bool")


def _describe(value):
    return "an array" if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__") else type(value).__name__


def numeric(value):
    """The node of a number, symbolic or not."""
    if isinstance(value, (Float, Index)):
        return value.node
    if is_bool(value):
        raise TraceError("a Bool is not a number", "write where(condition, x, y), or to_float(condition) if 0 and 1 are meant")
    if isinstance(value, numbers.Integral):
        return graph.integer(value)
    if isinstance(value, numbers.Real):
        return graph.real(value)
    if _describe(value) == "an array" and not value.shape:
        return numeric(value.item())
    if _describe(value) == "an array":
        raise TraceError("an array in a traced function", "wrap it once with qimeng_attention.buffer(array) and read its elements as x[h, j]")
    if hasattr(value, "missing_subscripts"):
        raise TraceError(*value.missing_subscripts(), code="QM0208")
    raise TraceError(f"{_describe(value)} is not a number, an Index or a Float", "compute with numbers, symbolic values and elements of buffers")


def condition(value):
    """The node of a truth value, symbolic or not."""
    if isinstance(value, Bool):
        return value.node
    if is_bool(value):
        return graph.boolean(value)
    raise TraceError(f"{_describe(value)} is not a condition", "compare it, as in i >= j")


def as_float(node):
    if node.type == F32:
        return node
    return graph.real(node.value) if node.is_integer() else operation("arith.sitofp", F32, node)


def as_index(value, what):
    node = numeric(value)
    if node.type != I32:
        raise TraceError(f"{what} is an integer or an Index, not a Float", "use to_int(x)")
    return node


def wrap(node):
    return (Float if node.type == F32 else Bool if node.type == I1 else Index)(node)


def arithmetic(index_op, float_op, a, b):
    a, b = numeric(a), numeric(b)
    if a.type == I32 and b.type == I32:
        return Index(operation(index_op, I32, a, b))
    return Float(operation(float_op, F32, as_float(a), as_float(b)))


def compare(integers, floats, a, b):
    a, b = numeric(a), numeric(b)
    if a.type == I32 and b.type == I32:
        return Bool(operation(f"arith.cmpi {integers},", I1, a, b))
    return Bool(operation(f"arith.cmpf {floats},", I1, as_float(a), as_float(b)))


def floor_divide(a, b, symbol="//"):
    a, b = as_index(a, f"the left side of `{symbol}`"), as_index(b, f"the right side of `{symbol}`")
    if b.is_integer() and b.value == 0:
        raise SpecError(
            "QM0109",
            f"the right side of `{symbol}` is the constant 0",
            "divide by a positive constant, or by a run-time scalar (where x // 0 and x % 0 are 0)",
            here(),
        )
    # The smallest integer by -1 overflows, which MLIR leaves undefined; a negation wraps.
    if b.is_integer() and b.value == -1:
        return Index(operation("arith.subi", I32, graph.integer(0), a))
    return Index(operation("arith.floordivsi", I32, a, b))


def floor_modulo(a, b):
    a, b = as_index(a, "the left side of `%`"), as_index(b, "the right side of `%`")
    quotient = floor_divide(Index(a), Index(b), "%").node
    rest = operation("arith.subi", I32, a, operation("arith.muli", I32, quotient, b))
    if b.is_integer():
        return Index(rest)
    zero = graph.integer(0)
    return Index(operation("arith.select", I32, operation("arith.cmpi eq,", I1, b, zero), zero, rest))


def shift(mnemonic, a, b):
    """A constant count is checked, another is taken modulo 32: a larger one is poison in MLIR."""
    a, count = as_index(a, "what is shifted"), as_index(b, "a shift count")
    if not count.is_integer():
        count = operation("arith.andi", I32, count, graph.integer(31))
    elif not 0 <= count.value <= 31:
        raise SpecError("QM0110", f"a shift by {count.value} of a 32-bit index", "shift by 0 to 31", here())
    return Index(operation(mnemonic, I32, a, count))


def bitwise(mnemonic, a, b):
    if is_bool(a) or is_bool(b):
        return Bool(operation(mnemonic, I1, condition(a), condition(b)))
    return Index(operation(mnemonic, I32, as_index(a, "an operand of a bit operator"), as_index(b, "an operand of a bit operator")))


def power(base, exponent):
    if not isinstance(exponent, int) or not 1 <= exponent <= 16:
        raise TraceError("** takes an integer from 1 to 16 that is known now", "write exp(y * log(x)) for others")
    result = base
    for _ in range(exponent - 1):
        result = result * base
    return result


class Value:
    """A symbolic value. `node` is its node; nobody else needs it."""

    __slots__ = ("node",)
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __init__(self, node):
        self.node = node

    def __bool__(self):
        raise TraceError(
            "a symbolic value has no truth while it is traced",
            "write where(condition, x, y) for `if`, & for `and`, | for `or`, ~ for `not`, (a <= x) & (x < b) for `a <= x < b`, minimum "
            "and maximum for min and max",
        )

    def __index__(self):
        raise TraceError(
            "a symbolic value is no index into an array and no number of turns",
            "wrap the array once with qimeng_attention.buffer(array); turns of a loop are numbers known now",
        )

    def __int__(self):
        raise TraceError("a symbolic value has no number while it is traced", "use to_int(x)")

    def __float__(self):
        raise TraceError(
            "a symbolic value has no number while it is traced",
            "use to_float(x), and the functions of qimeng_attention, NumPy or PyTorch instead of those of math",
        )

    def __getattr__(self, name):
        """NumPy's and PyTorch's methods: s.tanh(), i.float()."""
        if name.startswith("_"):
            raise AttributeError(name)
        function = METHODS.get(name) or FUNCTIONS.get(name)
        if function is None:
            known = ", ".join(sorted({*METHODS, *FUNCTIONS}))
            raise TraceAttributeError(f"{type(self).__name__}.{name} has no meaning in a traced function", f"known are {known}")
        return functools.partial(function, self)

    def __array_ufunc__(self, function, method, *inputs, **options):
        return _foreign("numpy", function.__name__ if method == "__call__" else method, inputs, options)

    def __array_function__(self, function, types, arguments, options):
        return _foreign("numpy", function.__name__, arguments, options)

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        return _foreign("torch", getattr(function, "__name__", str(function)), arguments, options or {})

    def __eq__(self, other):
        return compare("eq", "oeq", self, other)

    def __ne__(self, other):
        return compare("ne", "une", self, other)

    def __repr__(self):
        return f"<symbolic {type(self).__name__}>"


def _foreign(library, name, arguments, options):
    """A function of NumPy or PyTorch that was called with a symbolic value."""
    function = FUNCTIONS.get(name.strip("_"))
    if function is None:
        known = ", ".join(sorted(FUNCTIONS))
        raise TraceError(f"{library}.{name} has no meaning in a traced function", f"known are {known}")
    return function(*arguments, **options)


class _Number(Value):
    __slots__ = ()

    def __lt__(self, other):
        return compare("slt", "olt", self, other)

    def __le__(self, other):
        return compare("sle", "ole", self, other)

    def __gt__(self, other):
        return compare("sgt", "ogt", self, other)

    def __ge__(self, other):
        return compare("sge", "oge", self, other)

    def __add__(self, other):
        return arithmetic("arith.addi", "arith.addf", self, other)

    def __radd__(self, other):
        return arithmetic("arith.addi", "arith.addf", other, self)

    def __sub__(self, other):
        return arithmetic("arith.subi", "arith.subf", self, other)

    def __rsub__(self, other):
        return arithmetic("arith.subi", "arith.subf", other, self)

    def __mul__(self, other):
        return arithmetic("arith.muli", "arith.mulf", self, other)

    def __rmul__(self, other):
        return arithmetic("arith.muli", "arith.mulf", other, self)

    def __truediv__(self, other):
        return Float(operation("arith.divf", F32, as_float(numeric(self)), as_float(numeric(other))))

    def __rtruediv__(self, other):
        return Float(operation("arith.divf", F32, as_float(numeric(other)), as_float(numeric(self))))

    def __pow__(self, exponent):
        return power(self, exponent)

    def __pos__(self):
        return self


class Float(_Number):
    """An f32 value; the score is one."""

    __slots__ = ()

    def __neg__(self):
        return Float(operation("arith.negf", F32, self.node))

    def __abs__(self):
        return Float(operation("math.absf", F32, self.node))


class Index(_Number):
    """A signed 32-bit integer. `kind` is "batch", "head", "query" or "key" for the arguments of a traced function, else None."""

    __slots__ = ("kind",)

    def __init__(self, node, kind=None):
        super().__init__(node)
        self.kind = kind

    def __floordiv__(self, other):
        return floor_divide(self, other)

    def __rfloordiv__(self, other):
        return floor_divide(other, self)

    def __mod__(self, other):
        return floor_modulo(self, other)

    def __rmod__(self, other):
        return floor_modulo(other, self)

    def __lshift__(self, other):
        return shift("arith.shli", self, other)

    def __rlshift__(self, other):
        return shift("arith.shli", other, self)

    def __rshift__(self, other):
        return shift("arith.shrsi", self, other)

    def __rrshift__(self, other):
        return shift("arith.shrsi", other, self)

    def __and__(self, other):
        return bitwise("arith.andi", self, other)

    def __or__(self, other):
        return bitwise("arith.ori", self, other)

    def __xor__(self, other):
        return bitwise("arith.xori", self, other)

    def __rand__(self, other):
        return bitwise("arith.andi", other, self)

    def __ror__(self, other):
        return bitwise("arith.ori", other, self)

    def __rxor__(self, other):
        return bitwise("arith.xori", other, self)

    def __invert__(self):
        return Index(operation("arith.xori", I32, self.node, graph.integer(-1)))

    def __neg__(self):
        return Index(operation("arith.subi", I32, graph.integer(0), self.node))

    def __abs__(self):
        return Index(operation("math.absi", I32, self.node))


class Bool(Value):
    """A condition."""

    __slots__ = ()

    def __and__(self, other):
        return bitwise("arith.andi", self, other)

    def __or__(self, other):
        return bitwise("arith.ori", self, other)

    def __xor__(self, other):
        return bitwise("arith.xori", self, other)

    def __rand__(self, other):
        return bitwise("arith.andi", other, self)

    def __ror__(self, other):
        return bitwise("arith.ori", other, self)

    def __rxor__(self, other):
        return bitwise("arith.xori", other, self)

    def __ne__(self, other):
        return bitwise("arith.xori", self, other)

    # As logic, not as a comparison of integers: what reasons about conditions then needs to know three operations only.
    def __eq__(self, other):
        return ~bitwise("arith.xori", self, other)

    def __invert__(self):
        return Bool(operation("arith.xori", I1, self.node, graph.boolean(True)))

    __hash__ = object.__hash__
