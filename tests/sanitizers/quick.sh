#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds everything but the trainer with the sanitizers of a preset and runs all quick tests: tests/sanitizers/quick.sh
# asan|tsan [CTEST OPTION...]. Fails when a test fails or any process, also one whose exit status nobody asks for,
# reported something. Reports go to build/PRESET/reports.
set -euo pipefail
preset=${1:?asan or tsan}
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
build=$root/build/$preset
reports=$build/reports
cd "$root"
cmake --preset "$preset" >/dev/null
ninja -C "$build" -j "${FOURFOLD_JOBS:-$(nproc)}" all >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log" >&2
    exit 1
}
rm -rf "$reports"
mkdir "$reports"
# GCC's thread sanitizer does not start where addresses are more random than it knows of.
run=()
(($(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28) <= 28)) || run=(setarch -R)
status=0
"${run[@]}" ctest --preset "$preset" --label-regex quick --parallel "$(nproc)" "$@" || status=$?
found=("$reports"/*)
if [[ -e ${found[0]} ]]; then
    echo "FAILED: ${#found[@]} processes reported something:" >&2
    grep -h -A 12 -m 3 -E "ERROR: |WARNING: |runtime error" "${found[@]}" | head -n 200 >&2
    exit 1
fi
exit "$status"
