"""Drop-in functions: `scaled_dot_product_attention` and `flex_attention` with PyTorch's arguments, `varlen_attention` for packed ones.

They work on the CPU and on CUDA devices, eagerly, under torch.compile(fullgraph=True) and in CUDA graphs. Inference only.
"""

import math

import torch

from ..catalogue import TOP_LEFT
from ..masks import causal
from ..spec import Spec
from .capture import describe, describe_callable, rebuild
from .operator import dtype_name, program_of

_traced = {}


@torch.compiler.assume_constant_result
def _trace(extents, dtype, scale, statistics, score, mask, additive, lengths):
    """(text, which tensors of score's and then mask's are its captures) of a spec, traced once for each description.

    extents: "Hq Hkv D Dv E", E the head dim of the default scale.
    additive: None, or what an attn_mask of scaled_dot_product_attention does: "causal", "bool", "bias".
    lengths: None or "packed". statistics: of ("lse", "row_max").
    """
    key = (extents, dtype, scale, statistics, score, mask, additive, lengths)
    if key not in _traced:
        heads, kv_heads, head_dim, value_head_dim, unpadded = map(int, extents.split())
        if scale is None and unpadded != head_dim:
            scale = 1 / math.sqrt(unpadded)
        score_mod, score_buffers = rebuild(score)
        mask_mod, mask_buffers = rebuild(mask)
        # Each numbers its buffers from 0; in the spec they have one sequence.
        buffers = score_buffers + mask_buffers
        for number, buffer in enumerate(buffers):
            buffer.argument.name = f"x{number}"
        if additive == "causal":
            mask_mod = causal(TOP_LEFT)
        elif additive == "bool":
            mask_mod = _gather_mask(mask_mod)
        elif additive == "bias":
            score_mod = _gather_bias(score_mod)
        spec = Spec(
            heads=heads, kv_heads=kv_heads, head_dim=head_dim, value_head_dim=value_head_dim, dtype=dtype_name(dtype), scale=scale,
            return_lse="lse" in statistics, return_row_max="row_max" in statistics, score_mod=score_mod, mask=mask_mod, lengths=lengths,
        )  # fmt: skip
        program_of(spec.content, spec)
        positions = {id(buffer.argument): at for at, buffer in enumerate(buffers)}
        if any(id(argument) not in positions for argument in spec.arguments):
            raise TypeError("a scalar or buffer without a tensor in a score_mod or mask_mod: let it read a tensor (of one element)")
        order = tuple(positions[id(argument)] for argument in spec.arguments)
        _traced[key] = spec.content, order
    return _traced[key]


def _gather_mask(buffer):
    return lambda b, h, i, j: buffer[b, h, i, j]


def _gather_bias(buffer):
    return lambda s, b, h, i, j: s + buffer[b, h, i, j]


def _run(q, k, v, score, mask, additive, scale, statistics, tensors, starts=()):
    """o and a list of the statistics. `starts`: of packed sequences, cu_q and cu_kv."""
    unpadded, width = q.shape[-1], v.shape[-1]
    if unpadded % _HEAD_DIM_MULTIPLE or width % _HEAD_DIM_MULTIPLE:
        q, k, v = (torch.nn.functional.pad(x, (0, -x.shape[-1] % _HEAD_DIM_MULTIPLE)) for x in (q, k, v))
    # As a text: that makes Dynamo take these extents, and no others, for constants.
    extents = f"{q.shape[1]} {k.shape[1]} {q.shape[-1]} {v.shape[-1]} {unpadded}"
    text, order = _trace(extents, q.dtype, scale, statistics, score, mask, additive, "packed" if starts else None)
    captures = list(starts)
    for at in order:
        tensor = tensors[at]
        captures.append(tensor.reshape(1) if tensor.dim() == 0 else tensor)
    o, found = torch.ops.qimeng.attention(q, k, v, captures, [], text)
    return (o if v.shape[-1] == width else o[..., :width]), found


_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
# Head dims are padded to multiples of this by zeros, which change no score: GPUs need it, and one program serves every device.
_HEAD_DIM_MULTIPLE = 8


