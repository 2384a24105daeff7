#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the screen reader Orca says of each page while Tab goes through it: tests/bench/orca_walk.sh FOURFOLD-DESKTOP
# PLAN [STOPS]. A line each, pages apart. Needs Orca's own hundred packages, which no test should bring along:
#   apt-get install --no-install-recommends orca at-spi2-core dbus-x11 openbox speech-dispatcher xdotool xvfb
set -euo pipefail
program=$(readlink -f "${1:?fourfold-desktop}") plan=$(readlink -f "${2:?a plan}") stops=${3:-22}
scratch=$(mktemp -d)
started=() xvfb_pid=
cleanup() {
    for pid in "${started[@]}" $xvfb_pid; do kill "$pid" 2>/dev/null || true; done
    [[ -z ${DBUS_SESSION_BUS_PID:-} ]] || kill "$DBUS_SESSION_BUS_PID" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT
# shellcheck source=packaging/xvfb.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../packaging/xvfb.sh"
start_xvfb "$scratch"
export DISPLAY=$xvfb_display HOME=$scratch/home XDG_RUNTIME_DIR=$scratch/run XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config
mkdir -m 700 "$HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME"
unset DBUS_SESSION_BUS_ADDRESS
eval "$(dbus-launch --sh-syntax)"

# A voice that says nothing.
mkdir "$scratch/speechd"
printf 'AddModule "dummy" "sd_dummy" ""\nDefaultModule dummy\n' >"$scratch/speechd/speechd.conf"
speech-dispatcher -s -C "$scratch/speechd" >/dev/null 2>&1 & started+=($!) # -s: not in the background
/usr/libexec/at-spi-bus-launcher --launch-immediately 2>/dev/null & started+=($!)
sleep 1
dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.freedesktop.DBus.Properties.Set \
    string:org.a11y.Status string:ScreenReaderEnabled variant:boolean:true >/dev/null
openbox >/dev/null 2>&1 & started+=($!)
orca --debug-file="$scratch/orca.log" --replace >/dev/null 2>&1 & started+=($!)
sleep 6
QT_QPA_PLATFORM=xcb QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 "$program" "$plan" >/dev/null 2>&1 & started+=($!)
sleep 6

said() { # what came since the last call
    sed -n "s/.*SPEECH OUTPUT: '\(.*\)' *{.*/\1/p" "$scratch/orca.log" | tail -n "+$((heard + 1))" | grep -vE '^(tab|left control) *$' || true
    heard=$(grep -c 'SPEECH OUTPUT:' "$scratch/orca.log")
}
heard=0
for page in 1 2 3 4 5; do
    xdotool key --clearmodifiers "ctrl+$page"
    sleep 2
    for ((i = 0; i < stops; ++i)); do
        xdotool key Tab
        sleep 0.7
    done
    sleep 2
    printf '\n# Page %s\n' "$page"
    said
done
