"""The specs of the C++ front end's tests and examples, written in Python: what test_same_as_cpp.py compares."""

import qimeng_attention as qa
from qimeng_attention import BOTTOM_RIGHT, TOP_LEFT, buffer, extent, masks, scalar, scores, to_float, to_int, where


def _small(**options):
    return qa.Spec(heads=2, head_dim=64, dtype="f16", return_lse=True, **options)


def examples():
    """examples/*.cpp, by file."""

    def gemma2(s, b, h, i, j):
        return 50.0 * qa.tanh(s / 50.0)

    def dilated(b, h, i, j):
        distance = abs(i - j)
        return (distance <= 8) & (distance % 2 == 0)

    def bucket(distance):
        n, far = abs(distance), 8
        for start in (12, 16, 23, 32, 46, 64, 91):
            far = far + to_int(n >= start)
        return where(distance > 0, 16, 0) + where(n < 8, n, far)

    slopes = buffer("f32", ["heads"], "slopes")
    lengths = buffer("i32", ["batch"], "lengths")
    ids = buffer("i32", ["batch", "query"], "ids", sorted=True)
    logits = buffer("bf16", ["heads"], "sinks")
    prompt = buffer("i32", ["batch"], "prompt")
    table = buffer("f32", [32, "heads"], "table")
    sinks, window = scalar("i32", "sinks"), scalar("i32", "window")
    local = masks.causal(BOTTOM_RIGHT) & masks.sliding_window(4095)
    sink = masks.causal(BOTTOM_RIGHT) & (masks.prefix(sinks) | masks.sliding_window(window))
    return {
        "alibi": qa.Spec(
            name="alibi", heads=8, head_dim=64, dtype="f16", mask=masks.causal(TOP_LEFT),
            score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i),
        ),
        "block_diffusion": qa.Spec(
            name="block_diffusion", heads=12, head_dim=64, mask=masks.block_diffusion(extent("query") // 2, 32)
        ),
        "causal": qa.Spec(
            name="causal_gqa", heads=32, kv_heads=8, head_dim=128, mask=masks.causal(BOTTOM_RIGHT), return_lse=True
        ),
        "cross_attention_padding": qa.Spec(
            name="cross_attention", heads=12, head_dim=64, dtype="f16", mask=masks.padding(lengths), return_lse=True
        ),
        "dilated": qa.Spec(name="dilated", heads=8, head_dim=64, dtype="f16", mask=dilated),
        "document": qa.Spec(
            name="packed_documents", heads=16, kv_heads=4, head_dim=64, return_lse=True,
            mask=masks.document(ids) & masks.causal(TOP_LEFT),
        ),
        "gemma2_softcap": qa.Spec(
            name="gemma2_local", heads=32, kv_heads=16, head_dim=128, scale=1 / 12, score_mod=gemma2, mask=local
        ),
        "gpt_oss_sinks": qa.Spec(
            name="gpt_oss_layer", heads=64, kv_heads=8, head_dim=64, sink=logits, mask=masks.sliding_window(127), return_lse=True,
            return_row_max=True,
        ),
        "natten": qa.Spec(name="natten", heads=8, head_dim=64, dtype="f16", mask=masks.natten_2d((90, 160), (7, 13))),
        "packed_sequences": qa.Spec(
            name="packed_sequences", heads=16, kv_heads=4, head_dim=64, lengths="packed", return_lse=True,
            mask=masks.prefix(prompt) | masks.causal(BOTTOM_RIGHT),
        ),
        "prefix_lm": qa.Spec(name="prefix_lm", heads=16, head_dim=64, mask=masks.prefix(prompt) | masks.causal(TOP_LEFT)),
        "sink_window": qa.Spec(name="sink_window", heads=32, kv_heads=8, head_dim=128, mask=sink),
        "softcap_alibi": qa.Spec(
            name="softcap_alibi", heads=16, kv_heads=4, head_dim=64, score_mod=scores.softcap(30).then(scores.alibi(slopes)),
            mask=masks.sink_window(4, 1023),
        ),
        "t5_bias": qa.Spec(
            name="t5_encoder", heads=8, head_dim=64, scale=1.0,
            score_mod=lambda s, b, h, i, j: s + table[bucket(j - i), h],
        ),
    }  # fmt: skip