def _check(q, k, v, least_rank, most_rank=None):
    """That query, key and value are tensors of one kind. (The operator checks extents, devices and the rest.)"""
    for name, x in (("query", q), ("key", k), ("value", v)):
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"{name} is a {type(x).__name__}, not a tensor: qimeng_attention.attention takes other arrays")
        if not least_rank <= x.dim() <= (most_rank or least_rank):
            expected = {2: "[batch, heads, sequence, head dim] or without the first ones", 3: "[tokens, heads, head dim]"}
            expected = expected.get(least_rank, "[batch, heads, sequence, head dim]")
            raise ValueError(f"{name} has {x.dim()} dimensions; it is {expected}")
        if x.dim() != q.dim():
            raise ValueError(f"query has {q.dim()} dimensions and {name} has {x.dim()}: they have the same number")
        if x.dtype not in _DTYPES:
            raise TypeError(f"{name} holds {x.dtype}: kernels exist for float16, bfloat16 and float32")
        if x.dtype != q.dtype:
            raise TypeError(f"query holds {q.dtype} and {name} {x.dtype}: convert them to one type")


def _of_each_batch_entry(x, q):
    """Keys or values with a batch extent of 1 serve every entry."""
    return x.expand(q.shape[0], *x.shape[1:]) if x.shape[0] == 1 else x


def _check_heads(q, k, enable_gqa):
    if q.shape[1] != k.shape[1] and not enable_gqa:
        raise ValueError(
            f"query has {q.shape[1]} heads and key has {k.shape[1]}: pass enable_gqa=True if each key head serves several query heads"
        )


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None, *,
    return_aux=None, mask_mod=None,
):  # fmt: skip
    """torch.nn.attention.flex_attention.flex_attention for inference, without BlockMask: the compiler finds the blocks itself.

    query [B, Hq, Sq, E], key [B, Hkv, Skv, E], value [B, Hkv, Skv, Ev] of f16, bf16 or f32; gives [B, Hq, Sq, Ev], or that and
    lse (natural logarithm, f32 [B, Hq, Sq]) with return_lse, or that and an AuxOutput with return_aux=AuxRequest(lse, max_scores).

    score_mod(score, b, h, q_idx, kv_idx), mask_mod(b, h, q_idx, kv_idx): written as for PyTorch, with torch.where, torch.tanh, ...;
        they may read tensors and numbers of their closure, of their module, and attributes of objects in the closure. Numbers are
        constants of the kernel, tensors are not. Functions of qimeng_attention.masks and .scores do as well.
    block_mask: a BlockMask gives its mask_mod; its block lists are not used.
    scale: default 1 / sqrt(E). enable_gqa: allow fewer heads in key and value. kernel_options: hints for PyTorch's kernels; not used.

    A row without keys gives 0 and lse = -inf. Requires no gradient: backward raises NotImplementedError.
    """
    _check(query, key, value, 4)
    _check_heads(query, key, enable_gqa)
    key, value = _of_each_batch_entry(key, query), _of_each_batch_entry(value, query)
    if block_mask is not None:
        if mask_mod is not None:
            raise ValueError("pass mask_mod or block_mask, not both")
        mask_mod = _mask_mod_of(block_mask, query, key)
    if return_lse and return_aux is not None:
        raise ValueError("pass return_lse or return_aux, not both")
    wanted = {"lse": return_lse, "row_max": False}
    if return_aux is not None:
        wanted = {"lse": return_aux.lse, "row_max": return_aux.max_scores}
    statistics = tuple([name for name in wanted if wanted[name]])
    tensors = []
    score = describe_callable(score_mod, tensors)
    mask = describe_callable(mask_mod, tensors)
    scale = None if scale is None else float(scale)
    o, found = _run(query, key, value, score, mask, None, scale, statistics, tensors)
    if return_aux is not None:
        from torch.nn.attention.flex_attention import AuxOutput

        named = dict(zip(statistics, found))
        return o, AuxOutput(lse=named.get("lse"), max_scores=named.get("row_max"))
    return (o, found[0]) if return_lse else o


