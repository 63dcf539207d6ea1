"""`attention`: one call from arrays and functions to a result."""

from .spec import Spec
from .tensors import view


def attention(
    q, k, v, *, score_mod=None, mask=None, groups=None, scale=None, return_lse=False, out=None, lse=None, layout="bhsd", stream=None,
    threads=0, target=None,
):  # fmt: skip
    """softmax(score_mod(scale * q k^T) where mask) v.

    q [B, Hq, Sq, D], k [B, Hkv, Skv, D], v [B, Hkv, Skv, Dv]; gives o [B, Hq, Sq, Dv], or (o, lse) with return_lse. Query head h
    reads key/value head h // (Hq / Hkv). NumPy arrays or anything with `__dlpack__`, on the CPU or one GPU; f16, bf16 or f32.

    score_mod: a function (s, b, h, i, j) -> score, or one of `scores`. mask: a function (b, h, i, j) -> Bool, or one of `masks`.
        They are called once, with symbolic values; arrays they read are `buffer`s, numbers that change are `scalar`s.
    groups: Hq / Hkv, checked where it is given.
    scale: default 1 / sqrt(D).
    out, lse, layout, stream, threads: as in Kernel.__call__.
    target: overrides the architecture ("sm_80" on an H200).

    The kernel depends on head counts, head dims, element types and the functions, not on batch, lengths, buffers or scalars; it comes
    from a registered library, from the cache, or from qmc (see `compiler`). Tracing takes a fraction of a millisecond a call: keep a
    `Spec` and call that where it counts.

    Raises SpecError (a mistake in the functions), CompileError (what qmc refuses), CompilerNotFound, LaunchError (arguments that do not
    fit), TypeError and ValueError.
    """
    if layout not in ("bhsd", "bshd"):
        raise ValueError(f"layout is 'bhsd' or 'bshd', not {layout!r}")
    tensors = {name: view(x) for name, x in (("q", q), ("k", k), ("v", v))}
    for name, tensor in tensors.items():
        if len(tensor.shape) != 4:
            raise ValueError(f"{name} has {len(tensor.shape)} dimensions; it is [batch, heads, sequence, head dim]")
    axis = 1 if layout == "bhsd" else 2
    heads, kv_heads = tensors["q"].shape[axis], tensors["k"].shape[axis]
    if groups is not None and heads != groups * kv_heads:
        raise ValueError(f"groups={groups}, but q has {heads} heads and k has {kv_heads}")
    spec = Spec(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=tensors["q"].shape[3],
        value_head_dim=tensors["v"].shape[3],
        dtype=tensors["q"].dtype,
        score_mod=score_mod,
        mask=mask,
        scale=scale,
        return_lse=return_lse,
    )
    return spec(q, k, v, out=out, lse=lse, layout=layout, stream=stream, threads=threads, target=target)
