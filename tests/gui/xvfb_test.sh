#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program on a real X server: it starts, shows each page, and what it shows is no single colour. Argument:
# fourfold-desktop. Skipped (77) where there is no Xvfb.
set -euo pipefail
program=${1:?fourfold-desktop}
command -v Xvfb >/dev/null || { echo "skipped: there is no Xvfb"; exit 77; }
scratch=$(mktemp -d)
display=
cleanup() {
    [[ -z $display ]] || kill "$display" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT

# Xvfb says the number of the display that it found free.
exec 3<>"$scratch/number"
Xvfb -displayfd 3 -screen 0 1400x900x24 -nolisten tcp >"$scratch/x.log" 2>&1 &
display=$!
for _ in $(seq 100); do
    [[ -s $scratch/number ]] && break
    kill -0 "$display" 2>/dev/null || { cat "$scratch/x.log" >&2; echo "FAILED: Xvfb does not start" >&2; exit 1; }
    sleep 0.1
done
DISPLAY=:$(head -n 1 "$scratch/number")
export DISPLAY QT_QPA_PLATFORM=xcb
export HOME=$scratch/home XDG_RUNTIME_DIR=$scratch XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config
mkdir -p "$HOME"
for page in plan search compare runs history; do
    "$program" --screenshot "$scratch/$page.png" --page "$page" --size 1280x800
    bytes=$(stat -c %s "$scratch/$page.png")
    ((bytes > 20000)) || { echo "FAILED: the picture of $page has $bytes bytes" >&2; exit 1; }
done
echo "ok: five pages on $DISPLAY"
