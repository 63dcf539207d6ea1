"""A decoder layer of Llama-3 8B with our attention beside PyTorch's: grouped queries (32 heads on 8), head dim 128, RoPE.

The shapes are the model's, the weights random. First a prompt, then single tokens on a key/value cache: `causal(BOTTOM_RIGHT)` aligns
the last query with the last key, so one kernel does both. Outputs of the layer are compared with those that PyTorch's attention gives,
and attention itself with double precision.

usage: llama3_layer.py [--tokens N] [--device cuda] [--dtype bfloat16]
"""

import argparse
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

import qimeng_attention as qa
import qimeng_attention.torch  # noqa: F401  reads PyTorch's tensors faster than DLPack does

HIDDEN, HEADS, KV_HEADS, WIDTH, INNER = 4096, 32, 8, 128, 14336


def rope(x, first):
    """Rotates pairs (n, n + WIDTH / 2) of each head by the position; base 500000."""
    frequency = 500000.0 ** (-torch.arange(0, WIDTH, 2, device=x.device, dtype=torch.float32) / WIDTH)
    angle = (first + torch.arange(x.shape[2], device=x.device, dtype=torch.float32))[:, None] * frequency
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    low, high = x.float().chunk(2, dim=-1)
    return (x.float() * cos + torch.cat((-high, low), dim=-1) * sin).to(x.dtype)


class DecoderLayer(torch.nn.Module):
    """`attention(q, k, v)` is causal with the last query at the last key."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

        def linear(inputs, outputs):
            layer = torch.nn.Linear(inputs, outputs, bias=False)
            torch.nn.init.normal_(layer.weight, std=inputs**-0.5)
            return layer

        self.norm, self.inner_norm = torch.nn.RMSNorm(HIDDEN, eps=1e-5), torch.nn.RMSNorm(HIDDEN, eps=1e-5)
        self.q, self.o = linear(HIDDEN, HEADS * WIDTH), linear(HEADS * WIDTH, HIDDEN)
        self.k, self.v = linear(HIDDEN, KV_HEADS * WIDTH), linear(HIDDEN, KV_HEADS * WIDTH)
        self.gate, self.up, self.down = linear(HIDDEN, INNER), linear(HIDDEN, INNER), linear(INNER, HIDDEN)

    def forward(self, x, cache=None):
        """x [batch, tokens, HIDDEN]; cache (k, v) [batch, KV_HEADS, tokens before, WIDTH], or None. Gives x and the new cache."""
        batch, tokens, _ = x.shape
        y = self.norm(x)
        # Views [batch, heads, tokens, WIDTH] of what the projections wrote: no copy.
        q, k, v = (p(y).view(batch, tokens, -1, WIDTH).transpose(1, 2) for p in (self.q, self.k, self.v))
        before = 0 if cache is None else cache[0].shape[2]
        q, k = rope(q, before), rope(k, before)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        x = x + self.o(self.attention(q, k, v).transpose(1, 2).reshape(batch, tokens, -1))
        y = self.inner_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), (k, v)


def theirs(q, k, v):
    rows, keys = q.shape[2], k.shape[2]
    kept = torch.ones(rows, keys, dtype=torch.bool, device=q.device).tril(keys - rows)
    return F.scaled_dot_product_attention(q, k, v, kept, enable_gqa=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tokens", type=int, default=96)
    options.add_argument("--device", default="cpu")
    options.add_argument("--dtype", default="bfloat16", choices=["float32", "float16", "bfloat16"])
    options = options.parse_args()
    dtype = getattr(torch, options.dtype)
    torch.manual_seed(0)

    short = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[options.dtype]
    ours = qa.Spec(name="llama3", heads=HEADS, kv_heads=KV_HEADS, head_dim=WIDTH, dtype=short, mask=qa.masks.causal(qa.BOTTOM_RIGHT))
    with torch.inference_mode():
        layer = DecoderLayer(ours).to(options.device, dtype)
        x = torch.randn(1, options.tokens + 2, HIDDEN, device=options.device).to(dtype)
        steps = [x[:, : options.tokens], x[:, options.tokens :][:, :1], x[:, options.tokens + 1 :]]
        outputs = {}
        for name, attention in (("ours", ours), ("PyTorch", theirs)):
            layer.attention, cache, outputs[name] = attention, None, []
            for tokens in steps:
                y, cache = layer(tokens, cache)
                outputs[name].append(y)
        # Attention alone, on the tensors of the last step, against double precision.
        q = torch.randn(1, HEADS, 1, WIDTH, device=options.device).to(dtype)
        truth = theirs(q.double(), cache[0].double(), cache[1].double())
        errors = {name: (f(q, *cache).double() - truth).abs().max().item() for name, f in (("ours", ours), ("PyTorch", theirs))}

    epsilon = torch.finfo(dtype).eps
    for what, a, b in zip(("prompt", "token 1", "token 2"), outputs["ours"], outputs["PyTorch"]):
        difference = ((a - b).float().norm() / b.float().norm()).item()
        print(f"{what:8} {tuple(a.shape)}  relative difference of the layer's output {difference:.1e}")
        assert difference < 2 * epsilon, "the layer's output differs by more than rounding"
    print(f"attention against double precision: ours {errors['ours']:.1e}, PyTorch {errors['PyTorch']:.1e}")
    assert errors["ours"] <= max(2 * errors["PyTorch"], epsilon * truth.abs().max().item())


if __name__ == "__main__":
    main()
