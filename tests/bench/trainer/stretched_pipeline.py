#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ZB-H1 and ZB-V beside 1F1B on four pipeline stages whose actions take a fixed time: each sleeps until it is over.

    stretched_pipeline.py --worker BUILD/tests/parity-worker [--pairs 3] [--micro-batches 8] [--part 0.1]

Forward, input gradient and weight gradient of a stage take --part seconds each, those of a chunk of ZB-V half as much.
What an action computes must be a quarter of that at most, in seconds of a core, so that the step does not depend on how
many cores there are or who else uses them. Runs the schedules in turn, pair by pair. Prints the median step of each,
beside the planner's simulation of the same lists and beside 1F1B.
"""
import argparse
import json
import os
import statistics
import tempfile

import speed

SCHEDULES = {"1f1b": 1, "zb-h1": 1, "zb-v": 2}
STAGES = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--part", type=float, default=0.1)
    arguments = parser.parse_args()
    m = arguments.micro_batches
    speed.RANKS = STAGES
    speed.SIZE.update(layers=8, hidden=128, heads=4, kv_heads=4, ffn=384, vocab=64, seq_len=64, micro_batch=1,
                      global_batch=m)
    steps, simulated, computed = {name: [] for name in SCHEDULES}, {}, {name: [] for name in SCHEDULES}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        tokens = speed.write_tokens(folder)
        for pair in range(arguments.pairs):
            for name, chunks in SCHEDULES.items():
                run = os.path.join(folder, f"{name}-{pair}")
                plan_file = speed.write_pipeline_plan(run, tokens, arguments.steps, name, chunks)
                speed.launch([arguments.worker, "--plan", plan_file, "--run-dir", run, "--stretch",
                              str(arguments.part / chunks)], run, {})
                results = []
                for rank in range(STAGES):
                    with open(os.path.join(run, f"stretched{rank}.json")) as file:
                        results.append(json.load(file))
                steps[name].append(statistics.median(results[0]["step_s"][speed.WARM_UP:]))
                computed[name].append(max(max(r["most_computed"][speed.WARM_UP:]) for r in results))
                simulated[name] = results[0]["simulated_s"]
    print(f"{STAGES} stages, {m} micro-batches, {arguments.part * 1e3:.0f} ms a part, {arguments.pairs} rounds, load "
          f"average before {load:.1f}\n")
    print("| | median step | simulated | step / simulated | of 1F1B, median of rounds | ratios | simulated | most that "
          "an action computed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in SCHEDULES:
        step = statistics.median(steps[name])
        ratios = [a / b for a, b in zip(steps[name], steps["1f1b"])]
        print(f"| {name} | {step * 1e3:.0f} ms | {simulated[name] * 1e3:.0f} ms | {step / simulated[name]:.3f} | "
              f"{statistics.median(ratios):.3f} | {', '.join(f'{r:.3f}' for r in ratios)} | "
              f"{simulated[name] / simulated['1f1b']:.3f} | {max(computed[name]):.2f} of its time |")
    if max(max(shares) for shares in computed.values()) > 0.25:
        raise SystemExit("an action computed for more than a quarter of its time: give a larger --part")


if __name__ == "__main__":
    main()
