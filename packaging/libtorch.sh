#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Gets LibTorch: downloads pinned wheels and unpacks them side by side. Sourced by packaging/setup.sh.
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

# Downloads the wheel of one requirement line. pip refuses a file with another SHA-256.
libtorch_download() {
    local downloads=$1 line=$2 platform status=0 python=python3
    local -a tags=()
    for platform in "${kLibtorchPlatforms[@]}"; do
        tags+=(--platform "$platform")
    done
    # A python3 put first in PATH by the user may have no pip; Debian's has.
    "$python" -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
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
