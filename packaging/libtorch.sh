#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Gets LibTorch: downloads pinned wheels and unpacks them side by side. Sourced by packaging/setup.sh; started by
# `fourfold libtorch get`, as libtorch.sh [--cuda], it fetches LibTorch into the user's cache.
#
# libtorch_get FOLDER REQUIREMENTS...
#   FOLDER gets torch/, nvidia/ ... of every wheel named in the REQUIREMENTS files (lines "name==version
#   --hash=sha256:..."), and a stamp with those lines. Nothing is done when the stamp already has them all.
#   Work happens in FOLDER.partial, which a later call continues after an interruption; one rename makes it FOLDER.
#   Wheels are kept in FOLDER's neighbour dl/ until FOLDER is complete. Prints one line for each thing it does.

readonly kLibtorchStamp=".fourfold-wheels"

# The wheels' platform tags, newest first (pip does not derive the older ones from the newest).
readonly -a kLibtorchPlatforms=(manylinux_2_28_x86_64 manylinux_2_27_x86_64 manylinux_2_25_x86_64
    manylinux_2_17_x86_64 manylinux2014_x86_64 any)

libtorch_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
readonly libtorch_here

# The pinned version: 2.11.0.
libtorch_version() {
    sed -n 's/^torch==\([0-9.]*\) .*/\1/p' "$libtorch_here/libtorch-cpu.txt"
}

