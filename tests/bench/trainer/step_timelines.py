#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains examples on CPU ranks through `fourfold run`, and reports what came out beside what was predicted.

    step_timelines.py --fourfold BUILD/bin/fourfold [--steps 200] [--output resources/reports] [NAME ...]

NAME: sixteen-ranks (TP 2 x CP 2 x PP 2 x DP 2), zb-v (a pipeline without bubble on two stages), experts (expert
parallel); left out: all. Writes NAME.md and the timeline of a step as the planner has it and as the run measured it
(NAME-predicted.svg, NAME-measured.svg).
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import tempfile
import time

RUNS = {  # by name: what it is, the plan, what is changed in it
    "sixteen-ranks": ("16 ranks, TP 2 x CP 2 x PP 2 x DP 2", "this-computer",
                      ["gpus=16", "layout.tp=2", "layout.cp=2", "layout.pp=2", "layout.dp=2"]),
    "zb-v": ("two pipeline ranks with two chunks each, ZB-V", "this-computer",
             ["gpus=2", "layout.tp=1", "layout.dp=1", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=zb-v",
              "training.global_batch=64"]),
    "experts": ("four ranks, eight experts, EP 2 x PP 2", "this-computer-experts",
                ["gpus=4", "layout.tp=1", "layout.pp=2", "layout.dp=2", "layout.ep=2", "training.global_batch=64"])}
ALL_RUNS = ["run.eval.every=0"]


def parts(trace):
    """Milliseconds of each kind of span by pipeline rank."""
    sums = collections.defaultdict(lambda: collections.defaultdict(float))
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            sums[event["tid"]][event.get("cat", event["name"].split()[0])] += event["dur"] / 1e3
    return sums


def report(program, name, step_count, output):
    what, plan, own_changes = RUNS[name]
    own_changes = own_changes + ALL_RUNS
    changes = [part for change in own_changes for part in ("--set", change)]
    with tempfile.TemporaryDirectory() as folder:
        def fourfold(*words):
            environment = os.environ | {"XDG_DATA_HOME": folder}
            done = subprocess.run([program, *words], env=environment, stdout=subprocess.PIPE, check=True)
            return done.stdout.decode()

        prediction = json.loads(fourfold("predict", plan, *changes, "--json"))
        load, begin = os.getloadavg()[0], time.time()
        text = fourfold("run", plan, *changes, "--target", "local", "--steps", str(step_count), "--json")
        seconds = time.time() - begin
        file = os.path.join(folder, "events.jsonl")
        with open(file, "w") as out:
            out.write(text)
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        events = [line for line in lines if "event" in line]  # the last line may sum up the run
        traces = {"predicted": os.path.join(folder, "predicted.json"), "measured": os.path.join(folder, "measured.json")}
        for kind, more in (("predicted", []), ("measured", ["--measured", file])):
            picture = os.path.join(output, f"{name}-{kind}.svg")
            for target in (picture, traces[kind]):
                fourfold("timeline", plan, *changes, *more, "--output", target)
        spans = {}
        for kind, trace_name in traces.items():
            with open(trace_name) as trace:
                spans[kind] = parts(json.load(trace))

    steps = [event for event in events if event["event"] == "step"]
    times = [event["step_time_s"] for event in steps[5:]]
    kinds = sorted({kind for both in spans.values() for ranks in both.values() for kind in ranks})
    lines = [
        f"# {step_count} steps on {what}",
        f"Written by `tests/bench/trainer/step_timelines.py --fourfold build/release/bin/fourfold --steps {step_count} {name}`: "
        f"the plan `{plan}` with `" + " ".join(own_changes) + "`, launched by `fourfold run --target local` on "
        f"{os.cpu_count()} cores; load average before the run {load:.1f}.", "",
        "| | predicted | measured |", "| --- | ---: | ---: |",
        f"| seconds per step (median after 5 steps) | {prediction['step_time_s']:.3f} | {statistics.median(times):.3f} |",
        f"| tokens/s per GPU | {prediction['tps_per_gpu']:.0f} | {statistics.median(e['tps_per_gpu'] for e in steps[5:]):.0f} |",
        f"| memory of the largest rank, GiB | {prediction['memory_gib']:.2f} | {steps[-1]['memory_peak_gib']:.2f} |", "",
        f"Steps {len(steps)}, loss {steps[0]['loss']:.4f} to {steps[-1]['loss']:.4f}, status "
        f"`{next((e['status'] for e in events if e['event'] == 'end'), None)}`, {seconds:.0f} s from the command to its end.", "",
        "## A step's pipeline", "Milliseconds of each kind of span, on pipeline ranks 0 and 1.", "",
        "| span | predicted, rank 0 | measured, rank 0 | predicted, rank 1 | measured, rank 1 |",
        "| --- | ---: | ---: | ---: | ---: |"]
    for kind in kinds:
        row = [spans[which].get(rank, {}).get(kind, 0) for rank in (0, 1) for which in ("predicted", "measured")]
        lines.append(f"| {kind} | " + " | ".join(f"{value:.0f}" for value in row) + " |")
    lines += ["", "Predicted:", "", f"![predicted]({name}-predicted.svg)", "", "Measured (the traced step, the tenth):", "",
              f"![measured]({name}-measured.svg)"]
    with open(os.path.join(output, f"{name}.md"), "w") as out:
        out.write("\n".join(lines) + "\n")
    print("\n".join(lines[3:8]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fourfold", required=True)
    parser.add_argument("--steps", type=int, default=200)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    parser.add_argument("--output", default=os.path.join(root, "resources/reports"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    arguments = parser.parse_args()
    for name in arguments.names or RUNS:
        if name not in RUNS:
            parser.error(f"there is no run {name!r} (known: {', '.join(RUNS)})")
        report(arguments.fourfold, name, arguments.steps, arguments.output)


if __name__ == "__main__":
    main()
