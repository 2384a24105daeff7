#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs packaging/run.sh and packaging/test.sh as an ordinary user on a Debian that holds nothing but its base system:
# debootstrap makes it in a folder, the last commit of this checkout is cloned into it. First there is no sudo: run.sh
# has to say what an administrator types, which is then typed. Prints the wall time of each part.
# Needs root, debootstrap and git. Mounts and processes live in namespaces of their own and end with this script.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: packaging/check-clean-debian.sh [--suite S] [--ccache F] [FOLDER]
  FOLDER       new or empty, or what debootstrap made of S; needs 14 GiB (default build/clean-debian)
  --suite S    bookworm (Debian 12, the default) or trixie (Debian 13)
  --ccache F   begin with a copy of this ccache, of the same compiler
TEXT
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
folder=$root/build/clean-debian suite=bookworm ccache=
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --suite) suite=${2:?--suite needs a name}; shift ;;
        --ccache) ccache=${2:?--ccache needs a folder}; shift ;;
        -*) usage >&2; exit 2 ;;
        *) folder=$1 ;;
    esac
    shift
done
folder=$(realpath -m "$folder")
# FOURFOLD_DEBIAN_MIRROR: where debootstrap gets Debian from, when not from its own default.
readonly root folder suite ccache mirror=${FOURFOLD_DEBIAN_MIRROR:-} user=ordinary inside=/srv/fourfold

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

# as_user COMMAND...: the same as an ordinary user.
as_user() {
    in_debian runuser -u "$user" -- env HOME="/home/$user" USER="$user" ${FOURFOLD_JOBS:+FOURFOLD_JOBS="$FOURFOLD_JOBS"} "$@"
}

# Ends as it should: without the rights to install, with one line for an administrator, which is left in a file.
says_what_to_install() { # FILE COMMAND...
    local file=$1
    shift
    ! as_user "$@" >"$file.all" 2>&1 || return 1
    cat "$file.all"
    sed -n 's/^    \(apt-get install .*\)$/\1/p' "$file.all" >"$file"
    [[ $(wc -l <"$file") == 1 ]]
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
made=false
if [[ -f $folder/etc/debian_version && ! -e $folder$inside ]]; then
    grep -qx "VERSION_CODENAME=$suite" "$folder/etc/os-release" || die "$folder holds another Debian than $suite"
    made=true
elif [[ -e $folder && -n $(ls -A "$folder") ]]; then
    die "$folder is not empty; give a new folder or remove it first"
fi

times=()
trap report EXIT
mkdir -p "$folder"
$made || timed "debootstrap" debootstrap --variant=minbase "$suite" "$folder" ${mirror:+"$mirror"}
copy_network_settings
# No service is started inside.
printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
chmod +x "$folder/usr/sbin/policy-rc.d"
git clone --quiet "$root" "$folder$inside"
in_debian useradd --create-home "$user"
if [[ -n $ccache ]]; then
    mkdir -p "$folder/home/$user/.cache"
    cp -a "$ccache" "$folder/home/$user/.cache/ccache"
fi
in_debian chown -R "$user:$user" "$inside" "/home/$user"

timed "run.sh without sudo" says_what_to_install "$folder/tmp/line" "$inside/packaging/run.sh" --yes --no-desktop
timed "what it says, as root" in_debian sh -c "apt-get update && $(<"$folder/tmp/line")"
timed "run.sh after that" as_user "$inside/packaging/run.sh" --no-desktop
timed "sudo for the user" in_debian sh -c "apt-get install --yes sudo && echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user"
timed "test.sh with sudo" as_user "$inside/packaging/test.sh" --yes
timed "test.sh as root" in_debian env ${FOURFOLD_JOBS:+FOURFOLD_JOBS="$FOURFOLD_JOBS"} "$inside/packaging/test.sh" --yes