def catalogue_masks():
    def declared(dims, name, dtype="i32"):
        return buffer(dtype, dims, name)

    ids, positions = declared(["query"], "ids"), ["batch", "query"]
    return [
        _small(name=name, mask=mask)
        for name, mask in {
            "dilated_window": masks.dilated_window(16, 3),
            "global_window": masks.global_window(8, declared(["key"], "flags", "i1")),
            "sink_window": masks.sink_window(4, 20),
            "batch_window": masks.batch_window(declared(["batch"], "left"), declared(["batch"], "right")),
            "block_causal": masks.block_causal(20),
            "chunked_causal": masks.chunked_causal(30),
            "block_diagonal": masks.block_diagonal(24),
            "batchify_window": masks.batchify(32, masks.sliding_window(7, 3, TOP_LEFT)),
            "mini_causal": masks.mini_causal(16),
            "block_diffusion": masks.block_diffusion(48, 8),
            "document_by_offsets": masks.document_causal_by_offsets(ids, declared([8], "offsets")),
            "document_relative": masks.document_relative(
                declared(positions, "ids"), declared([8], "offsets"), masks.sliding_window(5, 0, TOP_LEFT)
            ),
            "shared_prefix": masks.shared_prefix(ids, declared([8], "prefixes")),
            "var_scales": masks.var_scales(declared(["query"], "scales")),
            "image_bidirectional": masks.image_bidirectional(declared(positions, "images")),
            "flamingo_images": masks.flamingo(declared([8], "begin", "i8"), declared([8], "end"), 12),
            "token_tree": masks.tree(40, declared(["query", 56], "ancestors", "i1")),
            "row_threshold": masks.row_threshold(declared(positions, "counts")),
            "packed_bits": masks.packed_bits(declared(["query", 3], "words")),
            "top_k_blocks": masks.top_k_blocks(declared(["batch", "heads", 6, 3], "tiles"), 16, 3),
            "natten": masks.natten_2d((8, 12), (3, 5)),
            "tiled_natten": masks.tiled_natten_2d((8, 12), (3, 5), (2, 4)),
            "morton_natten": masks.morton_natten_2d(16, (5, 3)),
            "sta_image": masks.sta_2d((8, 12), (4, 4), (1, 2)),
            "sta_video": masks.sta_3d((4, 4, 5), (2, 2, 5), (1, 2, 1), text=True),
            "svg_spatial": masks.svg_spatial(6, 70, 2, first_frame=True),
            "svg_temporal": masks.svg_temporal(6, 18, 5, 2),
        }.items()
    ]


def catalogue_scores():
    def declared(dims, name, dtype="f32"):
        return buffer(dtype, dims, name)

    slopes, causal = declared(["heads"], "slopes"), masks.causal(TOP_LEFT)
    pairs, edges = ["batch", "query", "key"], declared(["batch", "query", "key", 2], "types", "i32")
    spatial, distance = declared(["heads", 8], "bias"), declared(pairs, "distance", "i32")
    step_bias, lengths = declared([2, "heads", 8], "bias"), declared(pairs, "lengths", "i32")
    # Where the order of declaration is not that of first use.
    order = {"graphormer": [spatial, distance], "graphormer_edges": [step_bias, edges, lengths]}
    rows = [
        ("alibi_paper", scores.alibi(), causal),
        ("alibi_slopes", scores.alibi(slopes), causal),
        ("alibi_both_ways", scores.alibi_bidirectional(slopes), None),
        ("softcap_30", scores.softcap(30), None),
        ("softcap_30_approximate", scores.softcap(30, approximate=True), None),
        ("temperature_heads", scores.temperature(declared(["heads"], "weights")), None),
        ("relative_position", scores.relative_position(0.1), None),
        ("relative_distance", scores.relative_distance(-0.1), None),
        ("relative_table", scores.relative_table(declared(["heads", 17], "table", "f16"), 8), None),
        ("t5_both_ways", scores.t5_bias(declared([32, "heads"], "table")), None),
        ("t5_causal", scores.t5_bias(declared([16, "heads"], "table", "bf16"), 16, 64, causal=True), causal),
        ("head_bias", scores.head_bias(slopes), None),
        ("batch_bias", scores.batch_bias(declared(["batch"], "bias")), None),
        ("dense_bias", scores.dense_bias(declared(["batch", "heads", "query", "key"], "bias", "f16")), None),
        ("dense_bias_shared", scores.dense_bias(declared(["heads", "query", "key"], "bias")), None),
        ("dual_buffer", scores.dual_buffer(slopes, declared(["query"], "rows")), None),
        ("sandwich_8", scores.sandwich(8), None),
        ("graphormer", scores.graphormer_spatial(spatial, distance), None),
        ("graphormer_edges", scores.graphormer_edge(step_bias, edges, lengths, 2), None),
        ("relu_attention", scores.log_activation(0.5), None),
        ("squared_score", scores.squared(), None),
        ("window_as_score", scores.mask_as_score(masks.sliding_window(12, 4)), None),
        ("causal_score", scores.causal_as_score(TOP_LEFT), None),
        ("softcap_then_alibi", scores.softcap(30).then(scores.alibi(slopes)), causal),
    ]
    specs = [_small(name=name, score_mod=score, mask=mask, arguments=order.get(name, ())) for name, score, mask in rows]
    rotary_q = declared(["batch", "heads", "query", 4], "rotary_q", "bf16")
    rotary_k = declared(["batch", "kv_heads", "key", 4], "rotary_k", "bf16")
    rotary = scores.added_dot(rotary_q, rotary_k, 4, 0.125)
    specs.append(qa.Spec(name="rotary_part", heads=4, kv_heads=2, head_dim=64, return_lse=True, score_mod=rotary, mask=causal))
    row, column = declared(["query"], "rows"), declared(["key"], "columns", "f16")

    def checkerboard(s, b, h, i, j):
        cell = (i ^ j) & 7
        return where(cell > h, s * 0.5, s + row[i] * column[j]) - 0.125 * to_float(cell)

    return [*specs, _small(name="checkerboard", score_mod=checkerboard)]


