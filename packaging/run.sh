#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs the main job: predicts the example plan as soon as the planner is built,
# builds the rest, measures how fast the target is and predicts anew, trains the plan, shows prediction beside
# measurement, and opens the desktop where there is a display.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'TEXT'
usage: packaging/run.sh [--target T] [--steps N] [--no-desktop] [--yes]
  --target T     where to train: local (default), a target file, a preset, or user@host1,host2:port
  --steps N      steps to train instead of the example's own number
  --no-desktop   do not open fourfold-desktop at the end
  --yes          install Debian packages without asking
TEXT
}

target=local
desktop=true
run_options=()
while (($# > 0)); do
    case $1 in
        --target | --steps)
            if (($# < 2)); then
                echo "run.sh: $1 needs a value" >&2
                usage >&2
                exit 2
            fi
            if [[ $1 == --target ]]; then
                target=$2
            else
                run_options+=(--steps "$2")
            fi
            shift
            ;;
        --no-desktop) desktop=false ;;
        --yes) setup_yes=true ;;
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
# A target file is named relative to the caller's folder.
[[ $target == */* && -f $target ]] && target=$(realpath "$target")

plan=presets/plans/this-computer.plan.json
fourfold=$setup_build/bin/fourfold

setup_total=11
begin_set_up build desktop
set_up_planner
cd "$FOURFOLD_ROOT"

step "Predict" predict "Read the line above; the plan is $plan."
say "$plan"
"$fourfold" predict "$plan"
echo "    ${fourfold#"$FOURFOLD_ROOT"/} can be used from now on, in another terminal; the rest follows."

finish_set_up programs

step "Measure" measure "Read the lines above; the prediction before stands until a measurement ends well."
if [[ -x $setup_build/bin/fourfold-trainer && $target == local ]]; then
    say "how fast this computer is, then the prediction anew"
    # What cannot be measured can still be run.
    if "$fourfold" probe --target local --measure; then
        "$fourfold" predict "$plan"
    fi
else
    say "left out: the trainer measures this computer alone"
fi

step "Train" run "Read the lines above; 'fourfold history show last' tells what is known of the run."
if [[ -x $setup_build/bin/fourfold-trainer ]]; then
    say "on target $target (Ctrl-C stops it)"
    "$fourfold" run "$plan" --target "$target" "${run_options[@]}"

    step "Compare" history "Read the line above."
    say "prediction beside measurement"
    "$fourfold" history show last
    echo "    The history is ${XDG_DATA_HOME:-$HOME/.local/share}/fourfold/history.db; 'fourfold history list' shows all runs."
else
    say "left out: the planner alone was built (FOURFOLD_TRAINER=OFF)"
    step "Compare" history ""
    say "left out: nothing was run"
fi

step "Desktop" desktop "Start ${fourfold#"$FOURFOLD_ROOT"/}-desktop by hand to see what it says."
if ! $desktop; then
    say "not opened (--no-desktop); start it with ${fourfold#"$FOURFOLD_ROOT"/}-desktop"
elif [[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    say "no display here; with one, start it with ${fourfold#"$FOURFOLD_ROOT"/}-desktop"
else
    say "opening (its messages: ${setup_log#"$FOURFOLD_ROOT"/})"
    setsid "$fourfold-desktop" "$plan" </dev/null >"$setup_log" 2>&1 &
    opened=$!
    sleep 2
    # Gone after two seconds means that it could not start; wait gives its exit status to the report.
    kill -0 "$opened" 2>/dev/null || wait "$opened"
fi
