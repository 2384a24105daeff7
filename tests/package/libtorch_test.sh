#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# libtorch_get on two small wheels made here and served from a folder (pip's own --find-links, no network): from
# nothing, again, after interruptions, with a wheel added, with a wrong file, and over a folder made by hand. Then
# `fourfold libtorch get` of an installed program. Argument: the program.
set -euo pipefail
program=${1:?the program fourfold}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck source=packaging/libtorch.sh
source "$root/packaging/libtorch.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
expect() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" || fail "$what"
    echo "ok: $what"
}
refuse() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        fail "$what"
    fi
    echo "ok: $what"
}

libtorch_python >/dev/null || fail "there is no pip (package python3-pip)"

# make_wheel NAME TEXT [VERSION]: a wheel NAME-VERSION (1.0) with one file NAME/content that holds TEXT.
make_wheel() {
    python3 - "$scratch/served" "$1" "$2" "${3:-1.0}" <<'PY'
import sys, zipfile
folder, name, text, version = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{name}/content", text)
    info = f"{name}-{version}.dist-info"
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", "")
PY
}
requirement() { # NAME [VERSION]: its requirement line
    local sum version=${2:-1.0}
    sum=$(sha256sum "$scratch/served/$1-$version-py3-none-any.whl" | cut -d' ' -f1)
    echo "$1==$version --hash=sha256:$sum"
}

mkdir "$scratch/served" "$scratch/cache"
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$scratch/served PIP_CONFIG_FILE=/dev/null PIP_CACHE_DIR=$scratch/pip
make_wheel fourfold_first one
make_wheel fourfold_second two
{
    echo "# a comment"
    requirement fourfold_first
} >"$scratch/first.txt"
requirement fourfold_second >"$scratch/second.txt"
folder=$scratch/cache/libtorch
partial=$folder.partial

refuse "nothing is complete before the start" libtorch_complete "$folder" "$scratch/first.txt"
libtorch_get "$folder" "$scratch/first.txt" >"$scratch/log"
expect "a fresh start downloads" grep -q "fourfold_first==1.0: downloading" "$scratch/log"
expect "and unpacks" grep -qx one "$folder/fourfold_first/content"
expect "and is complete" libtorch_complete "$folder" "$scratch/first.txt"
refuse "and keeps no wheel" test -e "$scratch/cache/dl"
refuse "and leaves no partial folder" test -e "$partial"
refuse "a further wheel makes it incomplete" libtorch_complete "$folder" "$scratch/first.txt" "$scratch/second.txt"

libtorch_get "$folder" "$scratch/first.txt" "$scratch/second.txt" >"$scratch/log"
refuse "what is there is not fetched again" grep -q fourfold_first "$scratch/log"
expect "the further wheel is there" grep -qx two "$folder/fourfold_second/content"
expect "beside the first" grep -qx one "$folder/fourfold_first/content"
expect "both count" libtorch_complete "$folder" "$scratch/first.txt" "$scratch/second.txt"

# Interrupted while it unpacked the second wheel: half a file, no line in the stamp.
mv "$folder" "$partial"
sed -i '$d' "$partial/$kLibtorchStamp"
printf 't' >"$partial/fourfold_second/content"
libtorch_get "$folder" "$scratch/first.txt" "$scratch/second.txt" >"$scratch/log"
refuse "after an interruption the finished part is kept" grep -q fourfold_first "$scratch/log"
expect "and the half one is made whole" grep -qx two "$folder/fourfold_second/content"

# Interrupted while it downloaded: a cut-off wheel.
rm -rf "$folder"
mkdir "$scratch/cache/dl"
head -c 100 "$scratch/served/fourfold_first-1.0-py3-none-any.whl" >"$scratch/cache/dl/fourfold_first-1.0-py3-none-any.whl"
libtorch_get "$folder" "$scratch/first.txt" >"$scratch/log"
expect "a cut-off download is replaced" grep -qx one "$folder/fourfold_first/content"

# Wheels that are there already are used without any download.
rm -rf "$folder"
mkdir "$scratch/cache/dl"
cp "$scratch/served/"*first*.whl "$scratch/cache/dl"
PIP_FIND_LINKS=/nonexistent libtorch_get "$folder" "$scratch/first.txt" >"$scratch/log"
expect "a wheel with the right SHA-256 is not downloaded again" grep -q "already downloaded" "$scratch/log"

# A folder without a stamp may be anything.
rm -rf "$folder"
mkdir -p "$folder/fourfold_first"
echo other >"$folder/fourfold_first/content"
refuse "a folder made by hand is not trusted" libtorch_complete "$folder" "$scratch/first.txt"
libtorch_get "$folder" "$scratch/first.txt" >"$scratch/log"
expect "and is replaced" grep -qx one "$folder/fourfold_first/content"

# Another file under the pinned name: refused, and nothing counts as complete.
rm -rf "$folder"
make_wheel fourfold_first changed
refuse "a wheel with another SHA-256 is refused" libtorch_get "$folder" "$scratch/first.txt" >"$scratch/log" 2>&1
expect "and pip says why" grep -qi hash "$scratch/log"
refuse "and nothing of it is unpacked" test -e "$folder"
refuse "nor complete" libtorch_complete "$folder" "$scratch/first.txt"

# The command of an installed program, with pins of its own.
version=$(libtorch_version)
expect "the pinned version is read" grep -q "^torch==$version --hash" "$root/packaging/libtorch-cpu.txt"
scripts=$scratch/usr/share/fourfold/packaging
mkdir -p "$scratch/usr/bin" "$scripts"
cp "$program" "$scratch/usr/bin/fourfold"
cp "$root/packaging/libtorch.sh" "$scripts"
make_wheel torch libraries "$version"
requirement torch "$version" >"$scripts/libtorch-cpu.txt"
make_wheel fourfold_first one
requirement fourfold_first >"$scripts/libtorch-cuda.txt"
export XDG_CACHE_HOME=$scratch/xdg
installed=$scratch/usr/bin/fourfold
status=0
PIP_FIND_LINKS=$scratch/nothing "$installed" libtorch get >"$scratch/log" 2>"$scratch/errors" || status=$?
[[ $status == 1 ]] || fail "without a wheel the command ends with status $status"
[[ $(wc -l <"$scratch/errors") == 1 ]] || fail "not one line: $(cat "$scratch/errors")"
expect "what cannot be had is named" \
    grep -q "^fourfold: LibTorch is not complete: .*torch==$version.*(check the network" "$scratch/errors"
"$installed" libtorch get >"$scratch/log"
cached=$XDG_CACHE_HOME/fourfold/libtorch-$version
expect "the command fetches into the user's cache" grep -qx libraries "$cached/torch/content"
refuse "and without --cuda nothing more" test -e "$cached/fourfold_first"
"$installed" libtorch get >"$scratch/log"
expect "a second call says that nothing is to do" grep -q "is in $cached/torch already" "$scratch/log"
"$installed" libtorch get --cuda >"$scratch/log"
expect "and --cuda adds the rest" grep -qx one "$cached/fourfold_first/content"
echo "all passed"
