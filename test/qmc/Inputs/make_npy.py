"""make_npy.py OUT.npy DESCR SHAPE VALUE...: a .npy file without numpy, e.g. `q.npy f4 1,1,4,1 1 2 -1 0.5`."""
import struct
import sys

path, descr, shape = sys.argv[1:4]
code = {"f2": "e", "f4": "f", "f8": "d", "i4": "i", "i1": "b", "i8": "q"}[descr]
convert = float if descr.startswith("f") else int
values = [convert(text) for text in sys.argv[4:]]
extents = tuple(int(part) for part in shape.split(","))
header = repr({"descr": "<" + descr, "fortran_order": False, "shape": extents})
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<%d%s" % (len(values), code), *values))
