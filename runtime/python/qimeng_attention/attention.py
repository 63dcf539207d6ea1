"""`attention`: one call from arrays and functions to a result."""

from .spec import Spec
from .tensors import view


def attention(
    q, k, v, *, score_mod=None, mask=None, sink=None, groups=None, scale=None, cu_q=None, cu_kv=None, len_q=None, len_kv=None,
    return_lse=False, return_row_max=False, out=None, lse=None, row_max=None, layout="bhsd", stream=None, threads=0, target=None,
):  # fmt: skip
    """softmax(score_mod(scale * q k^T) where mask) v.

    q [B, Hq, Sq, D], k [B, Hkv, Skv, D], v [B, Hkv, Skv, Dv]; gives o [B, Hq, Sq, Dv], or a tuple of o and what return_lse and
    return_row_max ask for, f32 [B, Hq, Sq]. Query head h
    reads key/value head h // (Hq / Hkv). NumPy arrays or anything with `__dlpack__`, on the CPU or one GPU; f16, bf16 or f32.

    score_mod: a function (s, b, h, i, j) -> score, or one of `scores`. mask: a function (b, h, i, j) -> Bool, or one of `masks`.
        They are called once, with symbolic values; arrays they read are `buffer`s, numbers that change are `scalar`s.
    sink: a function (b, h) -> Float or a buffer over [head]: one more logit of every row, without a value.
    cu_q, cu_kv: i32, where each of the sequences starts that q and k, v hold one after the other, and where the last one ends
        ("cu_seqlens"); q is [T, Hq, D] then, k and v alike, o [T, Hq, Dv], statistics [Hq, T].
    len_q, len_kv: i32 [B], the lengths of sequences that do not fill their batch entry.
    groups: Hq / Hkv, checked where it is given.
    scale: default 1 / sqrt(D).
    out, lse, layout, stream, threads: as in Operator.__call__.
    target: overrides the architecture ("sm_80" on an H200).

    The kernel depends on head counts, head dims, element types and the functions, not on batch, lengths, buffers or scalars; it comes
    from a registered library, from the cache, or from qmc (see `compiler`). Tracing takes a fraction of a millisecond a call: keep a
    `Spec` and call that where it counts.

    Raises SpecError (a mistake in the functions), CompileError (what qmc refuses), CompilerNotFound, LaunchError (arguments that do not
    fit), TypeError and ValueError.
    """
    if layout not in ("bhsd", "bshd"):
        raise ValueError(f"layout is 'bhsd' or 'bshd', not {layout!r}")
    lengths = _lengths(cu_q, cu_kv, "packed") or _lengths(len_q, len_kv, "padded")
    tensors = {name: view(x) for name, x in (("q", q), ("k", k), ("v", v))}
    packed = lengths == "packed" and len(tensors["q"].shape) == 3
    for name, tensor in tensors.items():
        if len(tensor.shape) != (3 if packed else 4):
            expected = "[tokens, heads, head dim]" if packed else "[batch, heads, sequence, head dim]"
            raise ValueError(f"{name} has {len(tensor.shape)} dimensions; it is {expected}")
    axis = 1 if layout == "bhsd" or packed else 2
    heads, kv_heads = tensors["q"].shape[axis], tensors["k"].shape[axis]
    if groups is not None and heads != groups * kv_heads:
        raise ValueError(f"groups={groups}, but q has {heads} heads and k has {kv_heads}")
    spec = Spec(
        heads=heads, kv_heads=kv_heads, head_dim=tensors["q"].shape[-1], value_head_dim=tensors["v"].shape[-1],
        dtype=tensors["q"].dtype, score_mod=score_mod, mask=mask, sink=sink, scale=scale, lengths=lengths, return_lse=return_lse,
        return_row_max=return_row_max,
    )  # fmt: skip
    given = {"packed": {"cu_q": cu_q, "cu_kv": cu_kv}, "padded": {"len_q": len_q, "len_kv": len_kv}}.get(lengths, {})
    return spec(
        q, k, v, out=out, lse=lse, row_max=row_max, layout=layout, stream=stream, threads=threads, target=target, **given
    )  # fmt: skip


def _lengths(queries, keys, kind):
    if (queries is None) != (keys is None):
        raise ValueError(f"{kind} sequences need lengths of queries and of keys")
    return None if queries is None else kind
