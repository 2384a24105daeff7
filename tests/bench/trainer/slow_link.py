# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ways to train beside each other on two CPU ranks of one thread, each in a network namespace and pinned to a core,
over a slow link (veth with a token bucket; its delay is that of the kernel). Needs root and `tc`."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import speed

NET = "10.231.79."


def link(megabits):
    """A second namespace behind a veth pair; the process that keeps it."""
    keeper = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
    inside = ["nsenter", "-t", str(keeper.pid), "-n"]
    while os.readlink(f"/proc/{keeper.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        pass
    run = lambda *command: subprocess.run(command, check=True)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "dev", "fourfold0", "type", "veth", "peer", "name", "fourfold1")
    run("ip", "link", "set", "fourfold1", "netns", str(keeper.pid))
    for rank, prefix in enumerate(([], inside)):
        device = f"fourfold{rank}"
        run(*prefix, "ip", "addr", "add", f"{NET}{rank + 1}/24", "dev", device)
        # Packets of a tenth of a millisecond, and no more tokens than one takes: what a bucket saves up while ranks
        # compute passes at the speed of memory, of a bucket of 250 kB half of each message here.
        run(*prefix, "ip", "link", "set", device, "gso_max_size", "16384", "up")
        run(*prefix, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{megabits}mbit", "burst", "20000",
            "latency", "50ms")
    return keeper


def step_time(arguments, keeper, plan, folder):
    """The median step of a run, seconds; rank r on core r, rank 1 beyond the link."""
    os.mkdir(folder)
    plan_file = os.path.join(folder, "plan.json")
    with open(plan_file, "w") as file:
        json.dump(plan, file)
    cores = " ".join(map(str, sorted(os.sched_getaffinity(0))))
    script = (f"export MASTER_ADDR={NET}1 FOURFOLD_ADDRESS={NET}$((RANK + 1)); "
              f"core=$(echo {cores} | cut -d' ' -f$((RANK + 1))); "
              f"[ $RANK = 0 ] || enter='nsenter -t {keeper.pid} -n'; "
              f"exec $enter taskset -c $core {arguments.trainer} --plan {plan_file} --run-dir {folder}")
    speed.launch(["sh", "-c", script], folder, {"FOURFOLD_BACKEND": "gloo"})
    with open(os.path.join(folder, "rank0.jsonl")) as file:
        events = [json.loads(line) for line in file]
    return statistics.median([e["step_time_s"] for e in events if e["event"] == "step"][speed.WARM_UP:])


def compare(description, size, mode, names, change, more=()):
    """Runs both in turn, prints the median step of each and the ratio. change(plan, overlapped, arguments): makes the
    plan of one; names: of the plain one and the other; more: switches of the command line, each with its help."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--megabits", type=int, default=1000)
    parser.add_argument("--micro-batches", type=int, help="of a step and replica (default: as the model's size has it)")
    for name, text in more:
        parser.add_argument(name, action="store_true", help=text)
    arguments = parser.parse_args()
    speed.RANKS = 2
    speed.SIZE.update(size)
    if arguments.micro_batches:
        replicas = speed.RANKS if mode == "dp" else 1
        speed.SIZE["global_batch"] = arguments.micro_batches * speed.SIZE["micro_batch"] * replicas
    load, times = os.getloadavg()[0], {False: [], True: []}
    keeper = link(arguments.megabits)
    try:
        with tempfile.TemporaryDirectory() as folder:
            tokens = speed.write_tokens(folder)
            for pair in range(arguments.pairs):
                for overlapped in times:
                    plan = speed.plan_of(mode, tokens, arguments.steps, "ring")
                    change(plan, overlapped, arguments)
                    times[overlapped].append(
                        step_time(arguments, keeper, plan, os.path.join(folder, f"{pair}-{overlapped}")))
    finally:
        keeper.kill()
        keeper.wait()
    ratios = [a / b for a, b in zip(times[True], times[False])]
    print(f"{arguments.megabits} Mbit/s, load average before {load:.1f}: {names[0]} {statistics.median(times[False]):.3f} "
          f"s, {names[1]} {statistics.median(times[True]):.3f} s a step; ratio, median of pairs "
          f"{statistics.median(ratios):.3f} ({', '.join(f'{r:.3f}' for r in ratios)})")
