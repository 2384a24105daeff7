#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# locale_suite.sh NAME POINT PROGRAM [ARGUMENT...]: tests of the window in a locale of their own, whatever the machine has.
# POINT: the decimal point of the locale; where printf writes another one the locale is not at work, and nothing would
# be proved.
set -eu
name=$1 point=$2
shift 2
if [ "$name" != C ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    localedef -i "$name" -f UTF-8 "$folder/$name.UTF-8" # package locales
    within=(env "LOCPATH=$folder" "LC_ALL=$name.UTF-8" "LANG=$name.UTF-8")
else
    within=(env LC_ALL=C LANG=C)
fi
written=$("${within[@]}" printf '%.1f' 1.5)
[ "$written" = "1${point}5" ] || { echo "$name: printf wrote $written, expected 1${point}5"; exit 1; }
"${within[@]}" "$@" -silent
