#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start of a 16-rank CPU job (TP 2 x CP 2 x PP 2 x DP 2, a tiny model) to its first step, and the ranks' memory then.

    start.py --trainer BUILD/bin/fourfold-trainer

Prints seconds from the first process to the first `step` event, and the largest resident and proportional set size.
"""
import argparse
import json
import os
import random
import secrets
import socket
import struct
import subprocess
import tempfile
import time

import speed

RANKS = 16


def memory(pid, field):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":")) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    arguments = parser.parse_args()
    speed.SIZE.update(hidden=32, ffn=64, layers=4, vocab=64, heads=4, kv_heads=4, seq_len=32, global_batch=16)
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, "tokens.bin")
        with open(tokens, "wb") as file:
            file.write(struct.pack("<100000H", *(random.randrange(64) for _ in range(100000))))
        plan = speed.plan_of("dp", tokens, 1000000, "ring") | {
            "gpus": RANKS, "layout": {"tp": 2, "cp": 2, "pp": 2, "dp": 2}}
        plan_file = os.path.join(folder, "plan.json")
        with open(plan_file, "w") as file:
            json.dump(plan, file)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        token = secrets.token_hex(32)
        load, begin, processes = os.getloadavg()[0], time.time(), []
        try:
            for rank in range(RANKS):
                environment = os.environ | {
                    "RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": str(port), "FOURFOLD_TOKEN": token, "FOURFOLD_ADDRESS": "127.0.0.1",
                    "OMP_NUM_THREADS": "1",
                    "FOURFOLD_BACKEND": "gloo"}
                processes.append(subprocess.Popen(
                    [arguments.trainer, "--plan", plan_file, "--run-dir", folder], env=environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT))
            events = os.path.join(folder, "rank0.jsonl")
            while not (os.path.exists(events) and '"event":"step"' in open(events).read()):
                if any(process.poll() is not None for process in processes) or time.time() - begin > 300:
                    raise SystemExit("the job did not come to its first step")
                time.sleep(0.05)
            first = time.time() - begin
            resident, shared = (max(memory(p.pid, field) for p in processes) for field in ("Rss", "Pss"))
        finally:
            for process in processes:
                process.kill()
                process.wait()
    print(f"first step after {first:.1f} s; largest rank: {resident:.0f} MB resident, {shared:.0f} MB proportional; "
          f"load average before {load:.1f}")


if __name__ == "__main__":
    main()
