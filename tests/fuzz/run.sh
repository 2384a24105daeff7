#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lets libFuzzer (clang, with ASan and UBSan) search for inputs that break the parsers: tests/fuzz/run.sh [SECONDS
# [TARGET ...]]. SECONDS are for each target (default 120). New inputs stay in the corpus beside this file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-120}
shift || true
[ $# -gt 0 ] || set -- wire events programs upload target files
command -v clang++ >/dev/null || { echo "clang++ is not installed: nothing was fuzzed" >&2; exit 1; }
build=${FOURFOLD_FUZZ_BUILD:-$root/build/fuzz}
mkdir -p "$build"
sources=("$root/core/history/training_log.cpp" "$root/runner/slurm/script.cpp")
for name in home_path ssh_config_notes; do sources+=("$root/runner/ssh/$name.cpp"); done
for name in target_hosts target_json; do sources+=("$root/runner/runs/$name.cpp"); done
for name in attempt chunk frame hash_cache laggard message run_spec; do sources+=("$root/runner/protocol/$name.cpp"); done
for source in "$root"/runner/agent/*.cpp; do
    [ "$(basename "$source")" = main.cpp ] || sources+=("$source")
done
for source in "$root"/core/base/*.cpp; do
    [ "$(basename "$source")" = paths.cpp ] || sources+=("$source")
done
flags=(-std=c++20 -O1 -g "-I$root" "-fsanitize=address,undefined" -fno-sanitize-recover=all)
objects=()
for source in "${sources[@]}"; do
    object=$build/$(echo "${source#"$root"/}" | tr / _).o
    objects+=("$object")
    [ "$object" -nt "$source" ] || clang++ "${flags[@]}" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
done
rm -f "$build/parts.a"
ar rcs "$build/parts.a" "${objects[@]}" # each target takes what it needs
for target; do
    clang++ "${flags[@]}" -fsanitize=fuzzer "$here/${target}_fuzz.cpp" "$build/parts.a" -lsodium -lzstd \
        -o "$build/$target"
    mkdir -p "$here/corpus/$target"
    (cd "$build" && "./$target" -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 "$here/corpus/$target")
done
