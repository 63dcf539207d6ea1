"""score_mod and mask_mod as PyTorch's users write them, to specs.

A function, a functools.partial, a method or an object with __call__ may read tensors: of its closure, of the module it stands in, or
attributes of objects that it holds (self.slopes). Under torch.compile those must become inputs of the graph, and the function cannot run
with real values. So the work is split:

  describe   (Dynamo can trace it)  a function as plain constants, with every tensor replaced by its type and collected in a list
  rebuild    (runs once)            the function again, with buffers in the tensors' places, ready to be traced symbolically

The constants are the key of a table, so that an unchanged function is traced once however often it is called.
"""

import enum
import functools
import sys
import types

import torch

from .. import arguments, masks, scores
from ..arguments import Buffer
from ..values import Value
from .operator import dtype_name

_DEPTH = 8
_OF_A_MODULE = (torch.Tensor, int, float, tuple, list, types.FunctionType, masks.Mask, scores.Score, Buffer)
_CONSTANTS = (bool, int, float, str, type(None), torch.dtype, enum.Enum)


def describe(value, tensors, depth=0):
    """A value as a tuple of constants; its tensors are added to `tensors`."""
    if depth > _DEPTH:
        raise TypeError("functions and containers in a score_mod or mask_mod are nested too deeply")
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return ("tensor", value.dtype, value.dim())
    if isinstance(value, _CONSTANTS):
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0, but they do not mean the same.
        return ("constant", value, type(value).__name__, str(value))
    if isinstance(value, types.FunctionType):
        return _describe_function(value, tensors, depth)
    if isinstance(value, functools.partial):
        function, given, named = value.func, value.args, value.keywords
        return ("partial", describe(function, tensors, depth + 1), describe(given, tensors, depth + 1), describe(named, tensors, depth + 1))
    if isinstance(value, types.MethodType):
        return _describe_method(value.__func__, value.__self__, tensors, depth)
    if isinstance(value, (tuple, list)):
        return ("tuple", tuple([describe(x, tensors, depth + 1) for x in value]))
    if isinstance(value, dict):
        names = tuple([describe(name, [], depth + 1) for name in value])
        return ("mapping", names, tuple([describe(x, tensors, depth + 1) for x in value.values()]))
    if isinstance(value, masks.Mask):
        return ("mask", describe(value._function, tensors, depth + 1))
    if isinstance(value, scores.Score):
        return ("score", describe(value._function, tensors, depth + 1))
    if isinstance(value, Buffer) and isinstance(value.argument.value, torch.Tensor):
        return describe(value.argument.value, tensors, depth)
    if isinstance(value, (Buffer, Value)):
        raise TypeError("a scalar or buffer without a tensor in a score_mod or mask_mod: let it read a tensor (of one element)")
    return ("other", type(value).__name__)


def _describe_function(function, tensors, depth):
    code = function.__code__
    cells = []
    for cell in function.__closure__ or ():
        content = cell.cell_contents
        described = describe(content, tensors, depth + 1)
        if described[0] == "other":
            described = _describe_attributes(content, code.co_names, tensors, depth)
        cells.append(described)
    names = []
    # Dynamo knows no __globals__ of a function made in the compiled one.
    module = sys.modules.get(function.__module__)
    if not torch.compiler.is_compiling() and function.__globals__ is not getattr(module, "__dict__", None):
        raise TypeError(f"the function {function.__name__} does not stand in a module: its names cannot be found again")
    for name in code.co_names:
        if hasattr(module, name):
            content = getattr(module, name)
            if isinstance(content, _OF_A_MODULE) and not _is_ours(content):
                names.append((name, describe(content, tensors, depth + 1)))
    defaults = describe(function.__defaults__ or (), tensors, depth + 1)
    named = describe(function.__kwdefaults__ or {}, tensors, depth + 1)
    return ("function", code, function.__module__, tuple(cells), tuple(names), defaults, named)


def _describe_method(function, owner, tensors, depth):
    described = describe(function, tensors, depth + 1)
    return ("method", described, _describe_attributes(owner, function.__code__.co_names, tensors, depth + 1))


def describe_callable(value, tensors):
    """What stands in the place of a score_mod or mask_mod: also an object with __call__."""
    described = describe(value, tensors)
    call = getattr(type(value), "__call__", None)
    if described[0] == "other" and isinstance(call, types.FunctionType):
        return _describe_method(call, value, tensors, 0)
    return described


def _is_ours(content):
    return isinstance(content, types.FunctionType) and content.__module__.startswith("qimeng_attention")


def _describe_attributes(value, names, tensors, depth):
    """An object in a closure: what the function may read of it."""
    found = []
    for name in names:
        if hasattr(value, name):
            content = getattr(value, name)
            if isinstance(content, (torch.Tensor, types.MethodType, *_CONSTANTS)):
                found.append((name, describe(content, tensors, depth + 1)))
    return ("object", type(value).__name__, tuple(found))


class _Rebuilder:
    """Values from descriptions; buffers are made in the order in which `describe` met the tensors."""

    def __init__(self):
        self.buffers = []

    def value(self, description):
        kind = description[0]
        return getattr(self, kind)(*description[1:])

    def constant(self, value, *kind):
        return value

    def tensor(self, dtype, rank):
        buffer = arguments.buffer(dtype_name(dtype), [None] * max(rank, 1), f"x{len(self.buffers)}")
        self.buffers.append(buffer)
        # A tensor without dimensions is a number: its one element.
        return buffer if rank else buffer[0]

    def tuple(self, items):
        return tuple(self.value(item) for item in items)

    def mapping(self, names, values):
        return {self.value(name): self.value(value) for name, value in zip(names, values)}

    def partial(self, function, given, named):
        return functools.partial(self.value(function), *self.value(given), **self.value(named))

    def method(self, function, owner):
        return functools.partial(self.value(function), self.value(owner))

    def mask(self, function):
        return masks.Mask(self.value(function))

    def score(self, function):
        return scores.Score(self.value(function))

    def object(self, type_name, attributes):
        stand_in = type(type_name, (_StandIn,), {})()
        for name, described in attributes:
            setattr(stand_in, name, self.value(described))
        return stand_in

    def other(self, type_name):
        return type(type_name, (_StandIn,), {})()

    def function(self, code, module, cells, names, defaults, named):
        space = dict(vars(sys.modules[module])) if module in sys.modules else {}
        contents = tuple(types.CellType(self.value(cell)) for cell in cells)
        for name, described in names:
            space[name] = self.value(described)
        function = types.FunctionType(code, space, code.co_name, self.value(defaults), contents)
        function.__kwdefaults__ = self.value(named)
        return function


class _StandIn:
    """Of an object that is neither a tensor, a number nor a function: a mistake where it is used, and only there."""

    def __getattr__(self, name):
        raise AttributeError(
            f"'{type(self).__name__}.{name}' is neither a tensor nor a number: bind what the function needs to a local variable"
        )

    def _refuse(self, *arguments):
        raise TypeError(
            f"an object of type {type(self).__name__} in a score_mod or mask_mod: let it read tensors and numbers of its closure"
        )

    __call__ = __getitem__ = __bool__ = __len__ = __iter__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = _refuse


def rebuild(description):
    """(value, buffers): the described value with a buffer for each of its tensors, in their order."""
    rebuilder = _Rebuilder()
    return rebuilder.value(description), rebuilder.buffers
