#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the reports on the predictions again: refresh_accuracy.sh BIN TABLES [refit]
#   BIN     folder of fourfold and fourfold-refit
#   TABLES  folder of the tables that do not ship
#   refit   first fits constants, folds and widths of intervals anew; needed whenever the cost model changed
# The words before the first table of a report and after the last one are kept: read whether they still hold.
set -eu
bin=$1
tables=$2
folder=$(cd "$(dirname "$0")" && pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

# keep_words REPORT TABLES-OF-TODAY
keep_words() {
    {
        awk '/^### /{exit} {print}' "$1"
        awk 'NF{seen=1} seen{print}' "$2"
        awk '/^\|/{words=""; next} {words=words $0 "\n"} END{printf "%s", words}' "$1"
    } >"$new/report"
    mv "$new/report" "$1"
}

presets=$folder/../../presets
export FOURFOLD_PRESETS="$presets"
if [ "${3:-}" = refit ]; then
    for body in torchtitan bloom 4d foundry core vtrain playbook; do
        "$bin/fourfold-refit" $body --folds --write --presets "$presets" --tables "$tables"
    done
    # One call: widths away from measurements come from all sources together.
    "$bin/fourfold" validate "$presets/published" "$tables" --write-confidence "$presets"
fi
"$bin/fourfold" validate --report "$folder/validation.md"
mkdir "$new/tables"
for table in playbook_nanotron_h100 vtrain_gpt_a100 llm_foundry_a100 nvidia_dgxc_h100 nvidia_megatron_bridge; do
    cp "$tables/$table.csv" "$new/tables"
done
"$bin/fourfold" validate "$new/tables" --report "$folder/validation-unshipped.md"
"$bin/fourfold-refit" torchtitan 4d bloom core --keep --ablation --tables "$tables" --report "$new/ablation"
keep_words "$folder/ablation.md" "$new/ablation"
"$bin/fourfold-refit" --few --keep --tables "$tables" --report "$new/few"
keep_words "$folder/few-rows.md" "$new/few"