def catalogue_launch():
    n, weight = scalar("i32", "n"), scalar("f32", "weight")
    rows = [
        ("sink_window", masks.sink_window(n, 2 * n), scores.temperature(weight)),
        ("chunked_causal", masks.chunked_causal(n), scores.softcap(weight)),
        ("block_diffusion", masks.block_diffusion(3 * n, n), scores.relative_position(weight)),
        ("natten", masks.natten_2d((6, n), (3, 5)), scores.relative_distance(-weight)),
        (
            "dilated_batches",
            masks.batchify(2 * n, masks.dilated_window(n, 3, TOP_LEFT)),
            scores.softcap(30).then(scores.temperature(weight)),
        ),
    ]
    return [_small(name=name, score_mod=score, mask=mask, arguments=[n, weight]) for name, mask, score in rows]


def everything():
    """test/dialect/dsl/specs/everything.cpp: every operator, function, element type and library mask in one spec."""
    slopes, per_key = buffer("f32", ["heads"], "slopes"), buffer("f16", ["key"], "per_key")
    bias, octets = buffer("bf16", ["query", "key"], "bias"), buffer("i8", ["batch", "query"], "bytes")
    shorts, longs = buffer("i16", [17], "shorts"), buffer("i64", [None], "longs")
    flags, lengths = buffer("i1", ["kv_heads", None, 3], "flags"), buffer("i32", ["batch"], "lengths")
    valid = buffer("i1", ["batch", "key"], "valid")
    n, x = scalar("i32", "n"), scalar("f32", "x")

    def score(s, b, h, i, j):
        t = s * slopes[h] + per_key[j] * 0.1 + bias[i, j]
        t += qa.tanh(t / 30.0) + qa.sigmoid(s) + qa.exp(-abs(t)) + qa.exp2(qa.minimum(t, 1.0)) + qa.log(abs(t) + 1)
        t -= qa.sqrt(abs(s)) * qa.rsqrt(abs(s) + 1) + qa.erf(s) * qa.sin(t) * qa.cos(x)
        k = (octets[b, i] + shorts[longs[j % 7] // 3]) % 11 - (i ^ j) // 5 + (i << 2)
        k += qa.clamp(abs(i - j), 1, 9) * qa.maximum(n, 2) - qa.minimum(j, n) + (i >> n) + i // n + j % n
        k -= (j >> 1) - (~i & 7) - (i | 3) - extent("batch") * extent("query")
        t = t + to_float(k) * 0.01 + to_float(i > j) + to_int(i <= 3) - qa.clamp(t, -1, 1)
        same = (flags[h // 2][j][k] == (i != j)) != ((t < 100) & (t != x))
        return where(same, t, qa.maximum(t, -3) * 0.5)

    striped = masks.custom(lambda b, h, i, j: ((i + h) % 3 != j % 2) & (flags[0, j, 1] ^ (j > 4)))
    window = masks.causal(BOTTOM_RIGHT) & masks.sliding_window(n, 3)
    mask = (
        (window | (~masks.prefix(2) & striped.shift(n, 1)))
        & masks.padding(lengths)
        & (masks.padding(valid) | masks.prefix(lengths) | masks.document(octets, shorts))
    )
    return qa.Spec(
        name="everything", heads=4, kv_heads=2, head_dim=64, value_head_dim=64, dtype="bf16", scale=0.1, return_lse=True,
        return_row_max=True, score_mod=score, mask=mask, sink=lambda b, h: slopes[h] - to_float(b) * x,
        arguments=[slopes, per_key, bias, octets, shorts, longs, flags, lengths, valid, n, x],
    )  # fmt: skip


def lengths_and_sinks():
    """lengths_and_sinks.cpp beside this file."""
    slopes, logits = buffer("f32", ["heads"], "slopes"), buffer("bf16", ["heads"], "logits")
    ids = buffer("i32", ["batch", "query"], "ids", sorted=True)
    top, bottom = masks.causal(TOP_LEFT), masks.causal(BOTTOM_RIGHT)
    return [
        qa.Spec(
            name="packed_sequences", heads=8, kv_heads=2, head_dim=64, dtype="f16", lengths="packed", return_lse=True, mask=bottom,
            score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i) * to_float(b),
        ),
        qa.Spec(
            name="padded_sequences", heads=4, head_dim=64, scale=0.5, lengths="padded", mask=bottom & masks.sliding_window(100)
        ),
        qa.Spec(name="sinks", heads=4, head_dim=64, return_lse=True, return_row_max=True, sink=logits, mask=top),
        qa.Spec(
            name="computed_sinks", heads=4, head_dim=64, return_row_max=True, sink=lambda b, h: to_float(h + b) * 0.5 - 1
        ),
        qa.Spec(name="sorted_documents", heads=4, head_dim=64, mask=masks.document(ids) & top),
    ]  # fmt: skip
