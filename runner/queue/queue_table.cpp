// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/queue/queue_table.h"

#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

namespace {
std::int64_t count(const QueueContents& contents, TurnState state)
{
    return std::count_if(
        contents.runs.begin(), contents.runs.end(), [&](const QueuedRun& run) { return run.state == state; });
}

std::string counted_runs(std::int64_t number, const char* one, const char* many)
{
    return std::to_string(number) + (number == 1 ? " run " : " runs ") + (number == 1 ? one : many);
}
} // namespace

std::string turn_text(const QueuedRun& run)
{
    switch (run.state) {
    case TurnState::waiting:
        return "waiting";
    case TurnState::taken:
        return !run.waits_for.empty() ? "waiting for run " + run.waits_for : run.run.empty() ? "starting" : "running";
    case TurnState::ended:
        break;
    }
    return run.outcome;
}

std::string queue_summary(const QueueContents& contents)
{
    const std::int64_t waiting = count(contents, TurnState::waiting), taken = count(contents, TurnState::taken);
    std::string text = counted_runs(waiting, "waits", "wait");
    if (taken > 0)
        text += ", " + counted_runs(taken, "goes on", "go on");
    return contents.paused ? "paused: " + text : text;
}

Table queue_table(const QueueContents& contents)
{
    Table table;
    table.columns = {{"number", "NUMBER"}, {"state", "STATE"}, {"plan", "PLAN"}, {"gpus", "GPUS"}, {"target", "TARGET"},
        {"steps", "STEPS"}, {"run", "RUN"}, {"added", "ADDED (UTC)"}, {"problem", "PROBLEM"}};
    for (const QueuedRun& run : contents.runs) {
        const auto steps = run.steps ? Cell(std::int64_t{*run.steps}) : Cell();
        table.rows.push_back({run.number, turn_text(run), run.name(), integer_field(run.plan, "gpus"), run.target.id,
            steps, text_cell(run.run), short_time(run.added), text_cell(run.problem)});
    }
    return table;
}

} // namespace fourfold
