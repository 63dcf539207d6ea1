"""The JSON of `qmc explain` for a causal mask with two heads on 100 x 100, head dims 64."""
import json
import sys

with open(sys.argv[1]) as file:
    cpu, gpu = json.load(file)
assert gpu["target"] == "sm_80" and cpu["target"] != "sm_80"
for report in (cpu, gpu):
    assert report["spec"] == "causal"
    assert report["call"] == {"batch": 1, "heads": 2, "kv_heads": 1, "sq": 100, "skv": 100, "head_dim": 64, "value_dim": 64}
    assert report["blocks"]["kept_pairs"] == 2 * 5050
    assert report["blocks"]["empty_rows"] == 0
    assert report["blocks"]["density"] == 0.505
    assert report["useful_flops"] == 2 * 2 * 5050 * (64 + 64)
    # q and o have two heads of 100 x 64, k and v one; bf16
    assert report["bytes"] == 2 * 100 * 64 * (2 + 1 + 1 + 2)
    assert report["precision"]["score"] == "f32"
assert gpu["planned"]["ctas_per_sm"] >= 1
assert gpu["roofline"]["seconds"] > 0
