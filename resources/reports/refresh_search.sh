#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the reports of the search again: refresh_search.sh [FOURFOLD], the program (default: fourfold on the PATH).
set -eu
fourfold=${1:-fourfold}
folder=$(cd "$(dirname "$0")" && pwd)

# report FILE TITLE: what follows goes into FILE.
begin() {
    out="$folder/$1"
    printf '# %s\n\n' "$2" >"$out"
}
say() {
    printf '%s\n\n' "$*" >>"$out"
}
# The command as a person types it, then what it prints.
show() {
    printf '```sh\nfourfold %s\n```\n\n' "$1" >>"$out"
    eval "\"\$fourfold\" $1" >>"$out"
    printf '\n' >>"$out"
}

begin 4d-table.md "The published 4D table beside its predictions"
say "Llama 3.1 8B with Megatron-style 4D parallelism on TSUBAME4 (4 x H100 94 GB a node) and ABCI A (8 x A100 40 GB):" \
    "predicted / measured TFLOP/s of one GPU. \`-\` on the left of the bar: predicted not to fit or not to be placeable;" \
    "OOM on the right: ran out of memory. The constants of the stack were fitted on this table; for left-out errors see" \
    "[validation.md](validation.md)."
say "## H100, sequence 8,192"
show "sweep llama-3.1-8b-tsubame4-16 --measured llama31_8b_4d_a100_h100.csv --value tflops_per_gpu --format markdown"
say "## H100, sequence 16,384"
show "sweep llama-3.1-8b-tsubame4-16k-16 --measured llama31_8b_4d_a100_h100.csv --value tflops_per_gpu --format markdown"
say "## A100, sequence 8,192"
show "sweep llama-3.1-8b-abci-a-32 --measured llama31_8b_4d_a100_h100.csv --value tflops_per_gpu --format markdown"

begin shapes.md "Shapes that the model calls wasteful beside their measured loss"
say "The BLOOM team measured models of nearly one size with other numbers of heads (their NHEADS tables) and hidden sizes" \
    "(NHIDDEN) on one layout. Loss: time per token and parameter against the best of the same table and layout."
show "search --shape --measured bloom_prequel_a100.csv --format markdown"
say "What the model would choose at that size, with the team's layout:"
show "search bloom-181b-jean-zay-384 --shape --axis hidden=12288,13312,13824,14336,14400 --top 20 --format markdown"

question="--max-gpus 384 --axis gpus=256,320,352,384 --axis tp=1,2,4,8 --axis cp=1 --axis virtual_stages=1 --axis schedule=1f1b \
--axis sharding=optimizer --set 'training.ramp_up={\"start\":192,\"increment\":32,\"samples\":9765625}' \
--constraint 'nodes <= 48' --constraint 'dp % 4 == 0' --constraint 'global_batch % 32 == 0' --batch-tolerance 0.01 \
--objective 'min step_time_s / global_batch' --top 10 --format markdown"
begin bloom-question.md "The BLOOM team's question"
say "Which layout gives the fastest iteration on at most 48 nodes of Jean Zay (8 x A100 80 GB) with a global batch of 2,048" \
    "sequences that ramps up by 32, so that DP is a multiple of 4 and the batch one of 32? Asked first for the 181B model of" \
    "their measured tables, then for the 176B model that they trained."
say "## 181B: 72 layers, hidden 14,336, 64 heads"
show "search bloom-181b-jean-zay-384 $question"
say "What was measured of this model with this batch (seconds an iteration, predicted / measured). \`-\` beside a measured time:" \
    "MBS x DP does not divide 2,048 there, and the team rounded the batch:"
show "sweep bloom-181b-jean-zay-384 --measured bloom_prequel_a100.csv --value step_time_s --format markdown"
say "## 176B: 70 layers, hidden 14,336, 112 heads"
show "search bloom-181b-jean-zay-384 --set model=bloom-176b $question"
