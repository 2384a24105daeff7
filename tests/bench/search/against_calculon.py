#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts a second of the planner beside Calculon, on the example of Calculon's README: Turing-NLG 530B, 5,128 A100,
batches of at most 2,520 sequences.

    against_calculon.py CHECKOUT --bench BUILD/bench/bench_search [--seconds 20] [--pairs 3]

CHECKOUT: a checkout of github.com/calculon-ai/calculon; its Python needs pandas and psutil. Runs the two in turn, one
core each, so that other load meets both. Calculon: executions of its own search function (with -m), fitting or not, its jobs in a
random order until `seconds` are used. The planner: layouts that keep the rules, fitting or not, and apart those that fit
and have a step time. Enumerated layouts that break a rule do not count. Seconds are CPU seconds.
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


def calculon_rate(checkout, seconds):
    """Executions a CPU second of its own search function, and how many of them fitted."""
    sys.path.insert(0, checkout)
    from calculon.io import read_json_file
    from calculon.llm import Llm, System
    from calculon.llm.optimal_execution import OptimalExecution
    app = Llm.Application(read_json_file(os.path.join(checkout, "models/turing-530B.json")))
    system = System(read_json_file(os.path.join(checkout, "systems/a100_80g.json")))
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


def planner_rate(bench):
    out = subprocess.run([bench, "--benchmark_filter=Turing530bOn5128", "--benchmark_format=json"], check=True,
                         capture_output=True, text=True).stdout
    result = json.loads(out)["benchmarks"][0]
    return result["with_unfit_per_s"], result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout")
    parser.add_argument("--bench", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    ratios = []
    for _ in range(arguments.pairs):
        theirs, fitted = calculon_rate(os.path.abspath(arguments.checkout), arguments.seconds)
        ours, counts = planner_rate(arguments.bench)
        ratios.append(ours / theirs)
        print(f"Calculon {theirs:.1f}/s ({fitted:.0%} fit), planner {ours:,.0f}/s "
              f"({counts['evaluated']:.0f} of {counts['enumerated']:.0f} fit), ratio {ratios[-1]:,.0f}; those that "
              f"fit alone {counts['evaluated_per_s']:,.0f}/s",
              flush=True)
    print(f"median ratio {statistics.median(ratios):,.0f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
