#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Follows the recipe story-15m from its tokens on and writes story.md: refresh_story.sh FOLDER [BIN]. FOLDER holds
# stories.bin, stories.idx and tokenizer.json as the recipe makes them; BIN the programs (default: those on the PATH).
# STORY_STEPS=N ends it sooner. Takes two quiet cores 40 minutes; what it leaves is in FOLDER/record.
set -euo pipefail
reports=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${1:?FOLDER}" && pwd)
[ $# -gt 1 ] && PATH=$2:$PATH
record=$folder/record
[ ! -e "$record" ] || { echo "$record is there: move it away" >&2; exit 2; }
mkdir -m 700 "$record"
export XDG_DATA_HOME=$record/data XDG_CONFIG_HOME=$record/config XDG_CACHE_HOME=$record/cache
cd "$folder"
fourfold recipe story-15m --output "$record" >/dev/null
cp "$record/story-15m.plan.json" .
load=$(cut -d' ' -f1 /proc/loadavg)
begin=$(date +%s)
fourfold run story-15m.plan.json --target local ${STORY_STEPS:+--steps "$STORY_STEPS"} \
    --set run.checkpoint.path="$record/checkpoints" --tensorboard "$record/boards" --wandb "$record/boards" \
    2>&1 | tee "$record/run.log"
seconds=$(($(date +%s) - begin))
fourfold recipe story-15m --run last --json >"$record/losses.json"
fourfold history show last --json >"$record/run.json"
# From the older checkpoint once more, for a minute: Ctrl-C ends it.
saved=$(find "$record/checkpoints" -maxdepth 1 -name 'step-*' | sort | head -1)
timeout -s INT 60 fourfold run story-15m.plan.json --target local --no-rehearse --set run.checkpoint.load="$saved" \
    --set run.checkpoint.path="$record/again" >"$record/again.log" 2>&1 || true
fourfold history show last --json >"$record/again.json"
fourfold-trainer --export "$record/checkpoints" --output "$record/model" --tokenizer tokenizer.json >/dev/null
out=$reports/story.md
{
    echo '# The story model'
    echo
    echo "Written by \`resources/reports/refresh_story.sh\`, $(date +%Y-%m-%d): the recipe \`story-15m\` ($(nproc) cores of"
    echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load average before the run $load),"
    echo "$((seconds / 60)) minutes from start to end."
    echo
    echo '## The run'
    echo
    echo '```text'
    sed -n '/^[0-9A-Z]\{26\}  /,/^  versions/p' "$record/run.log"
    echo '```'
    echo
    echo '## Held-out loss beside the expected one'
    echo
    fourfold recipe story-15m --run last --format markdown
    echo
    echo '## Gone on from a checkpoint'
    echo
    python3 - "$record" <<'END'
import json, pathlib, sys
record = pathlib.Path(sys.argv[1])
losses = lambda name: {row["step"]: row["loss"] for row in json.loads((record / name).read_text())["step_rows"]}
first, again = losses("run.json"), losses("again.json")
steps = sorted(again)
apart = max(abs(again[step] - first[step]) for step in steps)
last = sorted(path.name for path in (record / "again").glob("step-*"))
print(f"Loaded in a process of its own behind step {steps[0] - 1} and stopped by Ctrl-C behind step {steps[-1]}: the losses of")
print(f"these {len(steps)} steps are", "those of the run above, bit for bit." if apart == 0 else f"{apart:.3g} from the run above at most.")
print(f"Ctrl-C left {last[-1]}." if last else "Ctrl-C left no checkpoint.")
END
    echo
    # The pictures are made by hand: a browser and two dashboards are needed.
    sed -n '/^## In the dashboards/,/^## What it tells/{/^## What/!p}' "$out"
    echo '## What it tells'
    for prompt in "Once upon a time there was a" "The old wizard looked at the little girl and" "In the forest"; do
        echo
        fourfold-trainer --generate "$prompt" --model "$record/model" --temperature 0.8 --top-p 0.9 --tokens 120 --seed 1 |
            tr '\n' ' ' | sed 's/^/> /; s/ *$//'
        echo
    done
} >"$record/story.md"
cp "$record/story.md" "$out"
echo "$out"
