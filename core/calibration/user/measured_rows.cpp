// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/measured_rows.h"
#include "core/base/text.h"
#include "core/calibration/fit/measured_row.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/run_state.h"
#include "core/stack/release.h"

#include <algorithm>
#include <map>

namespace fourfold {

Expected<MeasuredRows> history_rows(
    const HistoryStore& store, const std::string& stack, const std::vector<std::string>& runs)
{
    std::vector<std::string> ids;
    for (const std::string& run : runs) {
        FOURFOLD_TRY(ids.emplace_back(), store.full_id(run));
    }
    if (runs.empty()) {
        constexpr int kAll = 1'000'000;
        FOURFOLD_TRY(const auto list, store.list(kAll));
        for (const RunSummary& run : list)
            ids.push_back(run.id);
        std::reverse(ids.begin(), ids.end()); // oldest first
    }
    MeasuredRows result;
    std::map<std::string, int> others; // runs by their stack
    for (const std::string& id : ids) {
        FOURFOLD_TRY(const RunDetail run, store.show(id));
        const RunSummary& summary = run.summary;
        const auto skip = [&](const std::string& why) {
            if (!runs.empty()) // of all runs most are simply of other software
                result.skipped.push_back("run " + id + ": " + why);
        };
        if (written_stack(summary.stack).id != written_stack(stack).id) {
            ++others[summary.stack];
            skip("ran with stack " + summary.stack + ", not " + stack);
            continue;
        }
        FitRow row;
        row.label = "run " + id;
        if (summary.state == RunState::oom) {
            row.outcome = Outcome::out_of_memory;
        } else {
            row.step_time_s = summary.measured_step_time_s;
            row.memory_gib = summary.measured_memory_gib;
            if (!row.step_time_s && !row.memory_gib) {
                skip("has no measured steps (" + std::string(name(summary.state)) + ")");
                continue;
            }
            if (summary.steps == 1 && summary.target != kImportedTarget) {
                skip("ended behind its first step, which warms up");
                continue;
            }
        }
        auto plan = read_resolved(run.plan, row.label);
        if (!plan) {
            result.skipped.push_back(plan.error().line());
            continue;
        }
        row.plan = *std::move(plan);
        if (run.ran_on_cpus() && !row.plan.cluster.gpu.is_cpu()) {
            result.skipped.push_back(row.label + ": its plan is for GPUs, and it ran on CPU ranks");
            continue;
        }
        result.rows.push_back(std::move(row));
    }
    if (runs.empty() && result.rows.empty() && !others.empty()) {
        std::vector<std::string> list;
        for (const auto& [other, count] : others)
            list.push_back(other + " (" + std::to_string(count) + ")");
        result.skipped.push_back("the stored runs are of stack " + joined(list, ", ") + ", none is of " + stack);
    }
    return result;
}

MeasuredRows table_rows(const MeasuredTable& table)
{
    MeasuredRows result;
    int exceptions = 0;
    for (const MeasuredRow& row : table.rows) {
        if (!tells_a_run(row))
            continue;
        if (row.excluded) {
            ++exceptions;
            continue;
        }
        result.rows.push_back(fit_row_of(row));
    }
    if (exceptions > 0)
        result.skipped.push_back(
            table.file + ": " + std::to_string(exceptions) + " rows left out that the table marks as exceptions");
    return result;
}

} // namespace fourfold
