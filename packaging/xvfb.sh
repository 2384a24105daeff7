#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An X server without a screen. To be sourced.

# Starts one of BITS of colour (24) on a number that it finds free; its files go to FOLDER. Sets
# xvfb_pid and xvfb_display (":7"); the caller ends the process. Fails with the server's log on standard error.
start_xvfb() { # FOLDER [BITS]
    local folder=$1 bits=${2:-24}
    : >"$folder/number"
    exec 3<>"$folder/number" # the server writes its number there
    Xvfb -displayfd 3 -screen 0 1400x900x"$bits" -nolisten tcp >"$folder/x.log" 2>&1 &
    xvfb_pid=$!
    for _ in $(seq 100); do
        [[ ! -s $folder/number ]] || break
        kill -0 "$xvfb_pid" 2>/dev/null || break
        sleep 0.1
    done
    exec 3<&-
    xvfb_display=:$(head -n 1 "$folder/number")
    [[ $xvfb_display != : ]] || {
        cat "$folder/x.log" >&2
        return 1
    }
}
