"""torch.ops.qimeng.attention and attention_out: kernels as operators of PyTorch.

An operator gets the program itself, the text of a spec (Spec.content): a graph that holds it can be saved, and needs only a kernel
for that text where it runs, from a registered library, the cache or qmc. Inference only: the backward pass is an error that says so.
"""

import hashlib

import torch

from .. import compiler
from ..errors import LaunchError
from ..tensors import CPU, CUDA, Tensor, register_reader

_DTYPES = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.bool: "i1",
    torch.uint8: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
}
_DEVICES = {"cpu": CPU, "cuda": CUDA}
_LAYOUT = ("QM0516", "QM0517")  # strides, alignment


def dtype_name(dtype):
    """ "bf16" and the like; TypeError where no kernel takes such elements."""
    if dtype not in _DTYPES:
        raise TypeError(f"no kernel takes elements of {dtype}")
    return _DTYPES[dtype]


_STRIDED = torch.strided


def _read(tensor):
    device, dtype = tensor.device, _DTYPES.get(tensor.dtype)
    kind = _DEVICES.get(device.type)
    if dtype is None or kind is None or tensor.layout != _STRIDED:
        raise TypeError(
            f"a tensor of {tensor.dtype} with the layout {tensor.layout} on {device}: kernels take strided tensors of "
            f"{', '.join(map(str, _DTYPES))} on the CPU and on CUDA devices"
        )
    return Tensor(tensor.data_ptr(), tensor.shape, tensor.stride(), dtype, (kind, device.index or 0), tensor)


register_reader(torch.Tensor, _read)
register_reader(torch.nn.Parameter, _read)


class _Program:
    """A text as what `compiler` takes. `spec` is the Spec it came from, if that was traced in this process: it knows the lines."""

    def __init__(self, text, spec=None):
        self.key = spec.key if spec else hashlib.sha256(text.encode()).hexdigest()[:16]
        self.name = f"attention_{self.key}"
        self.mlir = spec.mlir if spec else text.replace("@attention(", f"@{self.name}(", 1)
        results = text.split(" = attn.attention", 1)[0]
        self.statistics = [name for name in ("lse", "row_max") if f"%{name}" in results]
        self._kernels = {}

    def kernel(self, device):
        kernel = self._kernels.get(device)
        if kernel is None:
            kernel = self._kernels[device] = compiler.kernel_for(self, device)
        return kernel


_programs = {}


def programs():
    """What was traced in this process, for `qimeng_attention.build`: run a model on tensors of the device "meta" (nothing is computed
    or compiled), build its programs into a library, and `register` that where the model runs.
    """
    return list(_programs.values())


def program_of(text, spec=None):
    program = _programs.get(text)
    if program is None:
        program = _programs[text] = _Program(text, spec)
    return program


def _results(q, v, statistics):
    """New results: o in q's order of dimensions where that is [B, H, S, D] or [B, S, H, D], and [B, H, S] for each statistic.

    Packed sequences: [T, H, D] and [H, T].
    """
    heads, width = q.shape[1], v.shape[-1]
    if q.dim() == 3:
        o, rows = q.new_empty(q.shape[0], heads, width), (heads, q.shape[0])
    elif not q.is_contiguous() and q.transpose(1, 2).is_contiguous():
        o, rows = q.new_empty(q.shape[0], q.shape[2], heads, width).transpose(1, 2), q.shape[:3]
    else:
        o, rows = q.new_empty(q.shape[0], heads, q.shape[2], width), q.shape[:3]
    return o, [q.new_empty(rows, dtype=torch.float32) for _ in statistics]


def _launch(q, k, v, captures, scalars, program, out, statistics):
    device = q.device
    if device.type == "cuda":
        stream = torch.cuda.current_stream(device).cuda_stream
        kernel = program.kernel((CUDA, device.index or 0))
    else:
        stream = 0
        kernel = program.kernel((CPU, 0))
    bound = kernel.bind([_read(x) for x in captures], scalars)
    results = [_read(x) for x in (out, *statistics)]
    try:
        kernel.launch([_read(q), _read(k), _read(v), *bound, *results], stream)
    except LaunchError as error:
        if error.code not in _LAYOUT:
            raise
        # As PyTorch's own functions: strides and addresses that no kernel takes cost a copy.
        copies = [x.clone(memory_format=torch.contiguous_format) for x in (q, k, v)]
        kernel.launch([*[_read(x) for x in copies], *bound, *results], stream)


_library = torch.library.Library("qimeng", "DEF")
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, Tensor[] captures, float[] scalars, str program) -> (Tensor, Tensor[])",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    "attention_out(Tensor q, Tensor k, Tensor v, Tensor[] captures, float[] scalars, str program, Tensor(a!) out, "
    "Tensor(b!)? lse=None, Tensor(c!)? row_max=None) -> ()",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def _attention(q, k, v, captures, scalars, program):
    program = program_of(program)
    o, statistics = _results(q, v, program.statistics)
    _launch(q, k, v, captures, scalars, program, o, statistics)
    return o, statistics


def _attention_out(q, k, v, captures, scalars, program, out, lse=None, row_max=None):
    program = program_of(program)
    given = {"lse": lse, "row_max": row_max}
    for name in program.statistics:
        if given[name] is None:
            raise ValueError(f"this program returns {name}: pass a tensor for it, f32 [B, Hq, Sq]")
    _launch(q, k, v, captures, scalars, program, out, [given[name] for name in program.statistics])


for _key in ("CPU", "CUDA"):
    _library.impl("attention", _attention, _key)
    _library.impl("attention_out", _attention_out, _key)


@torch.library.register_fake("qimeng::attention", lib=_library)
def _(q, k, v, captures, scalars, program):
    return _results(q, v, program_of(program).statistics)


@torch.library.register_fake("qimeng::attention_out", lib=_library)
def _(q, k, v, captures, scalars, program, out, lse=None, row_max=None):
    return None


_NO_BACKWARD = (
    "the backward pass of qimeng::attention does not exist yet: call it under torch.no_grad(), or use PyTorch's attention for training"
)


def _backward(context, *gradients):
    raise NotImplementedError(_NO_BACKWARD)


torch.library.register_autograd("qimeng::attention", _backward, lib=_library)


def _attention_out_autograd(q, k, v, captures, scalars, program, out, lse=None, row_max=None):
    tensors = [q, k, v, *captures, out, lse, row_max]
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        raise NotImplementedError(_NO_BACKWARD)
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.qimeng.attention_out(q, k, v, captures, scalars, program, out, lse, row_max)


_library.impl("attention_out", _attention_out_autograd, "Autograd")
