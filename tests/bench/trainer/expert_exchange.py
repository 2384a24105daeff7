#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exchange of tokens between experts behind another micro-batch, beside waiting for it: two CPU ranks, ep 2, over a
link of 1 Gbit/s (slow_link.py).

    expert_exchange.py --trainer BUILD/bin/fourfold-trainer [--pairs 5] [--megabits 1000]

Needs root and `tc`; run it in a network namespace of its own (`unshare -n`). Runs both in turn and prints the median
step of each, and the ratio.
"""
import slow_link

SIZE = {"layers": 2, "hidden": 256, "heads": 8, "kv_heads": 8, "ffn": 256, "vocab": 64, "seq_len": 512,
        "micro_batch": 1, "global_batch": 12}


def change(plan, overlapped, _):
    plan["model"] |= {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    plan["layout"]["ep"] = 2
    plan["training"]["overlap"] = {"expert_exchange": overlapped}


if __name__ == "__main__":
    slow_link.compare(__doc__, SIZE, "dp", ("waiting", "beside another micro-batch"), change)
