#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/gpu/run.sh as far as it goes without a GPU: its refusals, and its report with programs that only pretend.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "FAILED: $*" >&2
    [[ -f $scratch/out ]] && cat "$scratch/out" >&2
    exit 1
}
# run STATUS ARGUMENTS...: what it says is in $scratch/out.
run() {
    local wanted=$1 status=0
    shift
    PATH=$scratch/bin:$PATH FOURFOLD_GPU_REPORTS=$scratch/reports "$root/tests/gpu/run.sh" "$@" >"$scratch/out" 2>&1 || status=$?
    [[ $status == "$wanted" ]] || fail "status $status, expected $wanted: $*"
}
program() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

program "$scratch/bin/nvidia-smi" 'echo "NVIDIA-SMI has failed" >&2; exit 9'
run 2 --build "$scratch/build"
[[ $(wc -l <"$scratch/out") == 1 ]] || fail "more than a line"
grep -q "there is no GPU on this computer" "$scratch/out" || fail "the reason is missing"
run 2 --no-such-argument
grep -q "usage: tests/gpu/run.sh" "$scratch/out" || fail "no usage"

program "$scratch/bin/nvidia-smi" 'echo "Pretended GPU"'
run 2 --build "$scratch/build"
grep -q "$scratch/build/bin/fourfold is missing" "$scratch/out" || fail "what is missing is not named"

# shellcheck disable=SC2016 # expands when it runs
program "$scratch/bin/a-python" 'case $1 in -c) exit 0 ;; *) echo "measured by $(basename "$1")" ;; esac'
for name in bin/fourfold bin/fourfold-trainer-cuda tests/parity-worker-cuda tests/trainer_cuda_test \
    tests/trainer_nccl_test tests/trainer_matrix_long_test; do
    program "$scratch/build/$name" 'echo ran'
done
run 0 --build "$scratch/build" --python "$scratch/bin/a-python"
report=$(echo "$scratch"/reports/gpu-*.md)
for words in "| name | Pretended GPU |" "| driver_version |" "| clocks.sm |" "| cuda-trainer | passed |" "| nccl | passed |" \
    "| parity-matrix | passed |" "| memory | passed |" "| untried | passed |" "| graphs | passed |" "| rates | passed |" "| speed | passed |" "measured by memory.py" \
    "measured by gpu_speed.py" "What still needs several GPUs" "--backend nccl"; do
    grep -qF -- "$words" "$report" || fail "the report lacks: $words"
done

program "$scratch/build/tests/trainer_nccl_test" 'exit 3'
run 1 --build "$scratch/build" --python "$scratch/bin/a-python"
grep -q "run.sh: failed: nccl" "$scratch/out" || fail "what failed is not named"
grep -qF "| nccl | failed with status 3 |" "$report" || fail "the report does not say what failed"
echo "ok: tests/gpu/run.sh"
