"""What a kernel takes beside q, k and v: captured buffers and run-time scalars.

    slopes = buffer(array)                      an array of the caller's; read as slopes[h] in a traced function
    slopes = buffer("f32", ["heads"], "slopes") declared only; the array is given by name at the call
    window = scalar(4096)                       a number that is given at launch: changing it recompiles nothing

Plain numbers in a traced function are constants: changing one makes another kernel.
"""

import numbers
import re

from . import graph
from .errors import SpecError, TraceAttributeError, TraceError
from .graph import F32, I1, I8, I32, LOAD, PARAMETER, Node, operation
from .places import here
from .tensors import describe
from .values import Float, Index, numeric, wrap

ELEMENT_TYPES = ("f16", "bf16", "f32", "i1", "i8", "i16", "i32", "i64")
AXES = {"batch": "batch", "heads": "head", "kv_heads": "kv_head", "query": "query", "key": "key"}
_TAKEN = ("q", "k", "v", "o", "lse", "row_max")


class Argument:
    """One captured buffer or scalar. `dims` is None for a scalar; `name` is "" where the spec chooses one."""

    def __init__(self, dtype, dims, name, value, sorted=False):
        if name and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise SpecError(
                "QM0104",
                f"'{name}' cannot name an argument",
                "use letters, digits and underscores, not starting with a digit",
                here(),
            )
        if name in _TAKEN:
            raise SpecError(
                "QM0104", f"'{name}' is the name of an operand", "q, k, v, o, lse and row_max are taken; choose another name", here()
            )
        self.dtype = dtype
        self.dims = dims
        self.name = name
        self.value = value
        self.sorted = sorted
        self.place = here()

    @property
    def stored_dtype(self):
        """An i1 buffer holds bytes."""
        return I8 if self.dtype == I1 and self.dims is not None else self.dtype


