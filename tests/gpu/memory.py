#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reserved memory of fourfold-trainer-cuda on one GPU beside what its rehearsal says of the same plan.

    memory.py --fourfold BUILD/bin/fourfold [--backend gloo --setups 1]

With `gloo` it tries the script where there is no GPU: what is measured then is the process. Prints a table; exits with 1 where a run fails or the worst difference is above 1 %. Nothing is written but a temporary
folder.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

SETUPS = [  # hidden, layers, sequence, micro-batch, precision, recomputation (or layers recorded as CUDA graphs)
    (1024, 8, 1024, 1, "bf16", "none"),
    (1024, 8, 1024, 4, "bf16", "none"),
    (1024, 8, 4096, 1, "bf16", "none"),
    (1024, 8, 4096, 2, "bf16", "selective"),
    (1024, 8, 4096, 2, "bf16", "full"),
    (1024, 8, 1024, 4, "fp32", "none"),
    (2048, 16, 2048, 1, "bf16", "none"),
    (2048, 16, 2048, 2, "bf16", "full"),
    (2048, 16, 4096, 1, "bf16", "selective"),
    (2048, 16, 4096, 1, "bf16", "none"),
    (1024, 8, 1024, 1, "bf16", "graphs"),
    (2048, 16, 2048, 1, "bf16", "graphs"),
]
BOUND = 0.01


def plan_of(setup, tokens):
    hidden, layers, seq_len, micro_batch, precision, recompute = setup
    model = {"model_type": "llama", "hidden_size": hidden, "num_hidden_layers": layers, "vocab_size": 32000,
             "num_attention_heads": hidden // 64, "num_key_value_heads": hidden // 256,
             "intermediate_size": hidden * 11 // 4, "max_position_embeddings": seq_len, "tie_word_embeddings": False}
    graphs = recompute == "graphs"
    return {"fourfold_plan": 1, "name": "memory", "model": model, "cluster": "dgx-h100", "gpus": 1,
            "stack": "fourfold",
            "training": {"seq_len": seq_len, "micro_batch": micro_batch, "global_batch": 2 * micro_batch,
                         "precision": precision, "recompute": "none" if graphs else recompute},
            "run": {"environment": {"FOURFOLD_CUDA_GRAPHS": "1"} if graphs else {}, "steps": 3, "data": [{"path": tokens, "weight": 1}], "seed": 1, "lr": 1e-4}}


def measure(fourfold, backend, setup, folder):
    os.makedirs(folder)
    tokens, plan = os.path.join(folder, "tokens.bin"), os.path.join(folder, "memory.plan.json")
    with open(tokens, "wb") as file:
        file.write(struct.pack("<65536H", *(random.randrange(32000) for _ in range(65536))))
    with open(plan, "w") as file:
        json.dump(plan_of(setup, tokens), file)
    rehearsal = json.loads(subprocess.check_output([fourfold, "rehearse", plan, "--json"], text=True))
    variables = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"))  # not among the user's runs
    command = [fourfold, "run", plan, "--target", "local", "--backend", backend, "--json"]
    lines = subprocess.check_output(command, text=True, env=variables).splitlines()
    steps = [line for line in map(json.loads, lines) if line.get("event") == "step"]
    # Of ranks on CPUs, for which the allocator's figure is not there, all memory.
    return rehearsal["stages"][0]["reserved_gib"], steps[-1].get("memory_reserved_gib", steps[-1]["memory_peak_gib"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fourfold", required=True)
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--setups", type=int, default=len(SETUPS), help="the first so many")
    arguments = parser.parse_args()
    worst = 0.0
    print("hidden layers sequence micro-batch precision recompute | rehearsed GiB  measured GiB  difference")
    with tempfile.TemporaryDirectory() as folder:
        for number, setup in enumerate(SETUPS[: arguments.setups]):
            said, was = measure(arguments.fourfold, arguments.backend, setup, os.path.join(folder, str(number)))
            worst = max(worst, abs(said / was - 1))
            print(*setup, "|", f"{said:.3f}  {was:.3f}  {100 * (said / was - 1):+.1f} %", flush=True)
    print(f"worst difference {100 * worst:.1f} %, allowed {100 * BOUND:.0f} %")
    sys.exit(0 if worst <= BOUND else 1)


main()
