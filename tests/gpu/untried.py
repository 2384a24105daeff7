#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of one GPU that nobody has run yet: what Fourfold says of each, then what the trainer measures.

    untried.py --fourfold BUILD/bin/fourfold [--cluster dgx-h100] [--csv FILE] [--only TEXT] [--backend gloo --tiny]

Everything is predicted and rehearsed before the first step of any of them runs. Prints a table of step times and
reserved memory, and with --csv writes the rows as measured tables have them (resources/guide, 14), for `fourfold
calibrate`. `--backend gloo --tiny` tries the script where there is no GPU. Exits with 1 where a run fails, not where a
prediction is off. Nothing else is written but a temporary folder.
"""
import argparse
import csv
import datetime
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile

STEPS, WARM_UP = 8, 3
DENSE = {"model_type": "llama", "vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 16,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
         "tie_word_embeddings": False}
WIDE = DENSE | {"hidden_size": 4096, "num_hidden_layers": 6, "intermediate_size": 14336}
SMALL = DENSE | {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "num_key_value_heads": 12,
                 "intermediate_size": 2048}
EXPERTS = DENSE | {"model_type": "mixtral", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16,
                   "num_key_value_heads": 4, "intermediate_size": 3584, "num_local_experts": 8,
                   "num_experts_per_tok": 2}
BASE = {"seq_len": 4096, "micro_batch": 2, "global_batch": 8, "precision": "bf16", "attention": "cudnn"}
FP8 = {"precision": "fp8"}
GRAPHS = {"environment": {"FOURFOLD_CUDA_GRAPHS": "1"}}
# Name, model, what differs of `training`, what differs of `run`.
PLANS = [
    ("bf16", DENSE, {}, {}),
    ("bf16-plain", DENSE, {"compile": False}, {}),
    ("bf16-flash2", DENSE, {"attention": "flash2"}, {}),
    ("bf16-selective", DENSE, {"recompute": "selective"}, {}),
    ("bf16-muon", DENSE, {"optimizer": "muon"}, {}),
    ("bf16-update-in-backward", DENSE, {"optimizer_in_backward": True, "global_batch": 2},
     {"clip_norm": 0, "watch": {"not_finite": "stop"}}),
    ("bf16-optimizer-away", DENSE, {"offload": "optimizer"}, {}),
    ("bf16-activations-away", DENSE, {"offload": "activations", "recompute": "full"}, {}),
    ("bf16-states", DENSE, {"optimizer_state_dtype": "bf16"}, {}),
    ("fp16", DENSE, {"precision": "fp16"}, {}),
    ("wide-bf16", WIDE, {}, {}),
    ("wide-fp8-tensorwise", WIDE, FP8 | {"fp8_recipe": "tensorwise"}, {}),
    ("wide-fp8-rowwise", WIDE, FP8 | {"fp8_recipe": "rowwise"}, {}),
    ("wide-fp8-blockwise", WIDE, FP8 | {"fp8_recipe": "blockwise"}, {}),
    ("small-bf16", SMALL, {"seq_len": 1024, "micro_batch": 1}, {}),
    ("small-bf16-graphs", SMALL, {"seq_len": 1024, "micro_batch": 1}, GRAPHS),
    ("experts-bf16", EXPERTS, {}, {}),
    ("experts-fp8-tensorwise", EXPERTS, FP8 | {"fp8_recipe": "tensorwise"}, {}),
]
TINY = {"vocab_size": 512, "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 352}
TINY_PLANS = [("tiny", DENSE | TINY, {"seq_len": 64, "precision": "fp32", "attention": "flash2"}, {})]


def plan_of(entry, cluster, tokens):
    name, model, training, run = entry
    training = BASE | training
    return {"fourfold_plan": 1, "name": name, "model": model | {"max_position_embeddings": training["seq_len"]},
            "cluster": cluster, "gpus": 1, "stack": "fourfold", "training": training,
            "run": {"steps": STEPS, "data": [{"path": tokens, "weight": 1}], "seed": 1, "lr": 1e-4} | run}


def row_of(plan, cluster, gpu, step_s, memory_gib):
    """A row of a measured table (resources/guide, 15)."""
    model, training = plan["model"], plan["training"]
    assumed = [f"attention={training['attention']}"]
    if "num_local_experts" in model:
        assumed += [f"experts={model['num_local_experts']}", f"experts_per_token={model['num_experts_per_tok']}"]
    assumed += [
        f"{key}={str(training[key]).lower()}" for key in ("fp8_recipe", "compile", "optimizer", "offload",
                                                           "optimizer_in_backward", "optimizer_state_dtype")
        if key in training] + (["cuda_graphs=true"] if plan["run"].get("environment") else [])
    return {"source": f"own-{datetime.date.today()}", "table": gpu, "row": plan["name"], "model": model["model_type"],
            "layers": model["num_hidden_layers"], "hidden": model["hidden_size"],
            "heads": model["num_attention_heads"], "kv_heads": model["num_key_value_heads"],
            "ffn": model["intermediate_size"], "gated_mlp": 1, "vocab": model["vocab_size"],
            "seq_len": training["seq_len"], "gpu": gpu, "gpus": 1, "gpus_per_node": 8, "tp": 1, "cp": 1, "pp": 1,
            "dp": 1, "ep": 1, "virtual_stages": 1, "micro_batch": training["micro_batch"],
            "global_batch": training["global_batch"], "sharding": "none",
            "recompute": training.get("recompute", "none"), "precision": training["precision"],
            "metric": "step_time_s", "value": f"{step_s:.6f}", "memory_gib": f"{memory_gib:.4f}", "status": "ok",
            "assumed": ";".join(assumed), "cluster": cluster, "stack": "fourfold"}


def ask(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout.strip():
        return {"error": (done.stderr.strip().splitlines() or ["no answer"])[-1]}
    return json.loads(done.stdout)


def measure(fourfold, backend, plan, folder):
    """Median of the last steps and what the allocator reserved after them; or why there is none."""
    variables = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"))  # not among the user's runs
    done = subprocess.run([fourfold, "run", plan, "--target", "local", "--backend", backend, "--json"], text=True,
                          env=variables, capture_output=True)
    steps = []
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if event.get("event") == "step":
            steps.append(event)
    if done.returncode or len(steps) < STEPS:
        return None, (done.stderr.strip().splitlines() or ["no reason"])[-1]
    memory = steps[-1].get("memory_reserved_gib", steps[-1]["memory_peak_gib"])
    return (statistics.median(step["step_time_s"] for step in steps[WARM_UP:]), memory), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fourfold", required=True)
    parser.add_argument("--cluster", default="dgx-h100")
    parser.add_argument("--gpu", default="H100", help="as measured tables call it")
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", default="", help="plans whose name has this text in it")
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    entries = [entry for entry in (TINY_PLANS if arguments.tiny else PLANS) if arguments.only in entry[0]]
    rows, failed, distances = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, "tokens.bin")
        generator = random.Random(1)
        with open(tokens, "wb") as file:
            file.write(struct.pack("<600000H", *(generator.randrange(500) for _ in range(600000))))
        plans = []
        for number, entry in enumerate(entries):
            path = os.path.join(folder, f"{number}.plan.json")
            plan = plan_of(entry, arguments.cluster, tokens)
            with open(path, "w") as file:
                json.dump(plan, file)
            said = ask(arguments.fourfold, "predict", path, "--json")
            rehearsed = ask(arguments.fourfold, "rehearse", path, "--json")
            plans.append((plan, path, said, rehearsed))
        print("plan | predicted s  rehearsed s  measured s  predicted off | predicted GiB  rehearsed GiB  measured GiB")
        for plan, path, said, rehearsed in plans:
            measured, why = measure(arguments.fourfold, arguments.backend, path, folder)
            if measured is None:
                failed.append(plan["name"])
                print(f"{plan['name']} | FAILED: {why}", flush=True)
                continue
            step_s, memory = measured
            expected = said["step_time_s"] if "step_time_s" in said else float("nan")
            distances.append(abs(expected / step_s - 1))
            rehearsed_s = rehearsed.get("step_time_s") or float("nan")
            planned = said.get("memory_gib") or float("nan")
            rehearsed_gib = (rehearsed.get("stages") or [{}])[0].get("reserved_gib") or float("nan")
            print(f"{plan['name']} | {expected:.4f}  {rehearsed_s:.4f}  {step_s:.4f}  {100 * (expected / step_s - 1):+.1f} % | "
                  f"{planned:.2f}  {rehearsed_gib:.3f}  {memory:.3f}", flush=True)
            rows.append(row_of(plan, arguments.cluster, arguments.gpu, step_s, memory))
            if arguments.csv:
                with open(arguments.csv, "w", newline="") as file:
                    writer = csv.DictWriter(file, rows[0].keys())
                    writer.writeheader()
                    writer.writerows(rows)
    if distances:
        print(f"predicted step times are off by {100 * statistics.mean(distances):.1f} % on average, "
              f"{100 * max(distances):.1f} % at most, in {len(distances)} plans")
    sys.exit(1 if failed else 0)


main()
