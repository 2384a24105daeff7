#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs packaging/run.sh and packaging/test.sh on a Debian 12 that holds nothing but its base system: debootstrap makes it
# in a folder, the last commit of this checkout is cloned into it. Prints the wall time of each part.
# Needs root, debootstrap and git. Mounts and processes live in namespaces of their own and end with this script.
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help || $# -gt 1 ]]; then
    echo "usage: packaging/check-clean-debian.sh [FOLDER]   FOLDER: new or empty, needs 12 GiB (default build/clean-debian)"
    exit $(($# > 1 ? 2 : 0))
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# FOURFOLD_DEBIAN_MIRROR: where debootstrap gets Debian from, when not from its own default.
readonly root suite=bookworm mirror=${FOURFOLD_DEBIAN_MIRROR:-}
folder=$(realpath -m "${1:-$root/build/clean-debian}")

die() {
    echo "check-clean-debian.sh: $1" >&2
    exit "${2:-2}"
}

# Copies what lets the host's apt and pip reach the network; nothing else of the host.
copy_network_settings() {
    local file
    cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
    mkdir -p "$folder/etc/apt/apt.conf.d" "$folder/usr/local/share/ca-certificates"
    for file in /etc/apt/apt.conf.d/*; do
        # Settings of the download only: hooks of the host's desktop have no business in there.
        if [[ -f $file ]] && grep -q '^Acquire' "$file" && ! grep -q 'Invoke' "$file"; then
            cp "$file" "$folder/etc/apt/apt.conf.d/"
        fi
    done
    for file in /usr/local/share/ca-certificates/*.crt; do
        [[ -f $file ]] && cp "$file" "$folder/usr/local/share/ca-certificates/"
    done
    [[ -f /etc/pip.conf ]] && cp /etc/pip.conf "$folder/etc/pip.conf"
    return 0
}

# in_debian COMMAND...: runs it as root inside, with a plain environment; nothing of it outlives the call.
in_debian() {
    local -a environment=(HOME=/root USER=root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    local name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [[ -v $name ]] && environment+=("$name=${!name}")
    done
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child --propagation private bash -c '
        set -e
        folder=$1
        shift
        # "ip netns" wants the root of a chroot to be a mount point.
        mount --bind "$folder" "$folder"
        mount -t proc proc "$folder/proc"
        mount -t sysfs sysfs "$folder/sys"
        mount --rbind /dev "$folder/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$folder/dev/shm"
        mount -t tmpfs tmpfs "$folder/run"
        exec chroot "$folder" env -i "$@"
    ' in-debian "$folder" "${environment[@]}" "$@" </dev/null
}

timed() { # NAME COMMAND...
    local name=$1 started=$SECONDS status=0
    shift
    echo "=== $name"
    "$@" || status=$?
    times+=("$(printf '%-28s %5d s   %s' "$name" $((SECONDS - started)) "$( ((status == 0)) && echo passed || echo "failed ($status)")")")
    return "$status"
}

report() {
    local status=$?
    if ((${#times[@]} > 0)); then
        echo "=== Wall times on $suite, $(nproc) cores"
        printf '%s\n' "${times[@]}"
        echo "The Debian system is left in $folder; remove it with: rm -rf --one-file-system $folder"
    fi
    exit "$status"
}

((EUID == 0)) || die "needs root (debootstrap and chroot)"
for program in debootstrap git unshare chroot; do
    command -v "$program" >/dev/null || die "$program is missing: apt-get install debootstrap git util-linux coreutils"
done
[[ ! -e $folder || -z $(ls -A "$folder") ]] || die "$folder is not empty; give a new folder or remove it first"

times=()
trap report EXIT
mkdir -p "$folder"
timed "debootstrap" debootstrap --variant=minbase "$suite" "$folder" ${mirror:+"$mirror"}
copy_network_settings
# No service is started inside.
printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
chmod +x "$folder/usr/sbin/policy-rc.d"
readonly inside=/srv/fourfold
git clone --quiet "$root" "$folder$inside"

timed "run.sh from nothing" in_debian "$inside/packaging/run.sh" --yes --no-desktop
timed "test.sh after it" in_debian "$inside/packaging/test.sh" --yes
timed "test.sh again" in_debian "$inside/packaging/test.sh" --yes
