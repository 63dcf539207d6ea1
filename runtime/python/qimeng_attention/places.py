"""Where in the user's program a value was made.

Every node of a trace has a place, which the MLIR text carries as a location; so qmc points at the user's Python line.
"""

import contextlib
import inspect
import sys
import threading

# Frames of these are the machinery between the user's line and a node.
_SKIPPED = ("qimeng_attention", "torch")
_current = threading.local()


class Place:
    """A position in a code object. Line and column are looked up when they are asked for."""

    __slots__ = ("_code", "_instruction", "file", "line")

    def __init__(self, frame):
        self._code = frame.f_code
        self._instruction = frame.f_lasti
        self.file = frame.f_code.co_filename
        self.line = frame.f_lineno or 1

    @property
    def column(self):
        """From 1; 1 where this Python does not say."""
        if not hasattr(self._code, "co_positions"):  # before 3.11
            return 1
        for at, (_, _, column, _) in enumerate(self._code.co_positions()):
            if 2 * at == self._instruction:
                return 1 if column is None else column + 1
        return 1

    def __str__(self):
        return f"{self.file}:{self.line}"

    def location(self):
        """As MLIR writes it."""
        name = self.file.replace("\\", "\\\\").replace('"', '\\"')
        return f' loc("{name}":{self.line}:{self.column})'


class Beginning(Place):
    """Where a function begins."""

    __slots__ = ()
    column = 1

    def __init__(self, function):
        self.file = function.__code__.co_filename
        self.line = function.__code__.co_firstlineno


def beginning_of(function):
    """Where a traced function, or what a functools.partial holds, begins; of another callable, the line that is running."""
    function = getattr(function, "func", function)
    return Beginning(function) if inspect.isfunction(function) else here()


def here():
    """The user's line that is running, or the place that `at_place` set."""
    place = getattr(_current, "place", None)
    if place is not None:
        return place
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".", 1)[0] in _SKIPPED:
        frame = frame.f_back
    return Place(frame)


@contextlib.contextmanager
def at_place(place):
    """Nodes made meanwhile are said to be made at `place`: a library mask stands where the user named it."""
    previous = getattr(_current, "place", None)
    _current.place = place
    try:
        yield
    finally:
        _current.place = previous
