"""Local attention of Gemma-2 27B in PyTorch: scores capped softly at 50, a sliding window, 32 query heads on 16 key/value heads.

The score and mask functions are written as for PyTorch's flex_attention, and `flex_attention` of this package runs them: eagerly, and
inside torch.compile(fullgraph=True). Compared with the same attention written out in PyTorch.

usage: gemma2_layer.py [--tokens N] [--window N] [--device cuda] [--dtype bfloat16]
"""

import argparse
import sys

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

from qimeng_attention.torch import flex_attention

HIDDEN, HEADS, KV_HEADS, WIDTH, CAP = 4608, 32, 16, 128, 50.0
SCALE = 144**-0.5  # query_pre_attn_scalar of the model; not 1 / sqrt(WIDTH)


class LocalAttention(torch.nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

        def linear(inputs, outputs):
            layer = torch.nn.Linear(inputs, outputs, bias=False)
            torch.nn.init.normal_(layer.weight, std=inputs**-0.5)
            return layer

        self.q, self.o = linear(HIDDEN, HEADS * WIDTH), linear(HEADS * WIDTH, HIDDEN)
        self.k, self.v = linear(HIDDEN, KV_HEADS * WIDTH), linear(HIDDEN, KV_HEADS * WIDTH)

        def softcap(score, b, h, q_idx, kv_idx):
            return CAP * torch.tanh(score / CAP)

        def local(b, h, q_idx, kv_idx):  # the model's window counts the query itself
            return (q_idx >= kv_idx) & (q_idx - kv_idx < window)

        # Made here and not in forward: torch.compile before 2.15 cannot look into functions that the compiled function makes.
        self.softcap, self.local = softcap, local

    def operands(self, x):
        """Views [batch, heads, tokens, WIDTH] of what the projections write."""
        return (p(x).view(*x.shape[:2], -1, WIDTH).transpose(1, 2) for p in (self.q, self.k, self.v))

    def forward(self, x):
        y = flex_attention(*self.operands(x), self.softcap, mask_mod=self.local, scale=SCALE, enable_gqa=True)
        return self.o(y.transpose(1, 2).flatten(2))

    def written_out(self, x, dtype):
        q, k, v = (t.to(dtype) for t in self.operands(x))
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, dim=1) for t in (k, v))
        s = CAP * torch.tanh(q @ k.transpose(2, 3) * SCALE / CAP)
        distance = torch.arange(x.shape[1], device=x.device)[:, None] - torch.arange(x.shape[1], device=x.device)
        s = s.masked_fill((distance < 0) | (distance >= self.window), float("-inf"))
        return self.o((s.softmax(-1) @ v).to(x.dtype).transpose(1, 2).flatten(2))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tokens", type=int, default=200)
    options.add_argument("--window", type=int, default=64)  # 4096 in the model
    options.add_argument("--device", default="cpu")
    options.add_argument("--dtype", default="bfloat16", choices=["float32", "float16", "bfloat16"])
    options = options.parse_args()
    dtype = getattr(torch, options.dtype)
    torch.manual_seed(0)
    with torch.inference_mode():
        layer = LocalAttention(options.window).to(options.device, dtype)
        x = torch.randn(1, options.tokens, HIDDEN, device=options.device).to(dtype)
        truth, plain = layer.written_out(x, torch.float64), layer.written_out(x, torch.float32)
        eager = layer(x)
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")(x)

    def distance(a):
        return ((a.double() - truth.double()).norm() / truth.double().norm()).item()

    print(f"layer's output {tuple(eager.shape)}, relative error: ours {distance(eager):.1e}, written out in f32 {distance(plain):.1e}")
    print(f"under torch.compile: {'the same bits' if torch.equal(eager, compiled) else 'other bits'}")
    assert torch.equal(eager, compiled)
    assert distance(eager) <= max(2 * distance(plain), 2 * torch.finfo(dtype).eps)


if __name__ == "__main__":
    main()
