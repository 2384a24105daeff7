#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ZB-H1 and ZB-V beside 1F1B on two CPU ranks, each pinned to a core, one thread, Gloo on loopback, real products.

    zero_bubble.py --trainer BUILD/bin/fourfold-trainer [--pairs 5] [--micro-batches 4]

A Llama model whose layers are nearly all products, so that forward, input and weight gradient take about as long. Runs
the schedules in turn, so that other load meets all. Prints the median step of each, its ratio to 1F1B beside the one
for equal parts (arXiv:2401.10241), and the traced pass beside the same actions with their own durations played without
waiting for messages: what is left is the cost of the executor.
"""
import argparse
import json
import os
import statistics
import tempfile

import speed

SCHEDULES = {"1f1b": 1, "zb-h1": 1, "zb-v": 2}
# Of 1F1B, two stages: arXiv:2401.10241, with F = B - W = W; core/schedule/schedules.h.
EQUAL_PARTS = {
    "1f1b": lambda m: 1.0,
    "zb-h1": lambda m: (3 * m + 2 - min(m - 1, 1)) / (3 * m + 3),
    "zb-v": lambda m: (6 * m + max(1, 4 - 2 * (m - 1))) / (6 * m + 6),
}


def played(spans):
    """Length of the traced actions when each starts as soon as its stage and its input are there."""
    actions = [s for s in spans if s["cat"] in ("forward", "backward", "weight gradient")]
    chunks = 1 + max(s["args"]["chunk"] for s in actions)
    stages = sorted({s["tid"] for s in actions})
    lists = {stage: sorted((s for s in actions if s["tid"] == stage), key=lambda s: s["ts"]) for stage in stages}
    done, free = {}, dict.fromkeys(stages, 0.0)
    while any(lists.values()):
        for stage in stages:
            while lists[stage]:
                span = lists[stage][0]
                kind, chunk, micro_batch = span["cat"], span["args"]["chunk"], span["args"]["micro_batch"]
                before = {"forward": chunk - 1, "backward": chunk + 1}.get(kind)
                key = (kind, before, micro_batch)
                waits = before is not None and 0 <= before < chunks
                if waits and key not in done:
                    break
                free[stage] = max(free[stage], done[key] if waits else 0.0) + span["dur"]
                done[kind, chunk, micro_batch] = free[stage]
                lists[stage].pop(0)
    begin = min(s["ts"] for s in actions)
    return max(free.values()), max(s["ts"] + s["dur"] for s in actions) - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--micro-batches", type=int, default=4)
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    m = arguments.micro_batches
    speed.RANKS = 2
    speed.SIZE.update(layers=8, hidden=512, heads=8, kv_heads=8, ffn=1536, vocab=64, seq_len=64, micro_batch=4,
                      global_batch=4 * m)
    cores = sorted(os.sched_getaffinity(0))
    times, reports, load = {name: [] for name in SCHEDULES}, {}, os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        tokens = speed.write_tokens(folder)
        for pair in range(arguments.pairs):
            for name, chunks in SCHEDULES.items():
                run = os.path.join(folder, f"{name}-{pair}")
                plan_file = speed.write_pipeline_plan(run, tokens, arguments.steps, name, chunks)
                # Rank r on core r: `sh` knows its rank from the environment.
                pinned = f"exec taskset -c $(echo {' '.join(map(str, cores))} | cut -d' ' -f$((RANK + 1))) "
                speed.launch(["sh", "-c", pinned + f"{arguments.trainer} --plan {plan_file} --run-dir {run}"], run, {})
                with open(os.path.join(run, "rank0.jsonl")) as file:
                    events = [json.loads(line) for line in file]
                steps = [e["step_time_s"] for e in events if e["event"] == "step"][speed.WARM_UP:]
                times[name].append(statistics.median(steps))
                reports[name] = played([s for e in events if e["event"] == "trace"
                                        for s in e["traceEvents"] if s.get("ph") == "X"])
    base = times["1f1b"]
    print(f"two stages, {m} micro-batches, {arguments.pairs} rounds, load average before {load:.1f}\n")
    print("| | median step | of 1F1B, median of rounds | ratios | with equal parts | traced pass / played |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SCHEDULES:
        ratios = [t / b for t, b in zip(times[name], base)]
        ideal, real = reports[name]
        print(f"| {name} | {statistics.median(times[name]) * 1e3:.0f} ms | {statistics.median(ratios):.3f} | "
              + ", ".join(f"{r:.3f}" for r in ratios) + f" | {EQUAL_PARTS[name](m):.3f} | {real / ideal:.3f} |")


if __name__ == "__main__":
    main()
