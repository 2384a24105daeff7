#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What packaging/run.sh and packaging/test.sh share: progress, Debian packages, LibTorch, configure, build.
# Run on its own it does just that set-up: packaging/setup.sh [--yes]
#
# Environment: FOURFOLD_LIBTORCH (folder of a LibTorch 2.11.0 to use instead of the pinned wheels), FOURFOLD_TRAINER=OFF
# (planner alone, no LibTorch), FOURFOLD_JOBS (parallel compilers), CI=true (never asks).
set -euo pipefail

FOURFOLD_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
readonly FOURFOLD_ROOT
# shellcheck source=packaging/libtorch.sh
source "$FOURFOLD_ROOT/packaging/libtorch.sh"
kLibtorchVersion=$(libtorch_version)
readonly kLibtorchVersion

setup_script=${0##*/}
setup_total=1 # steps of this script, for the progress line
setup_done=0
setup_step=""
setup_log=""
setup_hint=""
setup_yes=false
[[ ${CI:-} == true ]] && setup_yes=true
setup_preset=release
[[ ${FOURFOLD_TRAINER:-ON} == OFF ]] && setup_preset=planner
setup_build=$FOURFOLD_ROOT/build/$setup_preset
setup_logs=$FOURFOLD_ROOT/build/logs

# --- progress ---------------------------------------------------------------------------------------------------------

# step NAME LOG HINT: begins a step. HINT says how to go on when it fails.
step() {
    setup_done=$((setup_done + 1))
    setup_step=$1
    setup_log=$setup_logs/$2.log
    setup_hint=$3
}

# say WHAT: the progress line of the current step.
say() {
    printf '[%d/%d] %s: %s\n' "$setup_done" "$setup_total" "$setup_step" "$*"
}

# Shows where a long command is: on a terminal the latest line of its output, else one line a minute.
progress() {
    local line last=$SECONDS
    if [[ -t 1 ]]; then
        local width
        width=$(tput cols 2>/dev/null || echo 80)
        while IFS= read -r line; do
            printf '\r\033[K    %s' "${line:0:width-5}"
        done
        printf '\r\033[K'
    else
        while IFS= read -r line; do
            if ((SECONDS - last >= 60)); then
                printf '    %s\n' "${line:0:150}"
                last=$SECONDS
            fi
        done
    fi
}

# logged COMMAND...: runs it with its output in the step's log and a progress display.
logged() {
    "$@" </dev/null 2>&1 | tee "$setup_log" | progress
}

# Ends the script after a failed step: which step, the end of its log, how to go on.
step_failed() {
    local status=$1
    # Set -E brings the trap into subshells too; only the script itself reports.
    [[ $BASHPID == "$$" ]] || exit "$status"
    trap - ERR
    {
        printf '\n%s: step %d of %d, "%s", failed (exit status %d)\n' \
            "$setup_script" "$setup_done" "$setup_total" "$setup_step" "$status"
        if [[ -s $setup_log ]]; then
            printf 'Last lines of %s:\n' "${setup_log#"$FOURFOLD_ROOT"/}"
            tail -n 25 "$setup_log" | sed 's/^/    /'
        fi
        printf 'How to go on: %s Then run %s again: it continues from here.\n' "$setup_hint" "$setup_script"
    } >&2
    exit 1
}
trap 'step_failed $?' ERR
trap 'trap - ERR; printf "\n%s: stopped in step \"%s\"; run it again to go on from here\n" "$setup_script" "$setup_step" >&2; exit 130' INT TERM
set -E

# give_up MESSAGE: one line, for what needs the user's decision.
give_up() {
    trap - ERR
    printf '%s: step %d of %d, "%s": %s\n' "$setup_script" "$setup_done" "$setup_total" "$setup_step" "$1" >&2
    exit 1
}

# --- Debian packages --------------------------------------------------------------------------------------------------

# Prints the packages of the groups named that are not installed.
missing_packages() {
    local -a wanted=()
    local package group
    while read -r package group _; do
        [[ $package == "" || $package == \#* ]] && continue
        [[ " $* " == *" $group "* ]] && wanted+=("$package")
    done <"$FOURFOLD_ROOT/packaging/debian-packages.txt"
    comm -23 <(printf '%s\n' "${wanted[@]}" | LC_ALL=C sort -u) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
            sed -n 's/^installed //p' | LC_ALL=C sort -u)
}

# Prints the units that the packages named would start. Tests need their programs; nobody asked for a server on this
# computer.
services_of() {
    local package
    for package in "$@"; do
        case $package in
            openssh-server) echo ssh.service ssh.socket ;;
            munge | slurmctld | slurmd) echo "$package.service" ;;
        esac
    done | paste -sd ' '
}

