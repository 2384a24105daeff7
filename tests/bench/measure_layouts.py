#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted beside measured step times of layouts on this computer, drawn by seed before anything is predicted or run.

    measure_layouts.py --fourfold BUILD/bin/fourfold --seed 20 --count 20 [--most-ranks 8] [--json OUT.jsonl]

Run it after `fourfold probe --target local --measure` for the measured figures, and before for the shipped ones. Each
layout is predicted, then trained for a few steps; the median of those after warm-up counts. The model is a small Llama,
of which width, depth, sequence, batch, sharding, schedule and recomputation are drawn with the mesh. Draws that the
planner refuses are drawn again. Prints a table and the mean and largest error of the throughput (predicted / measured -
1). `--from OUT.jsonl` predicts the layouts of an earlier run anew, beside what was measured then.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

WARM_UP = 3
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def factors(ranks, generator):
    """tp, cp, pp, dp whose product is `ranks`: each prime factor goes to one of them."""
    degrees = {"tp": 1, "cp": 1, "pp": 1, "dp": 1}
    prime = 2
    while ranks > 1:
        while ranks % prime == 0:
            degrees[generator.choice(list(degrees))] *= prime
            ranks //= prime
        prime += 1
    return degrees


def draw(generator, most_ranks):
    ranks = generator.randint(1, most_ranks)
    layout = factors(ranks, generator)
    hidden = generator.choice([128, 256])
    seq_len = generator.choice([64, 128, 256])
    micro_batch = generator.choice([1, 2, 4, 8, 16])
    micro_batches = generator.choice([1, 2, 4, 8])
    training = {"seq_len": seq_len, "micro_batch": micro_batch, "global_batch": micro_batch * micro_batches * layout["dp"],
                "precision": "fp32", "recompute": generator.choice(["none", "none", "full"]),
                "sharding": generator.choice(["none", "optimizer", "gradients", "parameters"]),
                "schedule": generator.choice(["1f1b", "gpipe", "zb-h1"]) if layout["pp"] > 1 else "1f1b"}
    return {
        "fourfold_plan": 1, "name": "drawn",
        "model": {"model_type": "llama", "vocab_size": 256, "hidden_size": hidden,
                  "num_hidden_layers": generator.choice([4, 8]), "num_attention_heads": hidden // 32,
                  "num_key_value_heads": hidden // 64, "intermediate_size": 3 * hidden,
                  "max_position_embeddings": seq_len, "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
                  "tie_word_embeddings": False},
        "cluster": "this-computer", "gpus": ranks, "stack": "fourfold", "layout": layout, "training": training,
        "run": {"steps": 1, "data": [{"path": "corpus/devils-dictionary.txt"}], "seed": 1, "lr": 0.001,
                "clip_norm": 1.0}}


def predict(fourfold, file):
    done = subprocess.run([fourfold, "predict", file, "--json"], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout) if done.returncode == 0 else {}
    return answer if answer.get("feasible") else None


def write(plan, folder):
    file = os.path.join(folder, "drawn.plan.json")
    plan = json.loads(json.dumps(plan))
    for data in plan["run"]["data"]:
        data["path"] = os.path.realpath(os.path.join(ROOT, "resources", data["path"]))
    with open(file, "w", encoding="utf-8") as out:
        json.dump(plan, out)
    return file


def words(plan):
    layout, training, model = plan["layout"], plan["training"], plan["model"]
    text = " ".join(f"{key}{value}" for key, value in layout.items() if value > 1) or "one rank"
    return (f"{text}, h{model['hidden_size']} l{model['num_hidden_layers']} s{training['seq_len']} "
            f"b{training['micro_batch']}x{training['global_batch'] // training['micro_batch'] // layout['dp']} "
            f"{training['sharding']}, {training['schedule']}, {training['recompute']}")


def measure(fourfold, plan, folder, seconds):
    """Median of the step times after warm-up; as many steps as take about so many seconds, at least three."""
    steps = WARM_UP + max(3, min(12, int(seconds / plan["expected_s"])))
    done = subprocess.run([fourfold, "run", write(plan, folder), "--target", "local", "--no-rehearse", "--steps",
                           str(steps), "--json"], capture_output=True, text=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    times = [event["step_time_s"] for event in events if event.get("event") == "step"]
    if done.returncode != 0 or len(times) != steps:
        sys.stderr.write(done.stderr[-2000:])
        return None
    return statistics.median(times[WARM_UP:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fourfold", required=True)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--most-ranks", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json")
    parser.add_argument("--from", dest="earlier")
    arguments = parser.parse_args()
    errors, records = [], []
    print("| layout | predicted s | interval | measured s | throughput error |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.earlier:
            with open(arguments.earlier, encoding="utf-8") as file:
                drawn = [json.loads(line) for line in file]
        else:
            generator, drawn = random.Random(arguments.seed), []
            while len(drawn) < arguments.count:
                plan = draw(generator, arguments.most_ranks)
                if predict(arguments.fourfold, write(plan, folder)):
                    drawn.append({"plan": plan})
        for record in drawn:
            plan = record["plan"]
            answer = predict(arguments.fourfold, write(plan, folder))
            predicted, interval = answer["step_time_s"], answer["interval"]["step_time_s"]
            measured = record.get("measured_s") or measure(
                arguments.fourfold, plan | {"expected_s": predicted}, folder, arguments.seconds)
            if measured is None:
                print(f"| {words(plan)} | {predicted:.4f} | | failed | |", flush=True)
                continue
            errors.append(measured / predicted - 1)
            records.append({"plan": plan, "predicted_s": predicted, "interval_s": interval, "measured_s": measured})
            inside = interval[0] <= measured <= interval[1]
            print(f"| {words(plan)} | {predicted:.4f} | {interval[0]:.3f} .. {interval[1]:.3f}{'' if inside else ' (outside)'}"
                  f" | {measured:.4f} | {100 * errors[-1]:+.1f} % |", flush=True)
            if arguments.json:
                with open(arguments.json, "w", encoding="utf-8") as out:
                    out.writelines(json.dumps(one) + "\n" for one in records)
    sizes = [abs(error) for error in errors]
    print(f"\n{len(sizes)} layouts: mean error {100 * statistics.mean(sizes):.1f} %, largest {100 * max(sizes):.1f} %, "
          f"mean signed {100 * statistics.mean(errors):+.1f} %")


if __name__ == "__main__":
    main()