class Buffer:
    """A captured array of any rank. Each subscript is an integer or an Index, and is clamped to the array.

    f16, bf16 and f32 elements are read as Float; i8 to i64 as Index (i64 keeps the low 32 bits); i1, one byte, as Bool.
    """

    __array_ufunc__ = None  # NumPy leaves operators to the elements

    def __init__(self, argument, subscripts=()):
        self.argument = argument
        self._subscripts = subscripts

    @property
    def rank(self):
        return len(self.argument.dims)

    def __getitem__(self, subscripts):
        subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        given = self._subscripts + tuple(self._node(x, len(self._subscripts) + at) for at, x in enumerate(subscripts))
        return Buffer(self.argument, given) if len(given) < self.rank else self._load(given)

    def __iter__(self):
        raise TraceError("a buffer has no elements to go through while a function is traced", "read one with x[h]")

    def __getattr__(self, name):
        """What arrays have and buffers have not."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise TraceAttributeError(
            f"{self._label()}.{name} has no meaning in a traced function: a buffer is read element by element",
            "compute it before, outside of the function, or read elements as x[h, j]",
        )

    def _array_operator(self, *unused):
        """x + 1 of all its elements, or of those that x[h] leaves open."""
        raise TraceError(*self.missing_subscripts(), code="QM0208")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __abs__ = _array_operator
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __or__ = __ror__ = __invert__ = __bool__ = __float__ = _array_operator

    def missing_subscripts(self):
        """Of a mistake: (message, help)."""
        given = len(self._subscripts)
        return f"{self._label()} has {_count(self.rank, 'dimension')} and is read with {_count(given, 'subscript')}", "read one element, as x[h, j]"

    def _label(self):
        return f"buffer '{self.argument.name or 'buffer'}'"

    def _node(self, subscript, at):
        label = self._label()
        if at >= self.rank:
            raise TraceError(
                f"{label} has {_count(self.rank, 'dimension')} and is read with {_count(at + 1, 'subscript')}",
                "give a subscript for each dimension",
                code="QM0208",
            )
        if isinstance(subscript, (slice, type(None), type(...))):
            raise TraceError(f"{label} is read element by element: a slice has no meaning in a traced function", "read elements as x[h, j]")
        node = numeric(subscript)
        if node.type != I32:
            raise TraceError(f"{label} is indexed by integers, not by a Float", "use to_int(x)")
        expected = AXES.get(self.argument.dims[at])
        kind = getattr(subscript, "kind", None)
        if expected and kind and kind != expected and not (expected == "kv_head" and kind == "head"):
            raise TraceError(
                f"dimension {at} of {label} was declared over '{self.argument.dims[at]}' and is indexed by the {kind} index",
                "swap the subscripts, or compute the index (x + 0) where this is meant",
            )
        if expected == "kv_head" and kind == "head":
            raise TraceError(
                f"dimension {at} of {label} was declared over 'kv_heads' and is indexed by the query head",
                "divide it by the group, h // group",
            )
        return node

    def _load(self, subscripts):
        dtype = self.argument.dtype
        element = Node(LOAD, self.argument.stored_dtype, self.argument, subscripts)
        if dtype in (F32, I32):
            return wrap(element)
        if dtype in ("f16", "bf16"):
            return Float(operation("arith.extf", F32, element))
        if dtype in ("i8", "i16"):
            return Index(operation("arith.extsi", I32, element))
        if dtype == "i64":
            return Index(operation("arith.trunci", I32, element))
        return wrap(operation("arith.cmpi ne,", I1, element, graph.integer(0, I8)))

    def __repr__(self):
        return f"<buffer {self.argument.name or 'without a name'} {self.argument.dtype} {list(self.argument.dims)}>"


def _count(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def _refuse_elements(dtype):
    return TraceError(f"a buffer has no elements of type {dtype}", f"choose from {', '.join(ELEMENT_TYPES)}", code="QM0212")


def _checked_dims(dims, label):
    for at, extent in enumerate(dims):
        if extent is None or extent in AXES:
            continue
        if isinstance(extent, str) or not isinstance(extent, numbers.Integral):
            raise TypeError(f"dimension {at} of {label} is an integer, None or one of {', '.join(AXES)}, not {extent!r}")
        if extent < 1:
            raise SpecError(
                "QM0103",
                f"dimension {at} of {label} has extent {extent}",
                "write a positive extent, or None for one known at launch",
                here(),
            )
    return tuple(dims)


def _checked_sorted(sorted, dtype):
    if sorted and dtype[0] != "i":
        raise TypeError(f"only buffers of integers can be sorted, not {dtype}")
    return bool(sorted)


def buffer(array, dims=None, name="", sorted=False):
    """A captured array for traced functions.

    array: anything with `__dlpack__` or NumPy's array interface (NumPy, PyTorch, CuPy, ...), on the device of q; it is neither
        copied nor converted. Or the name of an element type (f16 bf16 f32 i1 i8 i16 i32 i64): then `dims` is needed, and the
        array is given by `name` at the call.
    dims: for each dimension an integer, None (known at launch) or an axis: "batch", "heads", "kv_heads", "query", "key". Along an
        axis only that index is taken. Default: None for each, so that no extent recompiles anything.
    name: of the kernel's argument. Default: chosen by the spec.
    sorted: the promise that integers never decrease along the last dimension, as ids of packed documents do. The compiler then finds
        the blocks that a mask needs from a few elements. Where it is broken pairs may be kept or dropped wrongly; memory is safe.
    """
    if isinstance(array, str):
        if array not in ELEMENT_TYPES:
            raise _refuse_elements(f"'{array}'")
        if not dims:
            raise TypeError("a buffer that is only declared needs its dims, as in buffer('f32', ['heads'], 'slopes')")
        return Buffer(Argument(array, _checked_dims(dims, f"buffer '{name}'"), name, None, _checked_sorted(sorted, array)))
    dtype, shape = describe(array)
    if dtype not in ELEMENT_TYPES:
        raise _refuse_elements(dtype)
    if not shape:
        raise TypeError("an array without dimensions is no buffer: reshape it to (1,) and read x[0], or pass scalar(number)")
    if dims is not None and len(dims) != len(shape):
        raise TypeError(f"the array has {len(shape)} dimensions, dims names {len(dims)}")
    dims = _checked_dims(dims or [None] * len(shape), f"buffer '{name}'")
    return Buffer(Argument(dtype, dims, name, array, _checked_sorted(sorted, dtype)))


def as_buffer(value):
    return value if isinstance(value, Buffer) else buffer(value)


def scalar(value, name=""):
    """A number given at launch: an Index for an int, a Float for a float.

    value: the number; or "i32" or "f32" for a scalar that is only declared and given by `name` at the call.
    """
    if value in ("i32", "f32") and isinstance(value, str):
        dtype, value = value, None
    elif isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError("a scalar is an int, a float, 'i32' or 'f32'")
    else:
        dtype = I32 if isinstance(value, numbers.Integral) else F32
    argument = Argument(dtype, None, name, value)
    return wrap(Node(PARAMETER, dtype, argument))