def varlen_attention(query, key, value, cu_q, cu_kv, score_mod=None, mask_mod=None, scale=None, enable_gqa=False, return_lse=False):
    """flex_attention on sequences of different lengths that lie one after the other.

    query [T, Hq, E], key [Tkv, Hkv, E], value [Tkv, Hkv, Ev]; cu_q, cu_kv: int32, where each sequence starts and the last one ends
    ("cu_seqlens"). Gives [T, Hq, Ev], or that and lse [Hq, T]. In score_mod and mask_mod b is the number of the sequence, q_idx and
    kv_idx count from its start: masks.causal(BOTTOM_RIGHT) is what flash-attention's varlen functions call causal. Nothing is compiled for
    new lengths.
    """
    _check(query, key, value, 3)
    _check_heads(query, key, enable_gqa)
    tensors = []
    score, mask = describe_callable(score_mod, tensors), describe_callable(mask_mod, tensors)
    statistics, scale = ("lse",) if return_lse else (), None if scale is None else float(scale)
    o, found = _run(query, key, value, score, mask, None, scale, statistics, tensors, (cu_q, cu_kv))
    return (o, found[0]) if return_lse else o


def _mask_mod_of(block_mask, query, key):
    if not hasattr(block_mask, "mask_mod"):
        return block_mask  # a function: what mask_mod= takes
    lengths = block_mask.seq_lengths
    if lengths[0] != query.shape[2] or lengths[1] != key.shape[2]:
        raise ValueError(
            f"block_mask was made for lengths {tuple(lengths)}, query and key have {query.shape[2]} and {key.shape[2]}: pass "
            "mask_mod=, which fits every length"
        )
    if block_mask.mask_mod.__name__ == "noop_mask":
        raise NotImplementedError("block_mask says what to keep by its block lists only: pass a mask_mod that says it for pairs")
    return block_mask.mask_mod


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention for inference.

    query [..., Hq, L, E], key [..., Hkv, S, E], value [..., Hkv, S, Ev] with two to four dimensions, of f16, bf16 or f32.
    attn_mask: broadcastable to [..., Hq, L, S]; bool (True: kept) or floating (added to the scores).
    is_causal: query i sees keys 0 ... i (aligned at the top left, as in PyTorch).
    dropout_p: only 0.

    A row without keys gives 0. A dense attn_mask is read element by element: where a rule says it, flex_attention with a mask_mod
    skips what the rule excludes.
    """
    if dropout_p != 0.0:
        raise NotImplementedError("dropout is for training: dropout_p must be 0")
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask and is_causal together are ambiguous: put the causal part into attn_mask")
    if isinstance(query, torch.Tensor) and query.device.type in ("cpu", "cuda") and torch.is_autocast_enabled(query.device.type):
        query, key, value, attn_mask = (_autocast(x, query.device.type) for x in (query, key, value, attn_mask))
    _check(query, key, value, 2, 4)
    rank = query.dim()
    q, k, v = _to_4d(query), _to_4d(key), _to_4d(value)
    _check_heads(q, k, enable_gqa)
    k, v = _of_each_batch_entry(k, q), _of_each_batch_entry(v, q)
    tensors, additive = [], None
    nothing = describe(None, tensors)
    score, mask = nothing, nothing
    if is_causal:
        additive = "causal"
    elif attn_mask is not None:
        full = attn_mask.expand(q.shape[:-1] + k.shape[2:3]) if rank == 4 else _to_4d(attn_mask.expand(query.shape[:-1] + key.shape[-2:-1]))
        if attn_mask.dtype == torch.bool:
            additive, mask = "bool", describe(full, tensors)
        elif attn_mask.dtype not in _DTYPES:
            raise TypeError(f"attn_mask holds {attn_mask.dtype}: bool says which pairs are kept, {query.dtype} is added to the scores")
        else:
            additive, score = "bias", describe(full, tensors)
    o, _ = _run(q, k, v, score, mask, additive, None if scale is None else float(scale), (), tensors)
    return o.reshape(query.shape[:-1] + value.shape[-1:]) if rank < 4 else o


def _autocast(x, device_type):
    """As torch.autocast does for PyTorch's function."""
    return x.to(torch.get_autocast_dtype(device_type)) if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def _to_4d(tensor):
    """[L, E] and [N, L, E] with one head."""
    if tensor.dim() == 2:
        return tensor[None, None]
    return tensor[:, None] if tensor.dim() == 3 else tensor
