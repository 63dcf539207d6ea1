"""What a mask is: a function (b, h, i, j) -> Bool with an algebra (`&`, `|`, `~`, `shift`). The masks themselves are in masks.py."""

from .errors import TraceError
from .places import at_place, beginning_of, here
from .values import Bool, condition, is_bool


class Mask:
    """A function (b, h, i, j) -> Bool with an algebra. `mask(b, h, i, j)` calls it inside another traced function."""

    def __init__(self, function, place=None):
        self._function = function
        self._place = place

    def __call__(self, b, h, i, j):
        if self._place is None:  # a function of the user's: its nodes stand on its own lines
            kept = self._function(b, h, i, j)
            if not is_bool(kept):
                message = f"a mask function gives a condition; this one gives {'nothing' if kept is None else type(kept).__name__}"
                raise TraceError(message, "compare, as in i >= j", "QM0206", beginning_of(self._function))
            return Bool(condition(kept))
        with at_place(self._place):
            return Bool(condition(self._function(b, h, i, j)))

    # Constant sides are dropped, so that full() & m is m.
    def __and__(self, other):
        def both(x, y):
            return y if x.node.is_boolean(True) else x if y.node.is_boolean(True) else x & y

        return _combined(self, other, both)

    def __or__(self, other):
        def either(x, y):
            return x if x.node.is_boolean(True) else y if y.node.is_boolean(True) else x | y

        return _combined(self, other, either)

    def __rand__(self, other):
        return as_mask(other) & self

    def __ror__(self, other):
        return as_mask(other) | self

    def __invert__(self):
        place = here()

        def inverted(b, h, i, j):
            kept = self(b, h, i, j)
            with at_place(place):
                return ~kept

        return Mask(inverted)

    def __bool__(self):
        raise TypeError("a mask has no truth: combine masks with &, | and ~ instead of and, or and not")

    def shift(self, queries, keys):
        """This mask seen from moved axes: keeps (i, j) iff it keeps (i + queries, j + keys)."""
        place = here()

        def moved(at, by):
            with at_place(place):
                return at + by

        return Mask(lambda b, h, i, j: self(b, h, moved(i, queries), moved(j, keys)))


def _combined(a, b, combine):
    a, b, place = as_mask(a), as_mask(b), here()

    def function(batch, head, i, j):
        left, right = a(batch, head, i, j), b(batch, head, i, j)
        with at_place(place):
            return combine(left, right)

    return Mask(function)


def as_mask(value):
    """A mask, or a function (b, h, i, j) -> Bool as one."""
    if isinstance(value, Mask):
        return value
    if callable(value):
        return custom(value)
    raise TypeError(f"{type(value).__name__} is not a mask: pass a mask of qimeng_attention.masks or a function (b, h, i, j) -> Bool")


def custom(function):
    """A function (b, h, i, j) -> Bool as a mask."""
    return Mask(function)


def library_mask(function):
    return Mask(function, here())
