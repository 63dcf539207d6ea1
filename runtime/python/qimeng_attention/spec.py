"""`Spec`: an attention operator as traced Python, and its MLIR text."""

import hashlib
import inspect
import math
import numbers
import re

from . import compiler, graph
from .arguments import Buffer
from .emit import LENGTHS, Emitter
from .errors import SpecError, TraceError
from .graph import F32, I32, INDEX, Node
from .mask import as_mask
from .places import beginning_of, here
from .scores import as_score
from .tensors import device_of, parse_device
from .values import Float, Index, as_float, numeric

DTYPES = ("f16", "bf16", "f32")


class Function:
    """A traced score or mask function: its result, and a token that tells its indices from another function's."""

    def __init__(self, token, root, place):
        self.token = token
        self.root = root
        self.place = place


def _arguments(token):
    def argument(position, type):
        return Node(INDEX, type, (position, token))

    kinds = ("batch", "head", "query", "key")
    return [Float(argument(0, F32))] + [Index(argument(at + 1, I32), kind) for at, kind in enumerate(kinds)]


def _check_arity(function, count, signature):
    inner = getattr(function, "func", function)  # of a functools.partial
    if not inspect.isfunction(inner):
        return
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        if inner.__module__.startswith("qimeng_attention"):
            message, help_text = f"{inner.__name__} is no function of {signature}", f"call it: {inner.__name__}(...) makes one"
            raise TraceError(message, help_text, "QM0206") from None
        raise TraceError(
            f"{inner.__name__} is called with {count} arguments: {signature}", "let it take these", "QM0206", beginning_of(function)
        ) from None


