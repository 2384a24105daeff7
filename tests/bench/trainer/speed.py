#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens per second of fourfold-trainer beside torch.distributed: 4 CPU ranks, one thread each, Gloo on loopback.

    speed.py --trainer BUILD/bin/fourfold-trainer --python VENV/bin/python [--pairs 5] [--modes dp,tp,pp,cp]
    speed.py --trainer BUILD/bin/fourfold-trainer --plain --ranks 1 --modes dp   # beside its own plain kernels

Runs the two programs in turn, pair by pair, so that other load meets both, and prints the medians as a table, with the
most memory that a rank had resident. --size: other models, whose step is in its products or in launching them. The
Python needs torch of the same version as the trainer's LibTorch (README.md). Nothing is written but a temporary folder.
"""
import argparse
import json
import os
import random
import secrets
import socket
import statistics
import struct
import subprocess
import tempfile
import threading

RANKS = 4
SIZE = {"layers": 4, "hidden": 256, "heads": 8, "kv_heads": 4, "ffn": 704, "vocab": 1024, "seq_len": 256,
        "micro_batch": 1, "global_batch": 16}
SIZES = {
    "product": {"layers": 4, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn": 2048, "vocab": 2048, "seq_len": 512,
                "micro_batch": 2, "global_batch": 4},
    "launch": {"layers": 12, "hidden": 64, "heads": 4, "kv_heads": 4, "ffn": 176, "vocab": 256, "seq_len": 32,
               "micro_batch": 1, "global_batch": 32}}
WARM_UP = 2


def preset(kind, name):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../presets")
    with open(os.path.join(root, kind, name + ".json")) as file:
        return json.load(file)


def plan_of(mode, tokens, steps, cp_method, plain=False):
    """As the trainer reads it: every preset in full."""
    cluster = preset("clusters", "this-computer")
    cluster["gpu"] = preset("gpus", cluster["gpu"])
    stack = preset("stacks", "fourfold")
    for key in ("training_defaults", "constants", "gpu_constants", "fit"):
        stack.pop(key, None)
    return {
        "fourfold_plan": 1, "name": "speed", "cluster": cluster, "gpus": RANKS, "stack": stack,
        "model": {"model_type": "llama", "vocab_size": SIZE["vocab"], "hidden_size": SIZE["hidden"],
                  "num_hidden_layers": SIZE["layers"], "num_attention_heads": SIZE["heads"],
                  "num_key_value_heads": SIZE["kv_heads"], "intermediate_size": SIZE["ffn"],
                  "max_position_embeddings": SIZE["seq_len"], "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
                  "tie_word_embeddings": False},
        "layout": {"tp": 1, "cp": 1, "pp": 1, "dp": 1} | {mode: RANKS},
        "training": {"seq_len": SIZE["seq_len"], "micro_batch": SIZE["micro_batch"],
                     "global_batch": SIZE["global_batch"], "precision": "fp32", "cp_method": cp_method,
                     "compile": not plain},
        "run": {"steps": WARM_UP + steps, "lr": 1e-3, "clip_norm": 1.0, "log_every": 1,
                "data": [{"path": tokens, "dtype": "uint16"}]}}


def write_tokens(folder, generator=random):
    """A file of random tokens of the model's vocabulary, 100,000 of 16 bits."""
    path = os.path.join(folder, "tokens.bin")
    with open(path, "wb") as file:
        file.write(struct.pack("<100000H", *(generator.randrange(SIZE["vocab"]) for _ in range(100000))))
    return path


def write_pipeline_plan(folder, tokens, steps, schedule, chunks):
    """The plan of pipeline stages by a schedule, as a file of the folder, which is made."""
    os.mkdir(folder)
    plan = plan_of("pp", tokens, steps, "ring")
    plan["layout"]["virtual_stages"] = chunks
    plan["training"]["schedule"] = schedule
    path = os.path.join(folder, "plan.json")
    with open(path, "w") as file:
        json.dump(plan, file)
    return path


