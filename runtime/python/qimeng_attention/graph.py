"""The expression graph of a spec: one node an MLIR operation or leaf.

Operators with no single operation, such as floor modulo, are expanded when they are built (values.py), to the same operations as
in the C++ front end. Nodes are shared freely between specs; only the indices of a function belong to one.
"""

from .errors import SpecError
from .places import here

F32, I32, I1, I8 = "f32", "i32", "i1", "i8"

INTEGER, REAL, BOOLEAN, EXTENT, INDEX, PARAMETER, LOAD, OPERATION = range(8)


class Node:
    """`value` of the kinds: the number; the extent's name; (position of s, b, h, i, j; token of its function); the argument."""

    __slots__ = ("kind", "type", "mnemonic", "flags", "value", "operands", "place")

    def __init__(self, kind, type, value=None, operands=(), mnemonic="", flags=""):
        self.kind = kind
        self.type = type
        self.mnemonic = mnemonic
        self.flags = flags
        self.value = value
        self.operands = operands
        self.place = here()

    def is_integer(self):
        return self.kind == INTEGER

    def is_boolean(self, value):
        return self.kind == BOOLEAN and self.value == value


def integer(value, type=I32):
    value = int(value)
    if not -(2**31) <= value < 2**31:
        raise SpecError(
            "QM0111",
            f"the integer {value} does not fit in 32 bits",
            "indices are signed 32-bit; write a float literal if a number of this size is meant",
            here(),
        )
    return Node(INTEGER, type, value)


def real(value):
    return Node(REAL, F32, float(value))


def boolean(value):
    return Node(BOOLEAN, I1, bool(value))


def extent(name):
    return Node(EXTENT, I32, name)


def operation(mnemonic, type, *operands, flags=""):
    """`flags` are printed behind the operands."""
    return Node(OPERATION, type, None, operands, mnemonic, flags)


def reachable(root):
    """Nodes that `root` needs, operands before users, each once. No recursion: a loop can make a deep graph."""
    order, seen, stack = [], {id(root)}, [(root, 0)]
    while stack:
        node, following = stack.pop()
        if following == len(node.operands):
            order.append(node)
            continue
        stack.append((node, following + 1))
        operand = node.operands[following]
        if id(operand) not in seen:
            seen.add(id(operand))
            stack.append((operand, 0))
    return order
