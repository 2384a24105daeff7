#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What training loses to a checkpoint of 2 GB of states until it is durable, hashing included.

    save.py --fourfold BUILD/bin/fourfold [--saves 3] [--ranks 1]

A Llama model of 171 million parameters (fp32: 2.05 GB of weights and moments) trains on CPU ranks of this computer and
saves every few steps. Of each save: the time from the step before it to the first step after it was on the disk, less
as many steps as were made meanwhile, at the median of those during which nothing was saved. Nothing is written but a
temporary folder.
"""
import argparse
import datetime
import json
import os
import random
import statistics
import struct
import subprocess
import tempfile

BETWEEN = 6  # steps from save to save


def plan_of(tokens, ranks, steps):
    return {"fourfold_plan": 1, "name": "save", "stack": "fourfold", "cluster": "this-computer", "gpus": ranks,
            "model": {"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 12, "vocab_size": 8192,
                      "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 2816,
                      "max_position_embeddings": 128, "tie_word_embeddings": False},
            "layout": {"dp": ranks},
            "training": {"seq_len": 128, "micro_batch": 1, "global_batch": 2 * ranks, "precision": "fp32",
                         "sharding": "optimizer" if ranks > 1 else "none"},
            "run": {"steps": steps, "data": [{"path": tokens, "weight": 1}], "seed": 1, "lr": 1e-5,
                    "checkpoint": {"every": BETWEEN, "keep": 1}}}


def run(fourfold, ranks, steps, folder):
    tokens, plan = (os.path.join(folder, name) for name in ("tokens.bin", "save.plan.json"))
    with open(tokens, "wb") as file:
        file.write(struct.pack("<65536H", *(random.randrange(8192) for _ in range(65536))))
    with open(plan, "w") as file:
        json.dump(plan_of(tokens, ranks, steps), file)
    variables = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"))  # not among the user's runs
    command = [fourfold, "run", plan, "--target", "local", "--backend", "gloo", "--json"]
    return [json.loads(line) for line in subprocess.check_output(command, text=True, env=variables).splitlines()]


def seconds(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fourfold", required=True)
    parser.add_argument("--saves", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--folder", help="where the checkpoints go for the time being (default: the temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        events = run(arguments.fourfold, arguments.ranks, BETWEEN * (arguments.saves + 1), folder)
    times = {event["step"]: seconds(event) for event in events if event.get("event") == "step"}
    # The last one has no steps behind it.
    saves = [event for event in events if event.get("event") == "checkpoint" and event["step"] < max(times)]
    after = {save["step"]: min(step for step, time in times.items() if time >= seconds(save)) for save in saves}
    quiet = [times[step] - times[step - 1] for step in times if step > 3 and step - 1 in times
             and not any(first < step <= last for first, last in after.items())]
    step_s = statistics.median(quiet)
    lost = [times[last] - times[first] - (last - first) * step_s for first, last in after.items()]
    for save, seconds_lost in zip(saves, lost):
        print(f"step {save['step']}: {save['bytes'] / 1e9:.2f} GB durable after {save['time_s']:.2f} s, stood still "
              f"{save['stopped_s']:.2f} s, lost {seconds_lost:.2f} s")
    print(f"step {step_s:.2f} s (from {min(quiet):.2f} to {max(quiet):.2f}); lost to a save, median: "
          f"{statistics.median(lost):.2f} s")


main()
