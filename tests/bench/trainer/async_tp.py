#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asynchronous beside plain tensor parallelism: two CPU ranks of one thread, each in a network namespace and pinned to a
core, over a link of 1 Gbit/s (veth with a token bucket; its delay is that of the kernel).

    async_tp.py --trainer BUILD/bin/fourfold-trainer [--pairs 5] [--megabits 1000]

Needs root and `tc`; run it in a network namespace of its own (`unshare -n`). Runs both in turn and prints the median
step of each, and the ratio.
"""
import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import tempfile

import speed

NET = "10.231.79."


def link(megabits):
    """A second namespace behind a veth pair; the process that keeps it."""
    keeper = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
    inside = ["nsenter", "-t", str(keeper.pid), "-n"]
    while os.readlink(f"/proc/{keeper.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        pass
    run = lambda *command: subprocess.run(command, check=True)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "dev", "fourfold0", "type", "veth", "peer", "name", "fourfold1")
    run("ip", "link", "set", "fourfold1", "netns", str(keeper.pid))
    for rank, prefix in enumerate(([], inside)):
        device = f"fourfold{rank}"
        run(*prefix, "ip", "addr", "add", f"{NET}{rank + 1}/24", "dev", device)
        run(*prefix, "ip", "link", "set", device, "up")
        run(*prefix, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{megabits}mbit", "burst", "250000",
            "latency", "50ms")
    return keeper


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--megabits", type=int, default=1000)
    arguments = parser.parse_args()
    speed.RANKS = 2
    speed.SIZE.update(layers=4, hidden=512, heads=8, kv_heads=8, ffn=1536, vocab=64, seq_len=512, micro_batch=1,
                      global_batch=4)
    cores, load, times = sorted(os.sched_getaffinity(0)), os.getloadavg()[0], {False: [], True: []}
    keeper = link(arguments.megabits)
    try:
        with tempfile.TemporaryDirectory() as folder:
            tokens = os.path.join(folder, "tokens.bin")
            with open(tokens, "wb") as file:
                file.write(struct.pack("<100000H", *(random.randrange(64) for _ in range(100000))))
            for pair in range(arguments.pairs):
                for overlapped in times:
                    run = os.path.join(folder, f"{pair}-{overlapped}")
                    os.mkdir(run)
                    plan = speed.plan_of("tp", tokens, arguments.steps, "ring")
                    plan["training"]["async_tp"] = overlapped
                    plan_file = os.path.join(run, "plan.json")
                    with open(plan_file, "w") as file:
                        json.dump(plan, file)
                    # Rank r on core r, rank 1 beyond the link.
                    script = (f"export MASTER_ADDR={NET}1 FOURFOLD_ADDRESS={NET}$((RANK + 1)); "
                              f"core=$(echo {' '.join(map(str, cores))} | cut -d' ' -f$((RANK + 1))); "
                              f"[ $RANK = 0 ] || enter='nsenter -t {keeper.pid} -n'; "
                              f"exec $enter taskset -c $core {arguments.trainer} --plan {plan_file} --run-dir {run}")
                    speed.launch(["sh", "-c", script], run, {"FOURFOLD_BACKEND": "gloo"})
                    with open(os.path.join(run, "rank0.jsonl")) as file:
                        events = [json.loads(line) for line in file]
                    times[overlapped].append(statistics.median(
                        [e["step_time_s"] for e in events if e["event"] == "step"][speed.WARM_UP:]))
    finally:
        keeper.kill()
        keeper.wait()
    ratios = [a / b for a, b in zip(times[True], times[False])]
    print(f"{arguments.megabits} Mbit/s, load average before {load:.1f}: plain {statistics.median(times[False]):.3f} s, "
          f"asynchronous {statistics.median(times[True]):.3f} s a step; ratio, median of pairs "
          f"{statistics.median(ratios):.3f} ({', '.join(f'{r:.3f}' for r in ratios)})")


if __name__ == "__main__":
    main()
