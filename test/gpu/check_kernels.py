#!/usr/bin/env python3
"""Runs the kernels of qm-gpu-kernels on the GPU and compares them with float64.

usage: check_kernels.py FOLDER check [SUBSTRING]    errors against float64, beside an unfused f32-accumulate reference
                                                    --shard=I/N: part I (from 0) of N of the kernels
       check_kernels.py FOLDER launches [SUBSTRING] 1000 launches back to back, then on 8 streams at once: the same bits
       check_kernels.py FOLDER bench [SUBSTRING]    TFLOP/s beside torch's attention (4 B H S^2 D, half for causal)
                                                    --results=FILE --commit=ID: rows of the default schedules for test/perf

FOLDER holds kernels.json, NAME.ptx, and NAME.sm_90.cubin; --jit loads the PTX through the driver instead. Needs torch and
a GPU of compute capability 8.0 or later; prints a message and exits with 0 where there is none.
"""

import ctypes
import datetime
import json
import math
import os
import statistics
import struct
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(0)
if not torch.cuda.is_available():
    print("skipped: no GPU")
    sys.exit(0)

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(0)
torch.zeros(1, device="cuda")  # makes torch's context current
driver = ctypes.CDLL("libcuda.so.1")
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
SMS = torch.cuda.get_device_properties(0).multi_processor_count
MAP_TYPES = {"f16": 6, "bf16": 9}  # CUtensorMapDataType
MAP_BYTES, MAP_ALIGNMENT, L2_PROMOTION_256 = 128, 64, 3


def call(name, *args):
    status = getattr(driver, name)(*args)
    if status != 0:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{name}: {text.value.decode()}")


def encode_tensor_map(info, dtype, value, fallback):
    """A CUtensorMap of `value` as the manifest describes it; `fallback` stands in for an empty operand's memory."""
    memory = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
    address = -(-ctypes.addressof(memory) // MAP_ALIGNMENT) * MAP_ALIGNMENT
    extents = [max(n, 1) for n in reversed(value.shape)]
    # The stride of a dimension of one is never used, but it has to be a multiple of 16 bytes.
    strides = [16 if n <= 1 else s * value.element_size() for n, s in zip(value.shape, value.stride())][-2::-1]
    swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[info["swizzle_bytes"]]
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(address), MAP_TYPES[dtype], 4,
         ctypes.c_void_p(value.data_ptr() if value.numel() else fallback),
         (ctypes.c_uint64 * 4)(*extents), (ctypes.c_uint64 * 3)(*strides), (ctypes.c_uint32 * 4)(*info["box"]),
         (ctypes.c_uint32 * 4)(1, 1, 1, 1), 0, swizzle, L2_PROMOTION_256, 0)
    return memory, address


class Kernel:
    """One kernel of the manifest, loaded."""

    def __init__(self, folder, info, jit):
        self.info = info
        self.name = info["image"].removesuffix(".ptx")
        self.spec = info["name"]
        self.dtype = TYPES[info["args"][0]["dtype"]]
        shapes = {a["role"]: a["shape"] for a in info["args"] if a["role"] in "qkv"}
        self.heads, self.head_dim = shapes["q"][1], shapes["q"][3]
        self.kv_heads, self.value_dim = shapes["v"][1], shapes["v"][3]
        major, minor = torch.cuda.get_device_capability()
        cubin = os.path.join(folder, f"{self.name}.sm_{major}{minor}.cubin")
        image = cubin if os.path.exists(cubin) and not jit else os.path.join(folder, info["image"])
        with open(image, "rb") as file:
            self.image = file.read() + b"\0"
        module = ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), self.image)
        self.function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(self.function), module, info["entry"].encode())
        call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED, info["shared_bytes"])

    def pack(self, values):
        """The slots of the launch contract; values by argument name, tensors in logical order."""
        slots = b""
        for arg in self.info["args"]:
            value = values[arg["name"]]
            if arg["kind"] == "tensor":
                slots += struct.pack("<q", value.data_ptr())
                slots += b"".join(struct.pack("<q", n) for n in value.shape)
                slots += b"".join(struct.pack("<q", n) for n in value.stride())
            elif arg["dtype"] == "f32":
                slots += struct.pack("<fi", value, 0)
            else:
                slots += struct.pack("<q", value)
        return slots

    def launcher(self, values, counter=0):
        """A function that launches; `counter` is the tile counter to use, negative: tiles in a fixed order."""
        slots = ctypes.create_string_buffer(self.pack(values))
        dtypes = {a["name"]: a["dtype"] for a in self.info["args"]}
        maps = [] if 0 in values["q"].shape else [
            encode_tensor_map(m, dtypes[m["argument"]], values[m["argument"]], values["q"].data_ptr())
            for m in self.info.get("tensor_maps", [])]
        which = ctypes.c_int32(counter)
        params = [ctypes.addressof(slots), *(address for _, address in maps)]
        if "tile_counters" in self.info:
            params.append(ctypes.addressof(which))
        params = (ctypes.c_void_p * len(params))(*params)
        batch, heads, rows, _ = values["q"].shape
        grid = batch * heads * math.ceil(rows / self.info["tile_m"])
        if "ctas_per_sm" in self.info:
            grid = min(grid, SMS * self.info["ctas_per_sm"])

        def launch():
            _ = slots, maps, which  # the parameters' memory
            if grid:
                stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                call("cuLaunchKernel", self.function, grid, 1, 1, self.info["threads"], 1, 1,
                     self.info["shared_bytes"], stream, params, None)

        return launch


