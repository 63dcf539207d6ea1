"""check_golden.py OUT.npz GOLDEN.json CASE: o and lse to f32 accuracy (null: minus infinity)."""
import json
import math
import sys

from arrays import read

arrays = read(sys.argv[1])
with open(sys.argv[2]) as file:
    golden = json.load(file)[sys.argv[3]]
for name in ("o", "lse"):
    got, want = arrays[name][1], golden[name]
    assert len(got) == len(want), (name, got, want)
    for a, b in zip(got, want):
        b = -math.inf if b is None else b
        assert a == b or abs(a - b) <= 4e-7 * max(1, abs(b)), (name, got, want)
