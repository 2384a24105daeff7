#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Standard streams that are closed, full or broken, for each program that is built. Arguments: the programs.
set -euo pipefail
scratch=$(mktemp -d)
running=
cleanup() {
    [[ -z $running ]] || kill -9 "$running" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
export HOME=$scratch/home XDG_RUNTIME_DIR=$scratch XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config
export XDG_CACHE_HOME=$scratch/cache QT_QPA_PLATFORM=offscreen
mkdir -p "$HOME"

# What asks each for a short answer on standard output.
answer_of() {
    case ${1##*/} in
        fourfold-agent) echo version ;;
        *) echo --help ;;
    esac
}
expect_one() { # status, file of standard error, what it was
    ((${1} == 1)) || fail "$3: exit status $1, expected 1"
    grep -q 'standard output: cannot write the answer' "$2" || fail "$3: $(cat "$2")"
}
# A pipe that nobody reads any more.
mkfifo "$scratch/pipe"
exec {both}<>"$scratch/pipe"
exec {broken}>"$scratch/pipe" {both}>&-

for program; do
    argument=$(answer_of "$program")
    status=0
    "$program" "$argument" >"$scratch/out" </dev/null || fail "$program $argument: exit status $?"
    [[ -s $scratch/out ]] || fail "$program $argument printed nothing"
    "$program" "$argument" </dev/null >/dev/full 2>"$scratch/err" || status=$?
    expect_one "$status" "$scratch/err" "$program $argument >/dev/full"
    status=0
    "$program" "$argument" </dev/null 1>&"$broken" 2>"$scratch/err" || status=$?
    expect_one "$status" "$scratch/err" "$program $argument into a broken pipe"
    status=0
    # The shell's own limit of file sizes would end it by a signal.
    (ulimit -f 0 && exec "$program" "$argument" </dev/null 2>&1 >"$scratch/limited") | cat >"$scratch/err" \
        || status=${PIPESTATUS[0]}
    expect_one "$status" "$scratch/err" "$program $argument into a file that may not grow"
    status=0
    "$program" "$argument" </dev/null >&- 2>"$scratch/err" || status=$?
    expect_one "$status" "$scratch/err" "$program $argument >&-"
    status=0
    "$program" "$argument" <&- >&- 2>&- || status=$?
    ((status == 1)) || fail "$program $argument <&- >&- 2>&-: exit status $status, expected 1"
done

# While a program works, no file, pipe or socket of its own has the number of a standard stream that was closed.
expect_null_at() { # program, its process, the descriptors
    local program=$1 pid=$2 fd seen
    shift 2
    for _ in {1..300}; do
        seen=
        for fd; do
            seen+="$(readlink "/proc/$pid/fd/$fd" || echo closed) "
        done
        [[ -z ${seen//\/dev\/null /} ]] && return
        kill -0 "$pid" 2>/dev/null || fail "$program has ended"
        sleep 0.1
    done
    fail "$program: the descriptors $* are $seen"
}
mkfifo "$scratch/held" # nobody writes into it: who reads it waits
# A rank of a plan for two, whose first rank cannot be reached: it looks for that one until it is killed.
presets=$(dirname "$0")/../../presets
cluster=$(<"$presets/clusters/this-computer.json")
cat >"$scratch/plan.json" <<PLAN
{"fourfold_plan": 1, "name": "streams", "gpus": 2, "layout": {"tp": 1, "cp": 1, "pp": 1, "dp": 2},
 "cluster": ${cluster/'"gpu": "cpu"'/'"gpu": '"$(<"$presets/gpus/cpu.json")"},
 "stack": $(<"$presets/stacks/fourfold.json"),
 "model": {"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1,
  "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 32,
  "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": false},
 "training": {"seq_len": 32, "micro_batch": 1, "global_batch": 2, "precision": "fp32"},
 "run": {"steps": 1, "lr": 1e-3, "data": [{"path": "none.bin", "dtype": "uint16"}]}}
PLAN
token=$(printf '0%.0s' {1..64})
for program; do
    closed=(0 1 2)
    case ${program##*/} in
        fourfold-agent)
            closed=(1 2)
            exec {held}<>"$scratch/held"
            "$program" session <"$scratch/held" >&- 2>&- {held}>&- &
            ;;
        fourfold-trainer)
            RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 FOURFOLD_TOKEN=$token \
                "$program" --plan "$scratch/plan.json" --run-dir "$scratch" <&- >&- 2>&- &
            ;;
        fourfold-desktop) "$program" <&- >&- 2>&- & ;;
        *) continue ;; # answers and ends
    esac
    running=$!
    expect_null_at "$program" "$running" "${closed[@]}"
    kill -9 "$running"
    wait "$running" 2>/dev/null || true
    running=
done
echo "ok: $# programs"
