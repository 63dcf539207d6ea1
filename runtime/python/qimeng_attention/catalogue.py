"""What library masks and scores share: their alignment, sizes folded while tracing, checks of arguments."""

import enum

from . import graph
from .errors import SpecError
from .functions import index_like
from .graph import I32, Node
from .places import here
from .values import Index


class Alignment(str, enum.Enum):
    """Which query meets which key when Sq != Skv: query i stands at key position i (TOP_LEFT) or i + Skv - Sq (BOTTOM_RIGHT)."""

    TOP_LEFT = "top_left"
    BOTTOM_RIGHT = "bottom_right"


TOP_LEFT, BOTTOM_RIGHT = Alignment.TOP_LEFT, Alignment.BOTTOM_RIGHT


def position(i, alignment):
    """The key position where query i stands."""
    return i if alignment == TOP_LEFT else i + (extent("key") - extent("query"))


def extent(name):
    """An extent of the call: "batch", "heads", "kv_heads", "query" (Sq) or "key" (Skv)."""
    if name not in ("batch", "heads", "kv_heads", "query", "key"):
        raise ValueError(f"a call has no extent '{name}'; choose from batch, heads, kv_heads, query, key")
    return Index(Node(graph.EXTENT, I32, name))


def constant_of(value):
    """The number, if it is known while tracing."""
    return value.node.value if value.node.is_integer() else None


def times(a, b):
    return _fold(a, b, lambda x, y: x * y)


def minus(a, b):
    return _fold(a, b, lambda x, y: x - y)


def quotient(a, b):
    return _fold(a, b, lambda x, y: x // y)


def _fold(a, b, apply):
    """Arithmetic that is done now where both sides are known, so that the compiler sees a constant divisor."""
    x, y = constant_of(a), constant_of(b)
    return apply(a, b) if x is None or y is None else Index(graph.integer(apply(x, y)))


def require(holds, message, help_text):
    if not holds:
        raise SpecError("QM0114", message, help_text, here())


def at_least(argument, least, function, what):
    """An integer or Index argument of a library function; a number known now must be at least `least`."""
    value = index_like(argument, what)
    known = constant_of(value)
    require(
        known is None or known >= least,
        f"{function}: {what} is {known}, at least {least} is needed",
        "write a larger number, or give it at launch with scalar(...)",
    )
    return value
