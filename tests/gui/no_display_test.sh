#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program where there is no display: questions are answered, pictures are made, and a window that cannot be opened is
# one clear line. Argument: fourfold-desktop.
set -euo pipefail
program=${1:?fourfold-desktop}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/runtime"
alone() { # VARIABLE=VALUE ... -- ARGUMENT ...
    local variables=()
    while [[ $1 != -- ]]; do
        variables+=("$1")
        shift
    done
    shift
    env -i PATH="$PATH" HOME="$scratch" XDG_RUNTIME_DIR="$scratch/runtime" XDG_DATA_HOME="$scratch/data" \
        XDG_CONFIG_HOME="$scratch/config" "${variables[@]}" timeout 60 "$program" "$@" \
        >"$scratch/out" 2>"$scratch/err"
}
fail() {
    echo "FAILED: $*" >&2
    cat "$scratch/out" "$scratch/err" >&2
    exit 1
}

for question in --help -h --version -v; do
    alone -- "$question" || fail "$question ends with status $?"
    [[ -s $scratch/out && ! -s $scratch/err ]] || fail "$question is not answered on standard output alone"
done
alone -- --help --nonsense && fail "a wrong option beside --help is taken"
alone -- --screenshot "$scratch/plan.png" --size 1280x800 || fail "a picture needs a display"
[[ -s $scratch/plan.png ]] || fail "there is no picture"

for wild in QT_SCALE_FACTOR=0 "QT_SCREEN_SCALE_FACTORS=1;X=1e9" QT_FONT_DPI=99999; do
    alone "$wild" -- --screenshot "$scratch/scaled.png" || fail "$wild ends with status $?"
    grep -q "${wild%%=*} is left out" "$scratch/err" || fail "$wild is not named"
done
alone -- --screenshot "" && fail "a picture without a name is taken"
# What cannot be is said before the work.
for wrong in "$scratch/picture.jpg" "$scratch/missing/picture.png"; do
    alone -- --screenshot "$wrong" && fail "$wrong is taken for a picture"
    grep -q "^fourfold-desktop: $wrong: .*" "$scratch/err" || fail "$wrong is not named"
done
echo '{"model_type": "llama", "vocab_size": 256, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
       "intermediate_size": 128}' >"$scratch/config.json"
alone -- --screenshot "$scratch/model.png" "$scratch/config.json" && fail "a model is taken for a plan"
grep -q "config.json: is no plan, and --screenshot shows a plan" "$scratch/err" || fail "what a file is is not said"
ln -s /dev/full "$scratch/full.png"
alone -- --screenshot "$scratch/full.png" && fail "a picture on a full disk is taken for one"
grep -q "^fourfold-desktop: .*full.png: cannot be written: No space left" "$scratch/err" || fail "a full disk is not named"

# An ordinary user who may have no more threads; root has no such limit.
threads() {
    ((EUID == 0)) || { bash -c 'ulimit -u 1; exec "$@"' _ "$@"; return; }
    chmod -R a+rwX "$scratch"
    setpriv --reuid 64999 --regid 64999 --clear-groups bash -c 'ulimit -u 1; exec "$@"' _ "$@"
}
if ((EUID != 0)) || setpriv --reuid 64999 --regid 64999 --clear-groups test -x "$program" 2>/dev/null; then
    status=0
    threads env -i HOME="$scratch" XDG_RUNTIME_DIR="$scratch/runtime" XDG_DATA_HOME="$scratch/data" \
        XDG_CONFIG_HOME="$scratch/config" "$program" --screenshot "$scratch/none.png" >"$scratch/out" 2>"$scratch/err" \
        || status=$?
    ((status == 0 || status == 1)) || fail "without threads the status is $status"
fi

expect_line() { # WORDS VARIABLE=VALUE ...
    local words=$1 status=0
    shift
    alone "$@" -- || status=$?
    ((status == 1)) || fail "without a display the status is $status, expected 1"
    [[ $(wc -l <"$scratch/err") == 1 ]] || fail "expected one line"
    grep -q "^fourfold-desktop: no window can be opened: $words; use the command instead .*ssh -X" "$scratch/err" \
        || fail "expected \"$words\" and what there is instead"
}
expect_line "DISPLAY is not set"
expect_line "the display :64999 does not answer" DISPLAY=:64999
expect_line "Qt cannot use QT_QPA_PLATFORM=nonsense" QT_QPA_PLATFORM=nonsense
echo "ok: without a display"