class Spec:
    """An attention operator: head counts and head dims are fixed, batch and lengths are not.

    heads, head_dim: of the queries; kv_heads (default: heads) divides heads; value_head_dim (default: head_dim).
    dtype: of q, k, v and o: "f16", "bf16" or "f32".
    score_mod: None, a function (s, b, h, i, j) -> score, or one of `scores`; s is scale * q.k.
    mask: None, a function (b, h, i, j) -> Bool, or one of `masks`; a pair is dropped where it is false.
    scale: default 1 / sqrt(head_dim).
    sink: None, a function (b, h) -> Float, or a buffer of floats over "heads": one more logit of every row, without a value (GPT-OSS).
    lengths: None, or how sequences of different lengths are given:
        "packed": one after the other, q [T, Hq, D], k [Tkv, Hkv, D]; the kernel takes cu_q and cu_kv, i32, where each starts and the
        last one ends. "padded": each in its batch entry; the kernel takes len_q and len_kv, i32 [B]. Memory past a length is neither
        read nor written. In both b is the number of the sequence, i and j count from its start, and `extent`s are the sequence's.
    return_lse: also return the natural logarithm of the sum of exponents, f32 [B, Hq, Sq]; -inf for a row without keys (o is 0).
    return_row_max: also return the largest kept score of each row, f32 [B, Hq, Sq].
    name: of the kernel. Default: one made from the content.
    arguments: buffers and scalars that come first, in this order, used or not. Default: the order of their first use.

    Functions are called once, with symbolic values. Mistakes raise SpecError with their line; see `values` for what is allowed.
    """

    def __init__(
        self, *, heads, head_dim, kv_heads=None, value_head_dim=None, dtype="bf16", score_mod=None, mask=None, scale=None,
        sink=None, lengths=None, return_lse=False, return_row_max=False, name="", arguments=(),
    ):  # fmt: skip
        self.place = here()
        self.heads = self._extent("heads", heads)
        self.kv_heads = self.heads if kv_heads is None else self._extent("kv_heads", kv_heads)
        self.head_dim = self._extent("head_dim", head_dim)
        self.value_head_dim = self.head_dim if value_head_dim is None else self._extent("value_head_dim", value_head_dim)
        if self.heads % self.kv_heads:
            self._fail(
                "QM0102",
                f"{self.heads} query heads are not a multiple of {self.kv_heads} key/value heads",
                "query head h reads key/value head h // (heads // kv_heads): change one of the two",
            )
        if dtype not in DTYPES:
            raise ValueError(f"dtype is one of {', '.join(DTYPES)}, not {dtype!r}: convert q, k and v to one of these")
        self.dtype = dtype
        if scale is not None and not (isinstance(scale, numbers.Real) and math.isfinite(scale)):
            self._fail("QM0112", f"scale={scale!r}: the scale must be finite", "leave it out for 1 / sqrt(head_dim)")
        self.scale = None if scale is None else float(scale)
        self.return_lse, self.return_row_max = bool(return_lse), bool(return_row_max)
        if lengths not in LENGTHS:
            raise ValueError(f"lengths is None, 'packed' or 'padded', not {lengths!r}")
        self.lengths = lengths
        if name and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            self._fail("QM0104", f"'{name}' cannot name a spec", "use letters, digits and underscores, not starting with a digit")
        self.score = self._trace_score(score_mod)
        self.mask = self._trace_mask(mask)
        self.sink = self._trace_sink(sink)
        self._collect_arguments(arguments)
        # The content without the places: what the code means, not where it stands. One line: it is an argument of PyTorch's operator,
        # and Inductor cannot write longer strings.
        self.content = " ".join(Emitter(self, "attention", with_places=False).emit().split())
        self.key = hashlib.sha256(self.content.encode()).hexdigest()[:16]
        self.name = name or f"attention_{self.key}"
        self._text = None
        self._kernels = {}

    @property
    def mlir(self):
        """The spec as MLIR text, with the user's lines as locations: what `qmc build NAME.mlir` takes."""
        if self._text is None:
            self._text = Emitter(self, self.name, with_places=True).emit()
        return self._text

    def kernel(self, device="cpu", target=None):
        """The compiled operator for a device: "cpu", "cuda", "cuda:1". `target` overrides the architecture, as "sm_80"."""
        place = parse_device(device)
        key = (place, target)
        if key not in self._kernels:
            self._kernels[key] = compiler.kernel_for(self, place, target)
        return self._kernels[key]

    def __call__(self, q, k, v, *, target=None, **options):
        """Runs the operator; arguments and results are those of Operator.__call__.

        Buffers and scalars that hold no value are given by name.
        """
        values = {self.argument_names[id(a)]: a.value for a in self.arguments if a.value is not None}
        values.update(options)
        return self.kernel(device_of(q), target)(q, k, v, **values)

    def _fail(self, code, message, help_text):
        raise SpecError(code, message, help_text, self.place)

    def _extent(self, what, value):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            raise TypeError(f"{what} is an integer, not {value!r}")
        if value < 1:
            self._fail("QM0103", f"{what}={value}: the extent must be at least 1", "write a positive number")
        return int(value)

    def _trace_score(self, score_mod):
        if score_mod is None:
            return None
        _check_arity(score_mod, 5, "(s, b, h, i, j)")
        token = object()
        s, *at = _arguments(token)
        root = as_score(score_mod)(s, *at).node
        return None if root is s.node else Function(token, root, beginning_of(score_mod))

    def _trace_mask(self, mask):
        if mask is None:
            return None
        _check_arity(mask, 4, "(b, h, i, j)")
        token = object()
        _, *at = _arguments(token)
        root = as_mask(mask)(*at).node
        return None if root.is_boolean(True) else Function(token, root, beginning_of(mask))

    def _trace_sink(self, sink):
        if sink is None:
            return None
        if isinstance(sink, Buffer):
            logits = sink
            if logits.rank != 1:
                raise TypeError(f"sinks are one a query head, over [head], not of {logits.rank} dimensions")
            sink = lambda b, h: logits[h]  # noqa: E731
            place = here()
        else:
            _check_arity(sink, 2, "(b, h)")
            place = beginning_of(sink)
        token = object()
        _, b, h, _, _ = _arguments(token)
        return Function(token, as_float(numeric(sink(b, h))), place)

    def _collect_arguments(self, declared):
        """Buffers and scalars, each with a name: those declared, then the others in the order of their first use."""
        used = [
            node.value
            for function in (self.score, self.mask, self.sink)
            for node in (graph.reachable(function.root) if function else ())
            if node.kind in (graph.LOAD, graph.PARAMETER)
        ]
        declared = [x.argument if isinstance(x, Buffer) else x.node.value for x in declared]
        self.arguments = list(dict.fromkeys(declared + used))
        self.argument_names, taken = {id(a): a.name for a in self.arguments}, {}
        for argument in self.arguments:
            if argument.name in LENGTHS[self.lengths]:
                raise SpecError("QM0104", f"'{argument.name}' is the name of the sequences' lengths", "choose another name", argument.place)
            if argument.name and argument.name in taken:
                raise SpecError(
                    "QM0105",
                    f"an argument '{argument.name}' was declared before, at {taken[argument.name]}",
                    "give every buffer and scalar its own name",
                    argument.place,
                )
            if argument.name:
                taken[argument.name] = argument.place
        number = 0
        for argument in self.arguments:
            if not argument.name:
                while f"x{number}" in taken:
                    number += 1
                self.argument_names[id(argument)] = f"x{number}"
                number += 1

    def __repr__(self):
        return f"<Spec {self.name}: {self.heads}/{self.kv_heads} heads, head dim {self.head_dim}, {self.dtype}>"
