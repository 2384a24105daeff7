#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program on a real X server: it starts, shows each page, and what it shows is no single colour. Argument:
# fourfold-desktop.
set -euo pipefail
program=${1:?fourfold-desktop}
command -v Xvfb >/dev/null || { echo "FAILED: Xvfb is not installed (package xvfb)" >&2; exit 1; }
# shellcheck source=packaging/xvfb.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../packaging/xvfb.sh"
scratch=$(mktemp -d)
xvfb_pid=
cleanup() {
    [[ -z $xvfb_pid ]] || kill "$xvfb_pid" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT

start_xvfb "$scratch" || { echo "FAILED: Xvfb does not start" >&2; exit 1; }
DISPLAY=$xvfb_display
export DISPLAY QT_QPA_PLATFORM=xcb
export HOME=$scratch/home XDG_RUNTIME_DIR=$scratch XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config
mkdir -p "$HOME"
for page in plan search compare runs history; do
    "$program" --screenshot "$scratch/$page.png" --page "$page" --size 1280x800
    bytes=$(stat -c %s "$scratch/$page.png")
    ((bytes > 20000)) || { echo "FAILED: the picture of $page has $bytes bytes" >&2; exit 1; }
done

kill "$xvfb_pid"
wait "$xvfb_pid" || true
start_xvfb "$scratch" 8 || { echo "FAILED: Xvfb does not start with 8 bits" >&2; exit 1; }
DISPLAY=$xvfb_display
status=0
timeout 60 "$program" 2>"$scratch/err" || status=$?
if ((status != 1)) || ! grep -q "^fourfold-desktop: no window can be opened: the display has fewer" "$scratch/err"; then
    echo "FAILED: status $status on a display of 8 bits" >&2
    cat "$scratch/err" >&2
    exit 1
fi
echo "ok: five pages on a display of 24 bits, one line on one of 8"
