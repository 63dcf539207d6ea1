"""PyTorch: drop-in functions and the operators behind them.

    from qimeng_attention.torch import flex_attention, scaled_dot_product_attention

torch.ops.qimeng.attention(q, k, v, captures, scalars, program) runs the program of a Spec (Spec.content).
"""

from .functional import flex_attention, scaled_dot_product_attention, varlen_attention
from .operator import program_of, programs

__all__ = ["flex_attention", "program_of", "programs", "scaled_dot_product_attention", "varlen_attention"]
