#!/usr/bin/env python3
"""What a mask costs besides the pairs that it keeps, at 4k, 128k and 1M tokens: there is no set-up step, so this is what the kernel
itself spends on it.

usage: mask_setup.py FOLDER [--target NAME] [--results FILE] [--commit ID]

FOLDER holds kernels.json and images that `qmc build mask_setup.cpp --arch=NAME --emit=ptx,json -o FOLDER/kernels` wrote, and libqimeng.so.
bf16, one head, D 128, 16 batch entries at 4k. Every mask gets its contents at launch:

* contents that keep nothing: the call is all classification (and writes zeros), as a share of attention without a mask;
* contents that keep everything, up to 128k: the time over that of attention without a mask;
* at 4k PyTorch's create_block_mask of the same documents, for comparison.

Each figure is the median of launches by events. Device memory must not change. Where there is no GPU it says so and exits with 0.
"""

import pathlib

import packed_sequences
from packed_sequences import Session, torch

WIDTH = 128
LENGTHS = {4096: (16, 20, 3), 131072: (1, 3, 3), 1 << 20: (1, 1, 1)}  # batch entries, launches and rounds


def contents(kind, length, keep):
    """Arguments between v and o that keep everything or nothing."""

    def filled(value):
        return torch.full((length,), value, dtype=torch.int32, device="cuda")

    if kind == "window":
        return [length if keep else -length]
    if kind in ("documents", "classes"):
        return [filled(0), filled(0 if keep else 1)]
    if kind == "thresholds":
        return [filled(length if keep else 0)]
    return [8 if keep else 0]  # strips


KINDS = {
    "window": "closed form", "documents": "search in sorted ids", "thresholds": "extrema of rows",
    "strips": "intervals of every block", "classes": "intervals and extrema of every block"}


def measure(session, length):
    batch, launches, rounds = LENGTHS[length]
    q, k, v = (torch.randn(batch, 1, length, WIDTH, device="cuda:0", dtype=torch.bfloat16) for _ in range(3))
    o = torch.empty_like(q)

    def bind(kind, *more):
        return session.kernel(kind).bind(q, k, v, *more, o)

    functions = {"no mask": bind("unmasked")}
    for kind in KINDS:
        functions[f"{kind}, nothing kept"] = bind(kind, *contents(kind, length, False))
        if length <= 131072:
            functions[f"{kind}, all kept"] = bind(kind, *contents(kind, length, True))
    for function in functions.values():
        function()
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    times = session.times(functions, launches, rounds)
    taken = before - torch.cuda.mem_get_info()[0]
    assert taken == 0, f"masks took {taken} bytes of device memory"
    attention = times["no mask"]
    for kind, how in KINDS.items():
        nothing = times[f"{kind}, nothing kept"]
        peers = {"attention without a mask": round(attention, 4)}
        text = f"  {kind} ({how}), {length} tokens: nothing kept {nothing:.4f} ms, {100 * nothing / attention:.2f} % of attention"
        if f"{kind}, all kept" in times:
            peers["all kept"] = round(times[f"{kind}, all kept"], 4)
            text += f"; all kept {times[f'{kind}, all kept'] / attention:.4f} of its time"
        print(text, flush=True)
        session.add_row("mask set-up", f"{kind}, {length} tokens, nothing kept", nothing, peers, attention / nothing)


def flex_setup(session, length=4096):
    from torch.nn.attention.flex_attention import create_block_mask

    ids = torch.arange(length, device="cuda") // 512

    def build():
        create_block_mask(lambda b, h, i, j: ids[i] == ids[j], 1, 1, length, length, device="cuda")

    build()
    times = session.times({"create_block_mask": build}, 5, 3)
    print(f"  PyTorch's create_block_mask, {length} tokens: {times['create_block_mask']:.3f} ms", flush=True)


def main():
    session = packed_sequences.open_session(__doc__, "set-up of masks", Session)
    if session is None:
        return
    for length in LENGTHS:
        measure(session, length)
        session.write()
    flex_setup(session)


if __name__ == "__main__":
    main()
