#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lets libFuzzer (clang, with ASan and UBSan) search for inputs that break the parsers: tests/fuzz/run.sh [SECONDS
# [TARGET ...]]. SECONDS are for each target (default 120). New inputs stay in the build folder, as does what breaks a
# target; the corpus beside this file is kept small by hand.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-120}
shift || true
[ $# -gt 0 ] || set -- wire events programs upload target files plans schedules expressions traces safetensors tokens
command -v clang++ >/dev/null || { echo "clang++ is not installed: nothing was fuzzed" >&2; exit 1; }
build=${FOURFOLD_FUZZ_BUILD:-$root/build/fuzz}
mkdir -p "$build"
sources=("$root/core/history/training_log.cpp" "$root/runner/runs/slurm_script.cpp")
for name in home_path ssh_config_notes; do sources+=("$root/runner/ssh/$name.cpp"); done
for name in target_hosts target_json; do sources+=("$root/runner/target/$name.cpp"); done
for name in attempt chunk frame hash_cache straggler message run_spec; do sources+=("$root/runner/protocol/$name.cpp"); done
sources+=("$root"/runner/trainer/data/*.cpp "$root"/runner/trainer/checkpoint/{checksums,safetensors}.cpp "$root"/runner/agent/*/*.cpp)
for room in base expression layout plan model hardware stack program cost schedule memory predict search; do
    sources+=("$root/core/$room"/*.cpp)
done
flags=(-std=c++20 -O1 -g "-I$root" "-I$here" "-DFOURFOLD_SOURCE_TREE=\"$root\""
    "-fsanitize=address,undefined,float-cast-overflow" -fno-sanitize-recover=all)
objects=() commands=()
for source in "${sources[@]}"; do
    object=$build/$(echo "${source#"$root"/}" | tr / _).o
    objects+=("$object")
    [ "$object" -nt "$source" ] || commands+=("$source" "$object")
done
# shellcheck disable=SC2016 # the inner shell expands them
printf '%s\0' "${commands[@]}" | xargs -0 -r -n 2 -P "$(nproc)" \
    bash -c 'clang++ "${@:1:$#-2}" -fsanitize=fuzzer-no-link -c "${@: -2:1}" -o "${@: -1}"' compile "${flags[@]}"
rm -f "$build/parts.a"
ar rcs "$build/parts.a" "${objects[@]}" # each target takes what it needs
for target; do
    clang++ "${flags[@]}" -fsanitize=fuzzer "$here/${target}_fuzz.cpp" "$build/parts.a" -lsodium -lzstd \
        -o "$build/$target"
    mkdir -p "$build/corpus/$target"
    (cd "$build" && "./$target" -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 "corpus/$target" \
        "$here/corpus/$target")
done
