#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens per second, MFU and memory of fourfold-trainer-cuda on one GPU beside eager PyTorch, bf16 with fp32 masters.

    gpu_speed.py --trainer BUILD/bin/fourfold-trainer-cuda --python VENV/bin/python [--pairs 5] [--sizes 1b,3b]
                 [--peak 989]
    gpu_speed.py --trainer BUILD/bin/fourfold-trainer-cuda --graphs --sizes 125m   # CUDA graphs beside none

Runs the two programs in turn, pair by pair, and prints the medians as a table; MFU against the dense bf16 peak in
TFLOP/s (989: H100 SXM). The Python needs torch of the same version as the trainer's LibTorch (README.md). `--device
cpu` with `--sizes tiny` and the CPU trainer tries the script where there is no GPU. Nothing is written but a temporary
folder.
"""
import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import speed  # noqa: E402

WARM_UP = 3
SIZES = {
    "tiny": {"layers": 2, "hidden": 128, "heads": 4, "kv_heads": 2, "ffn": 352, "vocab": 512, "seq_len": 128,
             "micro_batch": 2, "global_batch": 4},
    "125m": {"layers": 12, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn": 2048, "vocab": 32000, "seq_len": 1024,
             "micro_batch": 1, "global_batch": 8},
    "1b": {"layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8, "ffn": 8192, "vocab": 32000, "seq_len": 4096,
           "micro_batch": 4, "global_batch": 16},
    "3b": {"layers": 28, "hidden": 3072, "heads": 24, "kv_heads": 8, "ffn": 8192, "vocab": 32000, "seq_len": 4096,
           "micro_batch": 2, "global_batch": 16},
}


def flops_per_token(size):
    """6 per parameter of a matrix product, 12 layers heads head_dim seq_len of attention (PaLM, appendix B)."""
    kv = size["hidden"] * size["kv_heads"] // size["heads"]
    layer = 2 * size["hidden"] * (size["hidden"] + kv) + 3 * size["hidden"] * size["ffn"]
    matrices = size["layers"] * layer + size["vocab"] * size["hidden"]
    return 6 * matrices + 12 * size["layers"] * size["hidden"] * size["seq_len"]


def plan_of(size, tokens, steps, device, graphs=False):
    plan = speed.plan_of("tp", tokens, steps, "ring")
    plan["layout"] = {"tp": 1, "cp": 1, "pp": 1, "dp": 1}
    plan["gpus"] = 1
    if device == "cuda":
        plan["cluster"] = speed.preset("clusters", "dgx-h100")
        plan["cluster"]["gpu"] = speed.preset("gpus", plan["cluster"]["gpu"])
    plan["model"] |= {"vocab_size": size["vocab"], "hidden_size": size["hidden"], "num_hidden_layers": size["layers"],
                      "num_attention_heads": size["heads"], "num_key_value_heads": size["kv_heads"],
                      "intermediate_size": size["ffn"], "max_position_embeddings": size["seq_len"]}
    plan["training"] |= {"seq_len": size["seq_len"], "micro_batch": size["micro_batch"],
                         "global_batch": size["global_batch"], "sharding": "none",
                         "precision": "bf16" if device == "cuda" else "fp32",
                         "attention": "cudnn" if device == "cuda" else "flash2"}  # what torch chooses there
    plan["run"]["steps"] = WARM_UP + steps
    plan["run"]["environment"] = {"FOURFOLD_CUDA_GRAPHS": "1"} if graphs else {}
    return plan


def run_fourfold(trainer, size, tokens, steps, device, graphs=False):
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan.json")
        with open(plan, "w") as file:
            json.dump(plan_of(size, tokens, steps, device, graphs), file)
        environment = os.environ | {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0",
                                    "FOURFOLD_BACKEND": "nccl" if device == "cuda" else "gloo"}
        done = subprocess.run([trainer, "--plan", plan, "--run-dir", folder], env=environment, capture_output=True,
                              text=True, timeout=900)
        if done.returncode:
            raise SystemExit(f"{trainer} failed:\n{(done.stdout + done.stderr)[-2000:]}")
        with open(os.path.join(folder, "rank0.jsonl")) as file:
            events = [json.loads(line) for line in file]
        measured = [event for event in events if event["event"] == "step"][WARM_UP:]
        return [event["step_time_s"] for event in measured], max(event.get("memory_reserved_gib", event["memory_peak_gib"]) for event in measured)


def run_torch(python, name, steps, device):
    done = subprocess.run([python, os.path.abspath(__file__), "--torch-side", name, "--steps", str(steps), "--device",
                           device], capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise SystemExit(f"torch failed:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["times"], answer["memory_gib"]


def torch_side(size, steps, device):
    """The same step in eager PyTorch: a bf16 model, fp32 masters and gradients, clipping, fused AdamW."""
    import torch
    from torch_rank import Llama, cross_entropy
    namespace = argparse.Namespace(**size)
    torch.manual_seed(1)
    model = Llama(namespace, 0, size["layers"], torch.arange(size["seq_len"])).to(device)
    masters = [p.detach().clone().float() for p in model.parameters()]
    model.to(torch.bfloat16)
    for master in masters:
        master.grad = torch.zeros_like(master)
    optimizer = torch.optim.AdamW(masters, lr=1e-3, fused=True)
    micro_batches = size["global_batch"] // size["micro_batch"]

    def one_step():
        for index in range(micro_batches):
            tokens = torch.randint(0, size["vocab"], (size["micro_batch"], size["seq_len"] + 1)).to(device)
            logits = model(tokens[:, :-1]).float()
            (cross_entropy(logits, tokens[:, 1:]) / micro_batches).backward()
            with torch.no_grad():
                for master, parameter in zip(masters, model.parameters()):
                    master.grad.copy_(parameter.grad) if index == 0 else master.grad.add_(parameter.grad)
                    parameter.grad = None
        torch.nn.utils.clip_grad_norm_(masters, 1.0)
        optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(masters, model.parameters()):
                parameter.copy_(master)

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = []
    for step in range(WARM_UP + steps):
        wait()
        begin = time.perf_counter()
        one_step()
        wait()
        if step >= WARM_UP:
            times.append(time.perf_counter() - begin)
    memory = torch.cuda.max_memory_reserved() / 2**30 if device == "cuda" else 0
    print(json.dumps({"times": times, "memory_gib": memory}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer")
    parser.add_argument("--python")
    parser.add_argument("--graphs", action="store_true", help="with CUDA graphs, beside the same without them")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--sizes", default="1b,3b")
    parser.add_argument("--peak", type=float, default=989)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--torch-side", choices=sorted(SIZES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.torch_side:
        return torch_side(SIZES[arguments.torch_side], arguments.steps, arguments.device)
    if not arguments.trainer or bool(arguments.python) == arguments.graphs:
        parser.error("--trainer is needed, and --python or --graphs: what it is compared with")
    other = "without graphs" if arguments.graphs else "torch"
    print(f"| | fourfold tokens/s | MFU | GiB | {other} tokens/s | MFU | GiB | ratio, median of pairs | ratios |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.sizes.split(","):
        size = SIZES[name]
        per_step = size["global_batch"] * size["seq_len"]
        with tempfile.TemporaryDirectory() as folder:
            tokens = os.path.join(folder, "tokens.bin")
            generator = random.Random(1)
            count = 20 * per_step
            with open(tokens, "wb") as file:
                file.write(struct.pack(f"<{count}H", *(generator.randrange(size["vocab"]) for _ in range(count))))
            ours, theirs, memory = [], [], [0, 0]
            for _ in range(arguments.pairs):
                def fourfold(graphs):
                    return run_fourfold(arguments.trainer, size, tokens, arguments.steps, arguments.device, graphs)
                times, memory[0] = fourfold(arguments.graphs)
                ours.append(per_step / statistics.median(times))
                times, memory[1] = (fourfold(False) if arguments.graphs else
                                    run_torch(arguments.python, name, arguments.steps, arguments.device))
                theirs.append(per_step / statistics.median(times))
        ratios = [a / b for a, b in zip(ours, theirs)]

        def columns(speeds, gib):
            rate = statistics.median(speeds)
            return f"{rate:.0f} | {100 * rate * flops_per_token(size) / (arguments.peak * 1e12):.1f} % | {gib:.1f}"
        print(f"| {name} | {columns(ours, memory[0])} | {columns(theirs, memory[1])} | "
              f"{statistics.median(ratios):.2f} | {', '.join(f'{r:.2f}' for r in ratios)} |", flush=True)


if __name__ == "__main__":
    main()
