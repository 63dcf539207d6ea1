"""The MLIR text of a spec: level "spec" of dialect/README.md, operation by operation what the C++ front end prints."""

import math
import struct

from . import graph
from .errors import SpecError

# The arguments that hold lengths of sequences.
LENGTHS = {None: (), "packed": ("cu_q", "cu_kv"), "padded": ("len_q", "len_kv")}


def literal(value):
    """The shortest decimal that reads back as the same f32, with the point that MLIR wants; hex bits for inf and NaN."""
    try:
        bits = struct.pack("<f", value)
    except OverflowError:
        bits = struct.pack("<f", math.copysign(math.inf, value))
    number = struct.unpack("<f", bits)[0]
    if not math.isfinite(number):
        return f"0x{struct.unpack('<I', bits)[0]:08X}"
    for digits in range(1, 10):
        text = f"{number:.{digits}g}"
        try:
            if struct.pack("<f", float(text)) == bits:
                break
        except OverflowError:  # rounded up past the largest f32
            continue
    if "." not in text:
        mantissa, e, exponent = text.partition("e")
        text = f"{mantissa}.0{e}{exponent}"
    return text


class Region:
    """The body of a score or mask function."""

    def __init__(self, emitter, function):
        self.emitter = emitter
        self.function = function
        self.lines = []
        self.values = {}
        self.constants = {}

    def emit(self, root, type, place):
        for node in graph.reachable(root):
            self.values[id(node)] = self.value(node)
        self.lines.append(f"      attn.yield {self.values[id(root)]} : {type}{self.emitter.location(place)}\n")
        return "".join(self.lines) + "    }\n"

    def value(self, node):
        kind = node.kind
        if kind == graph.INDEX:
            position, function = node.value
            if function is not self.function:
                raise SpecError(
                    "QM0108",
                    "this value was computed from the arguments of another function",
                    "compute it from the arguments of this function",
                    node.place,
                )
            return f"%{'sbhij'[position]}"
        if kind == graph.PARAMETER:
            return self.emitter.value_name(node.value)
        if kind == graph.INTEGER:
            return self.constant(node, "arith.constant", f"{node.value} : {node.type}")
        if kind == graph.REAL:
            return self.constant(node, "arith.constant", f"{literal(node.value)} : f32")
        if kind == graph.BOOLEAN:
            return self.constant(node, "arith.constant", "true" if node.value else "false")
        if kind == graph.EXTENT:
            return self.constant(node, "attn.extent", f"{node.value} : i32")
        operands = ", ".join(self.values[id(operand)] for operand in node.operands)
        if kind == graph.LOAD:
            name, type = self.emitter.value_name(node.value), self.emitter.argument_type(node.value)
            sorted_ = " sorted" if node.value.sorted else ""
            return self.define(node, f"attn.load {name}[{operands}]{sorted_} : {type}")
        return self.define(node, f"{node.mnemonic} {operands}{node.flags} : {self.operation_type(node)}")

    def define(self, node, text):
        name = f"%{self.emitter.counter}"
        self.emitter.counter += 1
        self.lines.append(f"      {name} = {text}{self.emitter.location(node.place)}\n")
        return name

    def constant(self, node, mnemonic, text):
        """One operation a region and value."""
        key = (mnemonic, text)
        if key not in self.constants:
            self.constants[key] = self.define(node, f"{mnemonic} {text}")
        return self.constants[key]

    @staticmethod
    def operation_type(node):
        """Casts name both types, comparisons that of their operands."""
        source = node.operands[-1].type
        if node.mnemonic.startswith("arith.cmp") or source == node.type:
            return source
        return f"{source} to {node.type}"


class Emitter:
    def __init__(self, spec, name, with_places):
        self.spec = spec
        self.name = name
        self.with_places = with_places
        self.counter = 0

    def location(self, place):
        return place.location() if self.with_places else ""

    def value_name(self, argument):
        # `$` keeps an argument called "b" apart from the batch index.
        name = self.spec.argument_names[id(argument)]
        return f"%{name}$" if name in tuple("sbhij") else f"%{name}"

    def argument_type(self, argument):
        if argument.dims is None:
            return argument.dtype
        extents = {"heads": self.spec.heads, "kv_heads": self.spec.kv_heads}
        dims = (extents.get(extent, extent) for extent in argument.dims)
        text = "".join(f"{extent if isinstance(extent, int) else '?'}x" for extent in dims)
        return f"tensor<{text}{argument.stored_dtype}>"

    def follows(self, argument):
        # In packed calls rows and keys count from the start of a sequence: a buffer has as many as the longest needs.
        followed = ("batch",) if self.spec.lengths == "packed" else ("batch", "query", "key")
        names = [extent if extent in followed else "" for extent in argument.dims or ()]
        listed = ", ".join(f'"{name}"' for name in names)
        return f", attn.follows = [{listed}]" if any(names) else ""

    def emit(self):
        spec = self.spec

        batch = "1" if spec.lengths == "packed" else "?"  # packed sequences share the only batch entry

        def operand(heads, width):
            return f"tensor<{batch}x{heads}x?x{width}x{spec.dtype}>"

        q, k = operand(spec.heads, spec.head_dim), operand(spec.kv_heads, spec.head_dim)
        v, o = operand(spec.kv_heads, spec.value_head_dim), operand(spec.heads, spec.value_head_dim)
        results, values = o, "%o"
        for asked, name in ((spec.return_lse, "%lse"), (spec.return_row_max, "%row_max")):
            if asked:
                results, values = f"{results}, tensor<{batch}x{spec.heads}x?xf32>", f"{values}, {name}"
        lengths = LENGTHS[spec.lengths]
        arguments = "".join(f',\n    %{name}: tensor<?xi32> {{attn.name = "{name}"}}' for name in lengths)
        arguments += "".join(
            f',\n    {self.value_name(a)}: {self.argument_type(a)} {{attn.name = "{spec.argument_names[id(a)]}"{self.follows(a)}}}{self.location(a.place)}'
            for a in spec.arguments
        )
        options = f" {spec.lengths}(%{', %'.join(lengths)})" if lengths else ""
        options += "" if spec.scale is None else f" scale({literal(spec.scale)})"
        options += " row_max" if spec.return_row_max else ""
        return "".join(
            [
                f"func.func @{self.name}(%q: {q}, %k: {k}, %v: {v}{arguments})\n    -> ({results}) {{\n",
                f"  {values} = attn.attention q(%q) k(%k) v(%v){options}\n",
                self.region("score", "(%s, %b, %h, %i, %j)", spec.score, "f32"),
                self.region("mask", "(%b, %h, %i, %j)", spec.mask, "i1"),
                self.region("sink", "(%b, %h)", spec.sink, "f32"),
                f"    : {q}, {k}, {v}\n   -> {results}{self.location(spec.place)}\n",
                f"  return {values} : {results}{self.location(spec.place)}\n",
                f"}}{self.location(spec.place)}\n",
            ]
        )

    def region(self, keyword, arguments, function, type):
        if function is None:
            return ""
        body = Region(self, function.token).emit(function.root, type, function.place)
        return f"    {keyword} {arguments} {{\n{body}"