def launch(command, folder, extra):
    """What rank 0 printed, and the most memory that a rank had resident, bytes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(32)
    processes = []
    for rank in range(RANKS):
        environment = os.environ | extra | {
            "RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "FOURFOLD_TOKEN": token, "FOURFOLD_ADDRESS": "127.0.0.1",
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo"}
        log = open(os.path.join(folder, f"log{rank}"), "w+")
        processes.append((subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT), log))
    failed, resident = [], 0
    late = threading.Timer(900, lambda: [process.kill() for process, _ in processes])
    late.start()
    try:
        for rank, (process, _) in enumerate(processes):
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            resident = max(resident, used.ru_maxrss * 1024)
            if process.returncode:
                failed.append(rank)
    finally:
        late.cancel()
        for process, _ in processes:
            if process.poll() is None:
                process.kill()
    texts = []
    for _, log in processes:
        log.seek(0)
        texts.append(log.read())
    if failed:
        raise SystemExit(f"rank {failed[0]} of {command[0]} failed:\n{texts[failed[0]][-2000:]}")
    return texts[0], resident


def run_fourfold(trainer, mode, tokens, steps, cp_method, plain=False):
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan.json")
        with open(plan, "w") as file:
            json.dump(plan_of(mode, tokens, steps, cp_method, plain), file)
        _, resident = launch([trainer, "--plan", plan, "--run-dir", folder], folder, {"FOURFOLD_BACKEND": "gloo"})
        with open(os.path.join(folder, "rank0.jsonl")) as file:
            events = [json.loads(line) for line in file]
        return [event["step_time_s"] for event in events if event["event"] == "step"][WARM_UP:], resident


def run_torch(python, mode, steps):
    arguments = [part for name, value in SIZE.items() for part in (f"--{name}", str(value))]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_rank.py")
    with tempfile.TemporaryDirectory() as folder:
        text, resident = launch(
            [python, script, mode, *arguments, "--steps", str(steps), "--warm_up", str(WARM_UP)], folder, {})
        return json.loads(text.strip().splitlines()[-1]), resident


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--python")
    parser.add_argument("--plain", action="store_true", help="beside training.compile = false instead of PyTorch")
    parser.add_argument("--ranks", type=int, default=RANKS)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--modes", default="dp,tp,pp,cp")
    parser.add_argument("--size", choices=list(SIZES))
    parser.add_argument("--cp-method", default="ring", choices=["ring", "all-gather"])
    arguments = parser.parse_args()
    if bool(arguments.python) == arguments.plain:
        parser.error("--python or --plain: what it is compared with")
    globals()["RANKS"] = arguments.ranks
    SIZE.update(SIZES.get(arguments.size, {}))
    tokens_per_step = SIZE["global_batch"] * SIZE["seq_len"]
    other = "plain" if arguments.plain else "torch"
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    print(f"| | fourfold tokens/s | {other} tokens/s | ratio, median of pairs | ratios | resident MB, ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        tokens = write_tokens(folder, random.Random(1))
        for mode in arguments.modes.split(","):
            ours, theirs, resident = [], [], {True: [], False: []}
            for _ in range(arguments.pairs):
                def fourfold(plain):
                    return run_fourfold(arguments.trainer, mode, tokens, arguments.steps, arguments.cp_method, plain)
                for speeds, run in ((ours, lambda: fourfold(False)),
                                    (theirs, lambda: fourfold(True) if arguments.plain
                                     else run_torch(arguments.python, mode, arguments.steps))):
                    times, bytes_resident = run()
                    speeds.append(tokens_per_step / statistics.median(times))
                    resident[speeds is ours].append(bytes_resident / 1e6)
            ratios = [a / b for a, b in zip(ours, theirs)]
            own, others = (statistics.median(resident[side]) for side in (True, False))
            print(f"| {mode.upper()} {RANKS} | {statistics.median(ours):.0f} | {statistics.median(theirs):.0f} | "
                  f"{statistics.median(ratios):.2f} | {', '.join(f'{r:.2f}' for r in ratios)} | "
                  f"{own:.0f} / {others:.0f}, {own / others:.2f} |", flush=True)


if __name__ == "__main__":
    main()