apt_install() {
    local -a as_root=() keep_off=(env DEBIAN_FRONTEND=noninteractive) units
    ((EUID == 0)) || as_root=(sudo)
    read -ra units <<<"$(services_of "$@")"
    if ((${#units[@]} > 0)); then
        if [[ -d /run/systemd/system ]]; then
            "${as_root[@]}" systemctl mask "${units[@]}"
        else
            keep_off+=(RUNLEVEL=1)
        fi
    fi
    "${as_root[@]}" apt-get update
    "${as_root[@]}" "${keep_off[@]}" apt-get install --yes --no-install-recommends "$@"
}

# Prints what an administrator types, in one line, for the packages named.
line_for_administrator() {
    local units
    units=$(services_of "$@")
    [[ -z $units || ! -d /run/systemd/system ]] || printf 'systemctl mask %s && ' "$units"
    printf 'apt-get install --yes --no-install-recommends %s\n' "$*"
}

# install_packages GROUP...
install_packages() {
    step "Packages" packages "Repair what apt-get reports above (network, package sources, disk space)."
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is not Debian or Ubuntu; going on with what is installed (packaging/debian-packages.txt lists what is needed)"
        return
    fi
    local -a missing
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]} == 0)); then
        say "all installed"
        return
    fi
    say "installing ${missing[*]}"
    if ((EUID != 0)); then
        local by_root
        by_root="an administrator has to install what is missing, then run $setup_script again. As root:
    $(line_for_administrator "${missing[@]}")"
        command -v sudo >/dev/null || give_up "there is no sudo here: $by_root"
        if ! $setup_yes; then
            [[ -t 0 ]] || give_up "needs a yes to use sudo (--yes), or $by_root"
            local answer
            read -r -p "    Install these packages with sudo apt-get? [y/N] " answer
            [[ $answer == [yY]* ]] || give_up "nothing was installed: $by_root"
        fi
        # Asks for the password here, where the user can see it, rather than inside the log.
        sudo -n apt-get --version >/dev/null 2>&1 || sudo -v || give_up "sudo does not let you install packages: $by_root"
    fi
    logged apt_install "${missing[@]}"
    local units
    units=$(services_of "${missing[@]}")
    if [[ -n $units && -d /run/systemd/system ]]; then
        say "installed for the tests and kept off: $units (systemctl unmask NAME turns one on)"
    fi
}

# --- LibTorch ---------------------------------------------------------------------------------------------------------

# Is there a CUDA toolkit? packaging/cmake/FourfoldTorch.cmake looks in the same places.
have_nvcc() {
    local root
    for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        [[ -n $root && -x $root/bin/nvcc && -f $root/include/cuda_runtime.h ]] && return 0
    done
    return 1
}

get_libtorch() {
    step "LibTorch $kLibtorchVersion" libtorch \
        "Check the network and the free disk space (4 GiB), or point FOURFOLD_LIBTORCH to a LibTorch $kLibtorchVersion folder."
    if [[ $setup_preset == planner ]]; then
        say "not needed (FOURFOLD_TRAINER=OFF: planner alone)"
        return
    fi
    local kind="CPU and CUDA"
    local -a requirements=("$FOURFOLD_ROOT/packaging/libtorch-cpu.txt")
    if have_nvcc; then
        requirements+=("$FOURFOLD_ROOT/packaging/libtorch-cuda.txt")
    else
        kind="CPU only, as there is no CUDA compiler (nvcc)"
    fi
    if [[ -n ${FOURFOLD_LIBTORCH:-} ]]; then
        say "using FOURFOLD_LIBTORCH=$FOURFOLD_LIBTORCH; trainer for $kind"
        return
    fi
    local folder
    folder=$(libtorch_folder)
    if libtorch_complete "$folder" "${requirements[@]}"; then
        say "already here; trainer for $kind"
    else
        [[ $(uname -m) == x86_64 ]] ||
            give_up "the pinned wheel is for x86_64, this is $(uname -m); set FOURFOLD_LIBTORCH to a LibTorch $kLibtorchVersion of this processor, or FOURFOLD_TRAINER=OFF to build the planner alone"
        say "downloading into $(libtorch_cache); trainer for $kind"
        logged libtorch_get_alone "$folder" "${requirements[@]}"
    fi
    FOURFOLD_LIBTORCH=$folder/torch
}

