#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# All that only a GPU can show, on a computer with one: parity and NCCL of the CUDA trainer, memory beside the
# rehearsal's, plans that nobody ran beside what was said of them, rates of 8-bit products, speed beside eager PyTorch. Writes build/reports/gpu-<date>.md with versions and clocks, and says what
# still needs several GPUs.
#
#   tests/gpu/run.sh [--build FOLDER] [--python PYTHON_WITH_TORCH]
#
# Exit status: 0 all passed; 1 something failed (the report says what); 2 it cannot begin: no GPU, nothing built.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
build=$root/build/release
python=python3

usage() { echo "usage: tests/gpu/run.sh [--build FOLDER] [--python PYTHON_WITH_TORCH]"; }
refuse() {
    echo "run.sh: $*" >&2
    exit 2
}
while (($#)); do
    case $1 in
        --build | --python)
            (($# > 1)) || refuse "no value after $1"
            [[ $1 == --build ]] && build=$2 || python=$2
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            echo "run.sh: unknown argument $1" >&2
            usage >&2
            exit 2
            ;;
    esac
    shift
done

gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | grep -c .) || gpus=0
((gpus > 0)) || refuse "there is no GPU on this computer: nvidia-smi lists none"
for program in bin/fourfold bin/fourfold-trainer-cuda tests/parity-worker-cuda tests/trainer_cuda_test \
    tests/trainer_nccl_test tests/trainer_matrix_long_test; do
    [[ -x $build/$program ]] || refuse "$build/$program is missing: build with a CUDA toolkit (guide, chapter 17)"
done

reports=${FOURFOLD_GPU_REPORTS:-$root/build/reports}
logs=$reports/gpu-logs
mkdir -p "$logs" || refuse "cannot make $logs"
report=$reports/gpu-$(date +%Y-%m-%d).md
failed=()

# part NAME SECONDS COMMAND...: runs it, with what it says in a log, and adds a line to the report.
part() {
    local name=$1 seconds=$2 status=0 begin=$SECONDS outcome
    shift 2
    echo "== $name"
    timeout "$seconds" "$@" >"$logs/$name.log" 2>&1 || status=$?
    case $status in
        0) outcome=passed ;;
        124) outcome="stopped after $seconds s" ;;
        *) outcome="failed with status $status" ;;
    esac
    ((status == 0)) || failed+=("$name")
    echo "   $outcome ($((SECONDS - begin)) s), $logs/$name.log"
    echo "| $name | $outcome | $((SECONDS - begin)) s | \`$*\` |" >>"$report"
}

gpu_field() { nvidia-smi --query-gpu="$1" --format=csv,noheader | paste -sd ';'; }
{
    echo "# GPU report"
    echo
    echo "| | |"
    echo "| --- | --- |"
    echo "| date | $(date -u +%Y-%m-%dT%H:%M:%SZ) |"
    echo "| Fourfold | $("$build/bin/fourfold" --version), $(git -C "$root" describe --always --dirty 2>/dev/null || echo "no checkout") |"
    for field in name driver_version memory.total clocks.sm clocks.mem clocks.max.sm power.limit; do
        echo "| $field | $(gpu_field "$field") |"
    done
    echo "| LibTorch | $("$build/bin/fourfold" libtorch where 2>&1 | head -1) |"
    echo "| PyTorch beside it | $("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null || echo none) |"
    echo
    echo "| part | outcome | time | command |"
    echo "| --- | --- | --- | --- |"
} >"$report"

part cuda-trainer 900 "$build/tests/trainer_cuda_test"
part nccl 600 "$build/tests/trainer_nccl_test"
part parity-matrix 7200 env FOURFOLD_PARITY_GPU=1 "$build/tests/trainer_matrix_long_test"
part memory 1800 "$python" "$root/tests/gpu/memory.py" --fourfold "$build/bin/fourfold"
part untried 1800 "$python" "$root/tests/gpu/untried.py" --fourfold "$build/bin/fourfold" --csv "$logs/untried.csv"
part graphs 1200 "$python" "$root/tests/bench/trainer/gpu_speed.py" --trainer "$build/bin/fourfold-trainer-cuda" \
    --graphs --sizes 125m --pairs 3
if "$python" -c 'import torch' 2>/dev/null; then
    part rates 300 "$python" "$root/tests/gpu/rates.py"
    part speed 3600 "$python" "$root/tests/bench/trainer/gpu_speed.py" --trainer "$build/bin/fourfold-trainer-cuda" \
        --python "$python" --pairs 3
else
    echo "| rates, speed | left out: $python has no torch (tests/bench/README.md) | | |" >>"$report"
    failed+=(rates speed)
fi

{
    for name in memory untried graphs rates speed; do
        # shellcheck disable=SC2016 # Markdown's marks of code
        [[ -s $logs/$name.log ]] && printf '\n## %s\n```\n%s\n```\n' "$name" "$(cat "$logs/$name.log")"
    done
    echo
    echo "## What still needs several GPUs"
    echo "- collectives between GPUs, and pipelines over NCCL (4 GPUs):"
    echo "  \`fourfold run presets/plans/this-computer.plan.json --backend nccl --set gpus=4 --set layout.pp=4 --set layout.dp=1\`"
    echo "- every dimension at once (16 GPUs):"
    echo "  \`fourfold run presets/plans/llama-3-mesh-2x2x2x2.plan.json --target TARGET --backend nccl\`"
    echo "- NCCL's buffers per communicator and the bandwidth between nodes: \`fourfold probe TARGET --measure\`"
} >>"$report"
echo "report: $report"
if ((${#failed[@]})); then
    echo "run.sh: failed: ${failed[*]}" >&2
    exit 1
fi
