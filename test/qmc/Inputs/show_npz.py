"""show_npz.py FILE: name, shape and values of each array."""
import sys

from arrays import read

for name, (shape, values) in read(sys.argv[1]).items():
    print(f"{name} {shape}: " + " ".join("%.6g" % value for value in values))
