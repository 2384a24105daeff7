#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Packs a complete build as .deb, checks it, installs it, starts what it installed and removes it again.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: packaging/check-deb.sh [--system] [--keep FILE] [BUILD]
  BUILD      folder of a complete build (default build/release); nothing is compiled
  --system   install with apt-get on this computer (needs root); default: into a scratch folder, for which any user will do
  --keep F   copy the package to F
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/release system=0 keep=
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --system) system=1 ;;
        --keep) keep=${2:?--keep needs a file}; shift ;;
        -*) usage >&2; exit 2 ;;
        *) build=$1 ;;
    esac
    shift
done

# shellcheck source=packaging/xvfb.sh
source "$root/packaging/xvfb.sh"
scratch=$(mktemp -d)
xvfb_pid=
cleanup() {
    [[ -z $xvfb_pid ]] || kill "$xvfb_pid" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT
fail() {
    echo "check-deb.sh: FAILED: $*" >&2
    exit 1
}
say() { echo "check-deb.sh: $*"; }

[[ -f $build/CPackConfig.cmake ]] || fail "$build is no build folder: there is no CPackConfig.cmake"
build=$(cd "$build" && pwd -P)
for tool in cpack dpkg dpkg-deb; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done

# --- the package ---
(cd "$build" && cpack -G DEB -B "$scratch/packed") >"$scratch/cpack.log" 2>&1 \
    || { tail -n 20 "$scratch/cpack.log" >&2; fail "cpack"; }
packages=("$scratch"/packed/*.deb)
[[ ${#packages[@]} == 1 && -f ${packages[0]} ]] || fail "cpack made ${#packages[@]} packages"
deb=${packages[0]}
[[ -z $keep ]] || cp "$deb" "$keep"
say "$(basename "$deb"), $(($(stat -c %s "$deb") / 1024)) KiB"

# --- what is in it ---
for field in Package Version Architecture Maintainer Section Depends Installed-Size Description; do
    [[ -n $(dpkg-deb --field "$deb" "$field") ]] || fail "the package has no $field"
done
# Older ones are not safe (packaging/cmake/FourfoldVersions.cmake).
[[ $(dpkg-deb --field "$deb" Depends) == *"libssh-4 (>= 0.10.6)"* ]] || fail "an old libssh would do"
say "depends on $(dpkg-deb --field "$deb" Depends)"
dpkg-deb --contents "$deb" | awk '{print $6}' | sed 's|^\./|/|' | sort >"$scratch/contents"
id=io.github.fourfold.Fourfold
for file in bin/fourfold bin/fourfold-agent bin/fourfold-desktop share/applications/$id.desktop \
    share/metainfo/$id.metainfo.xml share/icons/hicolor/scalable/apps/$id.svg share/doc/fourfold/copyright \
    share/bash-completion/completions/fourfold share/zsh/site-functions/_fourfold \
    share/fourfold/presets/plans/this-computer.plan.json share/fourfold/resources/guide/01-tour.md; do
    grep -qx "/usr/$file" "$scratch/contents" || fail "/usr/$file is not in the package"
done
grep -q '^/usr/share/man/man1/fourfold-desktop\.1' "$scratch/contents" || fail "no man page of the desktop"
# Installed files lie under /usr and belong to root.
! grep -qvE '^/(usr/.*)?$' "$scratch/contents" || fail "$(grep -vE '^/(usr/.*)?$' "$scratch/contents" | head -n 3)"
[[ -z $(dpkg-deb --contents "$deb" | awk '$2 != "root/root"') ]] || fail "a file does not belong to root"

dpkg-deb --extract "$deb" "$scratch/files"
checked=0
if command -v desktop-file-validate >/dev/null; then
    said=$(desktop-file-validate "$scratch/files/usr/share/applications/$id.desktop" 2>&1) || fail "$said"
    [[ -z $said ]] || fail "$said"
    checked=$((checked + 1))
fi
if command -v appstreamcli >/dev/null; then
    appstreamcli validate --no-net "$scratch/files/usr/share/metainfo/$id.metainfo.xml" >"$scratch/out" \
        || { cat "$scratch/out" >&2; fail "appstreamcli"; }
    checked=$((checked + 1))
fi
if command -v lintian >/dev/null; then
    # The project has no mail address of its own yet.
    lintian --fail-on error --tag-display-limit 0 \
        --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$deb" >"$scratch/out" 2>&1 \
        || { cat "$scratch/out" >&2; fail "lintian"; }
    grep '^W' "$scratch/out" || true
    checked=$((checked + 1))
else
    say "not checked by lintian: it is not installed"
fi
say "$checked checkers found nothing"

# --- install, start, remove ---
if ((system)); then
    prefix=/usr
    [[ $EUID == 0 ]] || fail "--system needs root"
    ! dpkg-query --status fourfold >/dev/null 2>&1 || fail "a package fourfold is installed already"
    apt-get install --yes --no-install-recommends "$deb" >"$scratch/out" 2>&1 \
        || { tail -n 20 "$scratch/out" >&2; fail "apt-get install"; }
else
    prefix=$scratch/target/usr
    mkdir -p "$scratch/target/var/lib/dpkg/"{updates,info,triggers}
    : >"$scratch/target/var/lib/dpkg/status"
    # Dependencies are this computer's: the scratch folder holds nothing else.
    dpkg --root="$scratch/target" --log=/dev/null --force-not-root --force-script-chrootless --force-depends \
        --install "$deb" >"$scratch/out" 2>&1 || { tail -n 20 "$scratch/out" >&2; fail "dpkg --install"; }
fi
remove() {
    if ((system)); then
        apt-get purge --yes fourfold >"$scratch/out" 2>&1
    else
        dpkg --root="$scratch/target" --log=/dev/null --force-not-root --force-script-chrootless --purge fourfold \
            >"$scratch/out" 2>&1
    fi
}
! ((system)) || trap 'remove || true; cleanup' EXIT

export HOME=$scratch/home XDG_RUNTIME_DIR=$scratch XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config
export XDG_CACHE_HOME=$scratch/cache
unset FOURFOLD_PRESETS FOURFOLD_RESOURCES
mkdir -p "$HOME"
cd "$HOME"
version=$("$prefix/bin/fourfold" --version) || fail "fourfold --version"
[[ $version == *"$(dpkg-deb --field "$deb" Version | sed 's/-.*//')"* ]] || fail "fourfold --version says $version"
"$prefix/bin/fourfold" predict llama-3.1-8b-tsubame4-16 >"$scratch/out" || fail "fourfold predict"
grep -q '^FITS' "$scratch/out" || fail "fourfold predict: $(head -n 3 "$scratch/out")"
# The presets are the installed ones: a broken rule names the file.
said=$("$prefix/bin/fourfold" predict llama-3.1-8b-tsubame4-16 --set layout.tp=3 2>&1) && fail "tp 3 x dp 8 was taken"
[[ $said == *"$prefix/share/fourfold/presets/plans/"* ]] || fail "presets from elsewhere: $said"
if [[ -x $prefix/bin/fourfold-trainer ]]; then
    # On the user's computer LibTorch is where `fourfold libtorch get` puts it, or nowhere.
    unset FOURFOLD_LIBTORCH LD_LIBRARY_PATH
    ! readelf -d "$prefix"/bin/fourfold-trainer* | grep -E 'R(UN)?PATH' || fail "a trainer names a folder of its builder"
    torch=$(sed -n 's/^FOURFOLD_LIBTORCH:PATH=//p' "$build/CMakeCache.txt")
    version=$(sed -n 's/^torch==\([0-9.]*\) .*/\1/p' "$prefix/share/fourfold/packaging/libtorch-cpu.txt")
    cached=$XDG_CACHE_HOME/fourfold/libtorch-$version
    mkdir -p "$cached"
    ln -s "$torch" "$cached/torch"
    [[ ! -d $torch/../nvidia ]] || ln -s "$torch/../nvidia" "$cached/nvidia"
    [[ $("$prefix/bin/fourfold" libtorch where) == "$cached/torch" ]] || fail "LibTorch of the cache is not found"
    "$prefix/bin/fourfold" run this-computer --steps 2 >"$scratch/out" 2>&1 \
        || { tail -n 20 "$scratch/out" >&2; fail "fourfold run"; }
    say "trained with the LibTorch of the cache"
else
    say "there is no trainer in it: not trained"
fi
"$prefix/bin/fourfold" timeline this-computer --output "$scratch/timeline.svg" || fail "fourfold timeline"

pages=0
picture() { # NAME ENVIRONMENT...
    local page=$1
    shift
    env "$@" "$prefix/bin/fourfold-desktop" --screenshot "$scratch/$page.png" --page "$page" --size 1280x800 \
        || fail "fourfold-desktop --page $page"
    (($(stat -c %s "$scratch/$page.png") > 20000)) || fail "the picture of $page is empty"
    pages=$((pages + 1))
}
picture plan QT_QPA_PLATFORM=offscreen
if command -v Xvfb >/dev/null; then
    start_xvfb "$scratch" || fail "Xvfb does not start"
    for page in plan search compare runs history; do
        picture "$page" QT_QPA_PLATFORM=xcb DISPLAY="$xvfb_display"
    done
else
    say "not checked on an X server: there is no Xvfb"
fi
say "started from $prefix: command, timeline, $pages pictures of the window"

cd /
trap cleanup EXIT
remove || { tail -n 20 "$scratch/out" >&2; fail "removing"; }
while read -r file; do
    [[ $file == */ || ! -e ${prefix%/usr}$file ]] || fail "$file is left after the removal"
done <"$scratch/contents"
say "removed without a trace"