# --- configure and build ----------------------------------------------------------------------------------------------

# configure [planner]: everything, or for now what the command line needs, which neither LibTorch nor Qt is part of.
configure() {
    local what=${1:-}
    step "Configure${what:+ the $what}" "configure${what:+-$what}" "Repair what CMake reports above."
    local -a arguments=(--preset "$setup_preset" -DFOURFOLD_DESKTOP=ON)
    [[ $setup_preset == planner ]] ||
        arguments+=(-DFOURFOLD_TRAINER=ON "-DFOURFOLD_LIBTORCH=${FOURFOLD_LIBTORCH:-$(libtorch_folder)/torch}")
    # Ninja runs CMake again by itself when a CMake file changed; this is for changed arguments.
    local stamp=$setup_build/configured-with
    local wanted
    wanted=$(printf '%s\n' "$FOURFOLD_ROOT" "$(command -v cmake)" "$(have_nvcc && echo nvcc || echo no nvcc)" "${arguments[@]}")
    if [[ -f $setup_build/build.ninja && -f $stamp && $(<"$stamp") == "$wanted" ]]; then
        say "nothing changed"
        return
    fi
    [[ -z $what ]] || arguments+=(-DFOURFOLD_DESKTOP=OFF -DFOURFOLD_TRAINER=OFF)
    say "cmake ${arguments[*]}"
    rm -f "$stamp"
    logged cmake -S "$FOURFOLD_ROOT" "${arguments[@]}"
    [[ -n $what ]] || printf '%s\n' "$wanted" >"$stamp"
}

# Compilers that may run at once: the largest sources (those that see LibTorch) need 1.2 GiB each.
build_jobs() {
    local cores memory_kib jobs
    cores=$(nproc)
    memory_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
    jobs=$((memory_kib / 1258291))
    ((jobs > cores)) && jobs=$cores
    ((jobs < 1)) && jobs=1
    echo "${FOURFOLD_JOBS:-$jobs}"
}

# build TARGET [WHAT]: `fourfold`, `programs` or `all`.
build() {
    step "Build${2:+ the $2}" "build${2:+-$2}" "Repair the first error above."
    local jobs started=$SECONDS
    jobs=$(build_jobs)
    # A dry run finds in a moment whether there is anything to do.
    if [[ $(ninja -C "$setup_build" -n "$1" 2>/dev/null | tail -n 1) == "ninja: no work to do." ]]; then
        say "nothing changed"
        return
    fi
    say "compiling with $jobs jobs into ${setup_build#"$FOURFOLD_ROOT"/} (log: ${setup_log#"$FOURFOLD_ROOT"/})"
    logged ninja -C "$setup_build" -j "$jobs" "$1"
    say "done in $((SECONDS - started)) s"
}

# begin_set_up GROUP...: what every script begins with.
begin_set_up() {
    mkdir -p "$setup_logs"
    # Two scripts at once in one checkout would spoil each other's build.
    exec {setup_lock}>"$FOURFOLD_ROOT/build/lock"
    if ! flock -n "$setup_lock"; then
        echo "Another set-up is running in this checkout; waiting for it."
        flock "$setup_lock"
    fi
    local -a groups=("$@")
    if [[ $setup_preset != planner && -z ${FOURFOLD_LIBTORCH:-} ]]; then
        groups+=(trainer)
    fi
    install_packages "${groups[@]}"
}

# set_up_planner: the command `fourfold` alone, which predicts long before LibTorch is there and the rest is compiled.
set_up_planner() {
    configure planner
    build fourfold planner
}

# finish_set_up TARGET
finish_set_up() {
    get_libtorch
    configure
    build "$1"
    exec {setup_lock}>&-
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    for argument in "$@"; do
        case $argument in
            --yes) setup_yes=true ;;
            *)
                echo "usage: packaging/setup.sh [--yes]   installs what is missing, gets LibTorch, builds the programs" >&2
                exit 2
                ;;
        esac
    done
    setup_total=4
    begin_set_up build desktop
    finish_set_up programs
fi