def tensor(batch, heads, rows, columns, dtype, layout, amplitude=1.0, beyond=0):
    """Random values, logically [B, H, S, D]; `beyond` rows of NaN lie behind the last one."""
    shape = (batch, rows + beyond, heads, columns) if layout == "bshd" else (batch, heads, rows + beyond, columns)
    data = (torch.randn(shape, device="cuda") * amplitude).to(dtype)
    logical = data.transpose(1, 2) if layout == "bshd" else data
    logical[:, :, rows:] = math.nan
    return logical[:, :, :rows], logical


def inputs(kernel, batch, queries, keys, layout, amplitude):
    values, whole = {}, {}
    make = lambda heads, rows, columns: tensor(
        batch, heads, rows, columns, kernel.dtype, layout, amplitude, beyond=70)
    values["q"], _ = make(kernel.heads, queries, kernel.head_dim)
    values["k"], _ = make(kernel.kv_heads, keys, kernel.head_dim)
    values["v"], _ = make(kernel.kv_heads, keys, kernel.value_dim)
    values["o"], whole["o"] = make(kernel.heads, queries, kernel.value_dim)
    whole["o"].fill_(math.nan)
    lse = torch.full((batch, kernel.heads, queries + 70), math.nan, device="cuda")
    values["lse"], whole["lse"] = lse[:, :, :queries], lse
    values["slopes"] = torch.tensor([-(2.0 ** -(h + 1)) for h in range(kernel.heads)], device="cuda").neg()
    values["width"] = 100
    cuts = torch.rand(batch, max(queries, keys, 1), device="cuda") < 0.01
    values["doc"] = cuts.cumsum(1).to(torch.int32)
    values["table"] = torch.randn(kernel.heads, max(queries + keys, 1), device="cuda")
    values["bias"] = torch.randn(max(queries, 1), max(keys, 1), device="cuda").to(kernel.dtype)
    values["length"] = torch.tensor([keys * (b + 2) // 4 for b in range(batch)], dtype=torch.int32, device="cuda")
    if kernel.spec == "padding":  # what lies past a length may be anything
        for b, length in enumerate(values["length"].tolist()):
            values["k"][b, :, length:] = math.nan
            values["v"][b, :, length:] = math.nan
    return values, whole


def scores_and_mask(kernel, values, dtype):
    """Scores after the modifier and the mask, in `dtype`, [B, Hq, Sq, Skv]."""
    group = kernel.heads // kernel.kv_heads
    q, k = values["q"].to(dtype), values["k"].to(dtype).repeat_interleave(group, 1)
    s = q @ k.transpose(-1, -2) * torch.tensor(1 / math.sqrt(kernel.head_dim), dtype=dtype)
    queries, keys = s.shape[-2:]
    i = torch.arange(queries, device="cuda")[:, None]
    j = torch.arange(keys, device="cuda")[None, :]
    spec = kernel.spec
    if spec == "softcap":
        s = 30 * torch.tanh(s / 30)
    if spec == "alibi":
        s = s + values["slopes"].to(dtype)[None, :, None, None] * (j - i).to(dtype)
    if spec == "relative":
        s = s + values["table"].to(dtype)[:, j - i + queries][None]
    if spec == "bias":
        s = s + values["bias"].to(dtype)[:queries, :keys]
    keep = torch.ones(queries, keys, dtype=torch.bool, device="cuda")
    if spec in ("causal", "alibi"):
        keep = i >= j
    if spec == "causal_br":
        keep = i + keys - queries >= j
    if spec == "window":
        keep = (i >= j) & (i - j <= values["width"])
    if spec == "document":
        doc = values["doc"]
        keep = (doc[:, :queries, None] == doc[:, None, :keys])[:, None]
    if spec == "padding":
        keep = (j < values["length"][:, None, None])[:, None]
    return s, keep


def rounded(kernel, x):
    """As an operand of the kernel's products."""
    x = x.to(kernel.dtype)
    products = kernel.info["precision"].get("products")
    if products == "tf32":  # to nearest, ties away from zero
        return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
    if products == "bf16x3":
        high = x.bfloat16().float()
        return high + (x - high).bfloat16().float()
    return x


def attention(kernel, values, dtype, round_p):
    """In `dtype`; `round_p`: operands and probabilities rounded as the kernel's products take them."""
    values = values | {"v": values["v"].nan_to_num()}
    if round_p:
        values |= {name: rounded(kernel, values[name]) for name in "qkv"}
    s, keep = scores_and_mask(kernel, values, dtype)
    s = s.masked_fill(~keep, -math.inf)
    lse = s.logsumexp(-1)
    empty = lse == -math.inf
    p = (s - lse.masked_fill(empty, 0)[..., None]).exp()
    if round_p:
        p = rounded(kernel, p)
    v = values["v"].to(p.dtype).repeat_interleave(kernel.heads // kernel.kv_heads, 1)
    return p @ v, lse


def relative(x, reference):
    norm = reference.norm()
    difference = (x.double() - reference).norm()
    return (difference / norm if norm > 0 else difference).item()


SHAPES = [  # batch, queries, keys, amplitude
    (2, 1024, 1024, 1.0),
    (2, 777, 1000, 1.0),
    (1, 333, 65, 1.0),
    (3, 130, 1, 1.0),
    (1, 512, 1999, 4.0),
    (2, 1, 300, 1.0),
    (1, 70, 0, 1.0),
]


def check_one(kernel, shape, layout):
    """An error text, or (relative error, ratio to the unfused reference, lse error)."""
    batch, queries, keys, amplitude = shape
    values, whole = inputs(kernel, batch, queries, keys, layout, amplitude)
    launch = kernel.launcher(values)
    launch()
    torch.cuda.synchronize()
    o, lse = values["o"].clone(), values["lse"].clone()
    if not whole["o"][:, :, queries:].isnan().all() or not whole["lse"][:, :, queries:].isnan().all():
        return "wrote past the last row"
    whole["o"].fill_(math.nan)
    kernel.launcher(values, counter=-1)()
    torch.cuda.synchronize()
    if not torch.equal(o, values["o"]) or not torch.equal(lse, values["lse"]):
        return "two runs differ"
    reference, reference_lse = attention(kernel, values, torch.float64, False)
    empty = reference_lse == -math.inf
    if not torch.equal(lse == -math.inf, empty):
        return "rows without a key: lse is not -inf there, or is elsewhere"
    if o[empty].ne(0).any():
        return "rows without a key: O is not 0"
    if o.isnan().any() or lse.isnan().any():
        return "NaN in the result"
    unfused, unfused_lse = attention(kernel, values, torch.float32, True)
    error = relative(o, reference)
    unfused_error = relative(unfused.to(kernel.dtype), reference)
    lse_error = (lse - reference_lse)[~empty].abs().max().item() if (~empty).any() else 0.0
    if error > 2 * unfused_error + 1e-9:
        return f"error {error:.1e}, unfused {unfused_error:.1e}"
    allowed = 2e-6 * max(1.0, reference_lse[~empty].abs().max().item() if (~empty).any() else 1.0) + 2e-6
    if kernel.dtype == torch.float32 and (~empty).any():  # scores of rounded operands
        allowed += 2 * (unfused_lse - reference_lse)[~empty].abs().max().item()
    if lse_error > allowed:
        return f"lse error {lse_error:.1e}"
    return error, error / unfused_error if unfused_error else 0.0, lse_error


def check(kernels):
    failures = 0
    for kernel in kernels:
        if kernel.spec == "table":
            continue  # check_far
        results = []
        for index, shape in enumerate(SHAPES):
            layout = "bshd" if index % 2 == 0 else "bhsd"
            result = check_one(kernel, shape, layout)
            if isinstance(result, str):
                failures += 1
                print(f"{kernel.name} {shape} {layout}: WRONG: {result}", flush=True)
            else:
                results.append(result)
        if results:
            error, ratio, lse = (max(column) for column in zip(*results))
            print(f"{kernel.name}: {len(results)} shapes, error {error:.1e}, {ratio:.2f} x unfused, lse {lse:.0e}",
                  flush=True)
    failures += check_bits({k.name: k for k in kernels})
    failures += check_far(kernels)
    failures += check_many(kernels)
    print("failures:", failures)
    return failures


def check_far(kernels):
    """Element offsets past 2^31: K and V stored [S, B D], and a mask table of 46341 x 46341 bytes."""
    failures = 0
    for kernel in kernels:
        if kernel.head_dim != 64 or kernel.value_dim != 64 or kernel.spec not in ("full", "table"):
            continue
        if kernel.spec == "full":
            rows, width = 24000, kernel.kv_heads * 64
            stride = -(-(1 << 31) // rows // 64) * 64 + 64
            memory = torch.empty(rows, stride, dtype=kernel.dtype, device="cuda")
            values, _ = inputs(kernel, 1, 256, rows, "bhsd", 1.0)
            near = dict(values)
            for place, name in enumerate("kv"):
                part = memory[:, place * width : (place + 1) * width]
                part.copy_(values[name][0].transpose(0, 1).reshape(rows, width))
                values[name] = part.view(rows, kernel.kv_heads, 64).transpose(0, 1)[None]
        else:
            extent, first = 46341, 46341 - 300
            values, _ = inputs(kernel, 1, 200, 300, "bhsd", 1.0)
            corner = (torch.rand(300, 300, device="cuda") < 0.5).to(torch.int8)
            far = torch.zeros(extent, extent, dtype=torch.int8, device="cuda")
            far[first:, first:] = corner
            near = values | {"table": corner, "first": 0}
            values |= {"table": far, "first": first}
        results = []
        for arguments in (near, values):
            arguments["o"].fill_(math.nan)
            kernel.launcher(arguments)()
            torch.cuda.synchronize()
            results.append((arguments["o"].clone(), arguments["lse"].clone()))
        same = all(torch.equal(a, b) for a, b in zip(*results)) and not results[0][0].isnan().any()
        print(f"{kernel.name}: offsets past 2^31: bits {'equal' if same else 'WRONG'}", flush=True)
        failures += not same
    return failures


def check_many(kernels):
    """70,000 batch entries, more than a grid has in y and z: the bits of two calls with half of them each."""
    failures = 0
    for kernel in kernels:
        if kernel.head_dim != 64 or kernel.value_dim != 64 or kernel.spec not in ("full", "causal"):
            continue
        batch = 70000
        values, _ = inputs(kernel, batch, 3, 5, "bhsd", 1.0)
        kernel.launcher(values)()
        torch.cuda.synchronize()
        whole = values["o"].clone(), values["lse"].clone()
        for half in (slice(0, batch // 2), slice(batch // 2, batch)):
            values["o"].fill_(math.nan)
            kernel.launcher({n: v[half] if n in ("q", "k", "v", "o", "lse") else v for n, v in values.items()})()
            torch.cuda.synchronize()
            same = torch.equal(values["o"][half], whole[0][half]) and torch.equal(values["lse"][half], whole[1][half])
            failures += not same
            print(f"{kernel.name}: half of {batch} batch entries: bits {'equal' if same else 'WRONG'}", flush=True)
        failures += bool(whole[0].isnan().any())
    return failures


def check_bits(kernels):
    """Bits that must agree: the masked path on a mask that hides nothing, and a batch of one against a batch of two."""
    failures = 0
    for name, masked in kernels.items():
        alike = lambda k: (k.dtype, k.head_dim, k.value_dim, k.heads,
                           {n: v for n, v in k.info["schedule"].items() if n != "dynamic_order"})
        full = next((k for k in kernels.values() if k.spec == "full" and alike(k) == alike(masked)), None)
        # Ping-pong without a mask takes the last block first: another order of sums.
        if masked.spec != "document" or not full or masked.info["schedule"].get("ping_pong"):
            continue
        values, _ = inputs(masked, 2, 777, 1000, "bshd", 1.0)
        values["doc"].zero_()
        results = []
        for kernel in (full, masked):
            kernel.launcher(values)()
            torch.cuda.synchronize()
            results.append((values["o"].clone(), values["lse"].clone()))
        one = {n: v[1:] if isinstance(v, torch.Tensor) and v.dim() > 1 else v for n, v in values.items()}
        one["o"].fill_(math.nan)
        full.launcher(one)()
        torch.cuda.synchronize()
        same = all(torch.equal(a, b) for a, b in zip(*results))
        alone = torch.equal(one["o"], results[0][0][1:])
        print(f"{name}: bits of the masked path {'equal' if same else 'DIFFER'}, of a batch of one "
              f"{'equal' if alone else 'DIFFER'}", flush=True)
        failures += (not same) + (not alone)
    return failures


def check_launches(kernels, launches=1000, streams=8):
    """The same bits from every launch, one after another and on several streams at once, each with a counter of its own."""
    failures = 0
    for kernel in kernels:
        values, _ = inputs(kernel, 2, 777, 1000, "bshd", 1.0)
        kernel.launcher(values)()
        torch.cuda.synchronize()
        expected = [values[name].clone() for name in ("o", "lse")]
        differs = torch.zeros((), dtype=torch.int64, device="cuda")

        def compare(outputs):
            for name, tensor in zip(("o", "lse"), expected):
                differs.add_((outputs[name] != tensor).any())
                outputs[name].fill_(math.nan)

        again = kernel.launcher(values)
        for _ in range(launches):
            again()
            compare(values)
        torch.cuda.synchronize()
        sets = [{**values, **{n: torch.empty_like(values[n]) for n in ("o", "lse")}} for _ in range(streams)]
        lanes = [(torch.cuda.Stream(), s, kernel.launcher(s, counter=index)) for index, s in enumerate(sets)]
        for _ in range(launches // streams):
            for stream, outputs, launch in lanes:
                with torch.cuda.stream(stream):
                    launch()
        torch.cuda.synchronize()
        for outputs in sets:
            compare(outputs)
        wrong = int(differs.item())
        print(f"{kernel.name}: {launches} launches, {streams} streams: {'equal' if not wrong else f'{wrong} DIFFER'}", flush=True)
        failures += wrong
    print("failures:", failures)
    return failures


def milliseconds(function, repeat=20):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    function()
    begin.record()
    for _ in range(repeat):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeat


# Ratios to FlashAttention-2 that code has to reach on an H200: by target, type and head dim, full and causal.
BARS = {("sm_80", "bf16", 128): (1.18, 1.25), ("sm_80", "bf16", 64): (1.18, 1.22), ("sm_80", "bf16", 96): (1.05, 1.05),
        ("sm_80", "bf16", 256): (1.05, 1.05), ("sm_75", "f16", 64): (0.97, 0.97), ("sm_75", "f16", 128): (0.80, 0.80)}


PEERS = "FlashAttention-2 (torch)", "memory-efficient attention (torch)"


def result_row(kernel, causal, rows, rates, commit):
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,clocks.sm,driver_version", "--format=csv,noheader,nounits"],
                         capture_output=True, text=True, check=True)
    gpu, mhz, version = (part.strip() for part in smi.stdout.splitlines()[0].split(","))
    ratio = rates[kernel.name] / rates["peer"]
    target, dtype, precision = kernel.info["target"], kernel.info["args"][0]["dtype"], kernel.info["precision"]
    products = f" as {precision['products']}" if "products" in precision else ""
    return {"suite": f"{target}_code{'_f32' if dtype == 'f32' else ''}",
            "cell": f"D{kernel.head_dim} {'causal' if causal else 'full'} S={rows}{products}",
            "metric": f"forward, {dtype}, B S = 16384, H D = 2048", "unit": "TFLOP/s", "ours": round(rates[kernel.name], 1),
            "peers": {PEERS[dtype == "f32"]: round(rates["peer"], 1)}, "ratio": round(ratio, 3),
            "bar": BARS.get((target, dtype, kernel.head_dim), (None, None))[causal], "gpu": gpu, "sm_mhz": int(mhz), "driver": version,
            "commit": commit, "date": datetime.date.today().isoformat()}


def bench(kernels, commit):
    """Times the kernels and returns rows for test/perf/results of those whose schedule is the default."""
    table = []
    from torch.nn.attention import SDPBackend, sdpa_kernel
    import torch.nn.functional as F

    for dtype, head_dim in sorted({(k.info["args"][0]["dtype"], k.head_dim) for k in kernels}):
        for causal in (False, True):
            chosen = [k for k in kernels if "bench" in k.name and k.head_dim == head_dim and k.dtype == TYPES[dtype]
                      and k.spec == ("causal" if causal else "full")]
            if not chosen:
                continue
            for rows in (1024, 4096, 16384):
                batch, heads = 16384 // rows, 2048 // head_dim
                # FlashAttention-2 has no f32.
                backend = SDPBackend.EFFICIENT_ATTENTION if dtype == "f32" else SDPBackend.FLASH_ATTENTION
                values, _ = inputs(chosen[0], 1, 1, 1, "bshd", 1.0)
                for name in "qkvo":
                    values[name], _ = tensor(batch, heads, rows, head_dim, chosen[0].dtype, "bshd")
                values["lse"] = torch.empty(batch, heads, rows, device="cuda")

                def theirs():
                    with sdpa_kernel(backend):
                        F.scaled_dot_product_attention(values["q"], values["k"], values["v"], is_causal=causal)

                functions = {"peer": theirs} | {k.name: k.launcher(values) for k in chosen}
                times = {name: [] for name in functions}
                for _ in range(3):
                    for name, function in functions.items():
                        times[name].append(milliseconds(function))
                flops = 4 * batch * heads * rows * rows * head_dim * (0.5 if causal else 1)
                rates = {n: flops / statistics.median(t) / 1e9 for n, t in times.items()}
                print(f"{dtype} D{head_dim} {'causal' if causal else 'full'} S={rows}: " +
                      ", ".join(f"{n} {r:.0f}" for n, r in rates.items()) + " TFLOP/s", flush=True)
                table += [result_row(k, causal, rows, rates, commit) for k in chosen if k.name.endswith(("_bench", "_bench_sm75", "_bench_tf32"))]
    return table


def group_of(info):
    return info["args"][0]["dtype"], info["args"][0]["shape"][3], info["args"][2]["shape"][3], info["target"]


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    folder, mode = arguments[:2]
    with open(os.path.join(folder, "kernels.json")) as file:
        manifest = json.load(file)
    infos = [k for k in manifest["kernels"] if len(arguments) < 3 or arguments[2] in k["image"]]
    options = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--") and "=" in a)
    if "shard" in options:  # I/N: kernels whose bits are compared stay together
        index, count = map(int, options["shard"].split("/"))
        groups = sorted({group_of(info) for info in infos})
        infos = [info for info in infos if groups.index(group_of(info)) % count == index]
    kernels = [Kernel(folder, info, "--jit" in sys.argv) for info in infos]
    if mode == "check":
        sys.exit(1 if check([k for k in kernels if "bench" not in k.name]) else 0)
    if mode == "launches":
        # The mask table is for offsets past 2^31 only.
        sys.exit(1 if check_launches([k for k in kernels if "bench" not in k.name and k.spec != "table"]) else 0)
    table = bench(kernels, options.get("commit", ""))
    if "results" in options:
        with open(options["results"], "w") as file:
            json.dump(table, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
