"""The Python package in five cells, on NumPy arrays. Each `# %%` is a cell of an editor's notebook; or run it whole."""

# %% Arrays: [batch, heads, sequence, head dim]; eight query heads share two key/value heads.
import numpy as np

import qimeng_attention as qa

random = np.random.default_rng(0)
q = random.standard_normal((2, 8, 300, 64), dtype=np.float32)
k, v = random.standard_normal((2, 2, 2, 300, 64), dtype=np.float32)

# %% One call: causal attention. The first one compiles (half a second), later ones find the kernel.
o = qa.attention(q, k, v, mask=qa.masks.causal(qa.BOTTOM_RIGHT), groups=4)
print("causal:", o.shape, o.dtype)

# %% A score of your own. The array is captured, and so is the number: changing either compiles nothing.
slopes = qa.buffer(np.float32(2.0) ** -np.arange(1, 9, dtype=np.float32))
window = qa.scalar(64, "window")


def alibi(s, b, h, i, j):
    return s + slopes[h] * (j - i)


def near(b, h, i, j):
    return (i >= j) & (i - j <= window)


o, lse = qa.attention(q, k, v, score_mod=alibi, mask=near, return_lse=True)

# %% The same by hand, in double precision.
i, j = np.ogrid[:300, :300]
keys, values = np.repeat(k, 4, axis=1).astype(float), np.repeat(v, 4, axis=1).astype(float)
scores = q.astype(float) @ keys.swapaxes(2, 3) / 8 + 2.0 ** -np.arange(1, 9)[:, None, None] * (j - i)
scores = np.where((i >= j) & (i - j <= 64), scores, -np.inf)
weights = np.exp(scores - scores.max(-1, keepdims=True))
expected = weights / weights.sum(-1, keepdims=True) @ values
print(f"largest difference from double precision: {abs(o - expected).max():.1e}")
assert abs(o - expected).max() < 1e-5

# %% Kept for later: a spec is traced once, called often, printed, and built into a library for machines without the compiler.
spec = qa.Spec(name="layer", heads=8, kv_heads=2, head_dim=64, dtype="f32", score_mod=alibi, mask=near)
wider = spec(q, k, v, window=128)
print("mean change with a window of 128:", f"{abs(wider - o).mean():.3f}")
print(spec.mlir.splitlines()[0])
