#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes rehearsals.md again: refresh_rehearsals.sh [FOURFOLD], the program (default: fourfold on the PATH) with its
# trainer beside it. Every shipped plan that the bundled trainer can rehearse; minutes.
set -eu
fourfold=${1:-fourfold}
folder=$(cd "$(dirname "$0")" && pwd)
out="$folder/rehearsals.md"
plans="$folder/../../presets/plans"
clock=$(mktemp)
trap 'rm -f "$clock"' EXIT
# Processor time of what this script has started so far, in whole seconds; `times >"$clock"` first, which knows nothing of
# it in a subshell.
processor_s() {
    sed -n 2p "$clock" | tr 'ms' '  ' | awk '{ printf "%.0f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

cat >"$out" <<'END'
# Rehearsals of the shipped plans

Written by `resources/reports/refresh_rehearsals.sh`: `fourfold rehearse PLAN` for every plan in `presets/plans`, on two
cores without a GPU. Of its kind, the reserved memory of ten plans of one GPU was compared with an H200 (`tests/bench/README.md`).
END
for file in "$plans"/*.plan.json; do
    plan=$(basename "$file" .plan.json)
    printf '\n## %s\n\n```text\n' "$plan" >>"$out"
    times >"$clock"
    begin=$(processor_s)
    { "$fourfold" rehearse "$plan" --timeout 900 2>&1 || true; } |
        sed 's|^fourfold: /.*/presets/plans/|fourfold: |' >>"$out"
    times >"$clock"
    printf '```\n\n%s s of processor time.\n' "$(($(processor_s) - begin))" >>"$out"
done
