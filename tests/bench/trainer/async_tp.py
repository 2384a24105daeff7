#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asynchronous beside plain tensor parallelism: two CPU ranks over a link of 1 Gbit/s (slow_link.py).

    async_tp.py --trainer BUILD/bin/fourfold-trainer [--pairs 5] [--megabits 1000] [--micro-batches 4] [--beside]

Needs root and `tc`; run it in a network namespace of its own (`unshare -n`). Runs both in turn and prints the median
step of each, and the ratio.
"""
import slow_link

SIZE = {"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 8, "ffn": 1536, "vocab": 64, "seq_len": 512,
        "micro_batch": 1, "global_batch": 4}


def change(plan, overlapped, arguments):
    plan["training"]["async_tp"] = overlapped
    if overlapped and arguments.beside:
        plan["training"]["overlap"] = {"tensor_parallel": True}


if __name__ == "__main__":
    slow_link.compare(__doc__, SIZE, "tp", ("plain", "asynchronous"), change,
                      [("--beside", "asynchronous TP's waits behind another micro-batch")])
