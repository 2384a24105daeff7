#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts a second of the planner beside Calculon, on the example of Calculon's README: Turing-NLG 530B, 5,128 A100,
batches of at most 2,520 sequences.

    against_calculon.py CHECKOUT --bench BUILD/bench/bench_search [--seconds 20] [--pairs 3]

CHECKOUT: a checkout of github.com/calculon-ai/calculon; its Python needs pandas and psutil. Runs the two in turn, one
core each, so that other load meets both. Seconds are CPU seconds. Calculon: its own search function (with -m), its jobs
in a random order until `seconds` are used. Two comparisons:

- "all fit": both get a GPU of 10^7 GiB, so that every layout that keeps the rules is given its memory and its step time.
  Evaluated layouts only, on both sides: the ratio that the goal is about.
- "80 GB": the example as it stands. Both leave out the step time of a layout that does not fit, and nearly none fits:
  layouts that keep the rules, and apart those that fit.
"""
import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time

GPUS, BATCH = 5128, 2520


ROOMY_GPU_GIB = 1e7  # as in search_benchmark.cpp


def calculon_rate(checkout, seconds, all_fit):
    """Executions a CPU second of its own search function, and the share of them that it evaluated to the end."""
    sys.path.insert(0, checkout)
    from calculon.io import read_json_file
    from calculon.llm import Llm, System
    from calculon.llm.optimal_execution import OptimalExecution
    app = Llm.Application(read_json_file(os.path.join(checkout, "models/turing-530B.json")))
    hardware = read_json_file(os.path.join(checkout, "systems/a100_80g.json"))
    if all_fit:
        hardware["mem1"]["GiB"] = ROOMY_GPU_GIB
    system = System(hardware)
    jobs = []
    for tp in Llm.get_all_tensor_parallelisms(GPUS, app.hidden, app.attn_heads):
        for pp in Llm.get_all_pipeline_parallelisms(GPUS, tp, app.num_blocks):
            dp = Llm.get_data_parallelism(GPUS, tp, pp)
            batch = OptimalExecution.get_batch_size(dp, BATCH)
            if batch is None:
                continue
            for interleaving, recompute, sharding, comm in itertools.product(
                    Llm.get_valid_pipeline_interleavings(app.num_blocks, pp), ("full", "attn_only", "none"),
                    (True, False), ("ar", "p2p_rs_ag", "rs_ag")):
                jobs.append((tp, pp, dp, interleaving, batch, recompute, sharding, comm))
    random.Random(1).shuffle(jobs)
    executions, good, start = 0, 0, time.process_time()
    for job in itertools.cycle(jobs):
        if time.process_time() - start > seconds:
            break
        _, count, fitted, _, _, _ = OptimalExecution.search(
            False, 1, False, GPUS, BATCH, "float16", app, system, *job, [True], True, True, True)
        executions, good = executions + count, good + fitted
    return executions / (time.process_time() - start), good / executions


def planner_result(bench, name):
    out = subprocess.run([bench, f"--benchmark_filter=^{name}$", "--benchmark_format=json"], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["benchmarks"][0]


def compare(checkout, bench, seconds):
    """One pair of either comparison; returns the ratio of evaluated layouts where all fit."""
    theirs, share = calculon_rate(checkout, seconds, all_fit=True)
    ours = planner_result(bench, "Turing530bOn5128AllFit")
    ratio = ours["evaluated_per_s"] / (theirs * share)
    print(f"all fit: Calculon {theirs * share:.1f}/s ({share:.0%} of {theirs:.1f}/s), planner "
          f"{ours['evaluated_per_s']:,.0f}/s ({ours['evaluated']:.0f} of {ours['enumerated']:.0f}), ratio {ratio:,.0f}",
          flush=True)
    theirs, share = calculon_rate(checkout, seconds, all_fit=False)
    ours = planner_result(bench, "Turing530bOn5128")
    print(f"80 GB:   Calculon {theirs:.1f}/s ({share:.0%} fit), planner {ours['with_unfit_per_s']:,.0f}/s "
          f"({ours['evaluated']:.0f} of {ours['evaluated'] + ours['do_not_fit']:.0f} fit), ratio "
          f"{ours['with_unfit_per_s'] / theirs:,.0f}; those that fit alone {ours['evaluated_per_s']:,.0f}/s against "
          f"{theirs * share:.1f}/s", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout")
    parser.add_argument("--bench", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    ratios = [compare(os.path.abspath(arguments.checkout), arguments.bench, arguments.seconds)
              for _ in range(arguments.pairs)]
    print(f"all fit: median ratio {statistics.median(ratios):,.0f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
