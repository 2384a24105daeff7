#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs the tests: `quick` (the default), or `long` (full matrices, soaks, fuzzing),
# whose report is kept as build/reports/long-<date>.txt.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

label=quick
for argument in "$@"; do
    case $argument in
        quick | long) label=$argument ;;
        --yes) setup_yes=true ;;
        -h | --help)
            echo "usage: packaging/test.sh [quick|long] [--yes]"
            exit 0
            ;;
        *)
            echo "test.sh: unknown argument $argument" >&2
            echo "usage: packaging/test.sh [quick|long] [--yes]" >&2
            exit 2
            ;;
    esac
done

setup_total=6
groups=(build desktop test)
[[ $label == quick ]] || groups+=(long)
begin_set_up "${groups[@]}"
finish_set_up all

step "Wheels" test-wheels "Check the network."
wheels=$FOURFOLD_ROOT/packaging/test-wheels.txt
if libtorch_complete "$setup_build/tests/wheels" "$wheels"; then
    say "already here"
else
    say "downloading"
    logged libtorch_get_alone "$setup_build/tests/wheels" "$wheels"
fi

step "Tests" "test-$label" "Read the output of the failed tests above (ctest --preset $setup_preset -R NAME runs one alone)."
# Nothing of the user's is read or changed, and no window opens.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/runtime"
export XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config XDG_CACHE_HOME=$scratch/cache
export XDG_RUNTIME_DIR=$scratch/runtime
export QT_QPA_PLATFORM=offscreen

say "$label"
cd "$FOURFOLD_ROOT"
if [[ $label == long ]]; then
    mkdir -p build/reports
    report=build/reports/long-$(date +%Y-%m-%d-%H%M%S).txt
    ctest --preset "${setup_preset/#release/long}" 2>&1 | tee "$report"
    echo "The report is kept as $report."
else
    # Three times as many as cores: most tests wait for clocks and other processes (FourfoldTest.cmake has the others).
    ctest --preset "$setup_preset" --parallel "$(($(nproc) * 3))"
fi
