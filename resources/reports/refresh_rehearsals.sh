#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes rehearsals.md again: refresh_rehearsals.sh [FOURFOLD], the program (default: fourfold on the PATH) with its
# trainer beside it. Every shipped plan that the bundled trainer can rehearse; minutes.
set -eu
fourfold=${1:-fourfold}
folder=$(cd "$(dirname "$0")" && pwd)
out="$folder/rehearsals.md"
plans="$folder/../../presets/plans"

cat >"$out" <<'END'
# Rehearsals of the shipped plans

Written by `resources/reports/refresh_rehearsals.sh`: `fourfold rehearse PLAN` for every plan in `presets/plans`, on two
cores without a GPU. Of its kind, the reserved memory of ten plans of one GPU was compared with an H200 (`tests/bench/README.md`).
END
for file in "$plans"/*.plan.json; do
    plan=$(basename "$file" .plan.json)
    printf '\n## %s\n\n```text\n' "$plan" >>"$out"
    begin=$(date +%s)
    { "$fourfold" rehearse "$plan" --timeout 300 2>&1 || true; } |
        sed 's|^fourfold: /.*/presets/plans/|fourfold: |' >>"$out"
    printf '```\n\n%s s.\n' "$(($(date +%s) - begin))" >>"$out"
done