# Fourfold's part of the user's cache, as core/base/paths.h finds it.
libtorch_cache() {
    local cache=${XDG_CACHE_HOME:-}
    [[ $cache == /* ]] || cache=$HOME/.cache
    printf '%s\n' "$cache/fourfold"
}

# Where LibTorch lies in the user's cache; its torch/ is what FOURFOLD_LIBTORCH means.
libtorch_folder() {
    printf '%s\n' "$(libtorch_cache)/libtorch-$(libtorch_version)"
}

# Requirement lines of files, without comments.
libtorch_requirements() {
    sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$@"
}

# Is every line of the REQUIREMENTS files in FOLDER's stamp?
libtorch_complete() {
    local folder=$1 line
    shift
    [[ -f $folder/$kLibtorchStamp ]] || return 1
    while IFS= read -r line; do
        grep -qxF -- "$line" "$folder/$kLibtorchStamp" || return 1
    done < <(libtorch_requirements "$@")
}

# Prints the wheel in folder $1 whose name begins like requirement $2 and whose SHA-256 is right; status 1: none.
libtorch_find_wheel() {
    local downloads=$1 line=$2 name hash wheel
    name=${line%%==*}
    name=${name//-/_}
    hash=${line##*sha256:}
    for wheel in "$downloads/$name"-*.whl; do
        [[ -f $wheel ]] || continue
        if [[ $(sha256sum "$wheel" | cut -d' ' -f1) == "$hash" ]]; then
            printf '%s\n' "$wheel"
            return 0
        fi
    done
    return 1
}

# Prints a python3 that has pip; status 1: none. One put first in PATH by the user may have none; Debian's has.
libtorch_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            printf '%s\n' "$python"
            return 0
        fi
    done
    return 1
}

# Downloads the wheel of one requirement line. pip refuses a file with another SHA-256.
libtorch_download() {
    local downloads=$1 line=$2 platform status=0 python
    python=$(libtorch_python) || {
        echo "there is no pip" >&2
        return 1
    }
    local -a tags=()
    for platform in "${kLibtorchPlatforms[@]}"; do
        tags+=(--platform "$platform")
    done
    local requirement
    requirement=$(mktemp "$downloads/requirement.XXXXXX")
    printf '%s\n' "$line" >"$requirement"
    "$python" -m pip --disable-pip-version-check download --quiet --no-deps --require-hashes --only-binary=:all: \
        --implementation cp --python-version 3.11 --abi cp311 --abi none "${tags[@]}" \
        --dest "$downloads" --requirement "$requirement" || status=$?
    rm -f "$requirement"
    return "$status"
}

libtorch_get() {
    local folder=$1 partial=$1.partial downloads line name wheel
    shift
    downloads=$(dirname "$folder")/dl
    mkdir -p "$downloads"
    if [[ ! -d $partial ]]; then
        # Add to a complete earlier set through links; a folder without a stamp was not made here and is not trusted.
        if [[ -f $folder/$kLibtorchStamp ]]; then
            rm -rf "$partial.links"
            cp -al "$folder" "$partial.links"
            # The stamp is appended to below: it must not be the same file as the one in use.
            cp --remove-destination "$folder/$kLibtorchStamp" "$partial.links/$kLibtorchStamp"
            mv "$partial.links" "$partial"
        else
            mkdir "$partial"
        fi
    fi
    touch "$partial/$kLibtorchStamp"
    rm -f "$downloads"/requirement.*
    while IFS= read -r line; do
        grep -qxF -- "$line" "$partial/$kLibtorchStamp" && continue
        name=${line%% *}
        if wheel=$(libtorch_find_wheel "$downloads" "$line"); then
            echo "$name: already downloaded"
        else
            # What is there under this name is cut off or another file: pip would not replace it.
            local stale=${line%%==*}
            rm -f "$downloads/${stale//-/_}"-*.whl
            echo "$name: downloading"
            libtorch_download "$downloads" "$line" || return 1
            wheel=$(libtorch_find_wheel "$downloads" "$line") || {
                echo "$name: the downloaded file does not have the pinned SHA-256" >&2
                return 1
            }
        fi
        echo "$name: unpacking"
        unzip -qo "$wheel" -d "$partial" || return 1
        printf '%s\n' "$line" >>"$partial/$kLibtorchStamp"
    done < <(libtorch_requirements "$@")
    # Written data first, then the rename that makes it count.
    sync -f "$partial"
    if [[ -d $folder ]]; then
        rm -rf "$folder.old"
        mv "$folder" "$folder.old"
    fi
    mv "$partial" "$folder"
    rm -rf "$folder.old"
    while IFS= read -r line; do
        name=${line%%==*}
        rm -f "$downloads/${name//-/_}"-*.whl
    done < <(libtorch_requirements "$@")
    rmdir "$downloads" 2>/dev/null || true
}

# libtorch_get_alone FOLDER REQUIREMENTS...: libtorch_get where it is needed, one script at a time.
libtorch_get_alone() {
    local folder=$1 lock
    mkdir -p "$(dirname "$folder")"
    exec {lock}>"$(dirname "$folder")/lock"
    flock "$lock"
    # Another script may have fetched it while this one waited for the lock.
    if ! libtorch_complete "$@"; then
        libtorch_get "$@"
    fi
    exec {lock}>&-
}

libtorch_main() {
    set -euo pipefail
    local folder
    local -a requirements=("$libtorch_here/libtorch-cpu.txt")
    case ${1:-} in
        "") ;;
        --cuda) requirements+=("$libtorch_here/libtorch-cuda.txt") ;;
        *)
            echo "usage: libtorch.sh [--cuda]   gets LibTorch $(libtorch_version) into $(libtorch_cache)" >&2
            exit 2
            ;;
    esac
    folder=$(libtorch_folder)
    if libtorch_complete "$folder" "${requirements[@]}"; then
        echo "LibTorch $(libtorch_version) is in $folder/torch already"
        return
    fi
    if [[ $(uname -m) != x86_64 ]]; then
        echo "fourfold: the pinned LibTorch is for x86_64, this is $(uname -m) (set FOURFOLD_LIBTORCH to one for it)" >&2
        exit 1
    fi
    if ! libtorch_python >/dev/null || ! command -v unzip >/dev/null; then
        echo "fourfold: pip and unzip are needed to get LibTorch (sudo apt-get install python3-pip unzip)" >&2
        exit 1
    fi
    libtorch_log=$(mktemp)
    # One line says what went wrong, however much pip has to say.
    libtorch_ended() {
        (($1 == 0)) || echo "fourfold: LibTorch is not complete: $(tail -n 1 "$libtorch_log") (check the network and the" \
            "free disk space, 4 GiB, and give the command again: what is finished is kept)" >&2
        rm -f "$libtorch_log"
    }
    trap 'libtorch_ended $?' EXIT
    echo "LibTorch $(libtorch_version) goes to $folder"
    libtorch_get_alone "$folder" "${requirements[@]}" 2>"$libtorch_log"
    echo "LibTorch $(libtorch_version) is in $folder/torch"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    libtorch_main "$@"
fi
