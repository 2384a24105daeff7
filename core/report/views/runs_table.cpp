// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/runs_table.h"

#include "core/base/text.h"

namespace fourfold {

std::string most_off_text(const RunSummary& run)
{
    if (!run.most_off)
        return "";
    return run.most_off->term + text_of(" %+.3g s", run.most_off->difference_s());
}

Table runs_table(const std::vector<RunSummary>& runs)
{
    Table table;
    table.columns = {{"id", "Run"}, {"created", "Created"}, {"state", "State"}, {"name", "Plan"}, {"model", "Model"},
        {"cluster", "Cluster"}, {"gpus", "GPUs"}, {"layout", "Layout"}, {"stack", "Stack"}, {"target", "Target"},
        {"steps", "Steps"}, {"predicted_tps_per_gpu", "Predicted TPS/GPU", 1},
        {"measured_tps_per_gpu", "Measured TPS/GPU", 1}, {"tps_error", "Error", 1, 100, " %"},
        {"predicted_step_time_s", "Predicted step (s)", 4}, {"measured_step_time_s", "Measured step (s)", 4},
        {"most_off", "Most off"}, {"most_off_predicted_s", "Most off, predicted (s)", 4},
        {"most_off_measured_s", "Most off, measured (s)", 4}, {"predicted_memory_gib", "Predicted GiB", 2},
        {"measured_memory_gib", "Measured GiB", 2}, {"first_loss", "First loss", 4}, {"last_loss", "Last loss", 4},
        {"eval_loss", "Held-out loss", 4}, {"problem", "Problem"}, {"tags", "Tags"}, {"note", "Note"}};
    for (const RunSummary& run : runs) {
        std::optional<double> predicted, measured;
        if (run.most_off) {
            predicted = run.most_off->predicted_s;
            measured = run.most_off->measured_s;
        }
        table.rows.push_back({run.id, run.created, std::string(name(run.state)), run.name, run.model, run.cluster,
            std::int64_t{run.gpus}, run.layout, run.stack, run.target, std::int64_t{run.steps},
            cell(run.predicted_tps_per_gpu), cell(run.measured_tps_per_gpu), cell(run.tps_error),
            cell(run.predicted_step_time_s), cell(run.measured_step_time_s),
            run.most_off ? run.most_off->term : std::string(), cell(predicted), cell(measured),
            cell(run.predicted_memory_gib), cell(run.measured_memory_gib), cell(run.first_loss), cell(run.last_loss),
            cell(run.eval_loss), run.problem, joined(run.tags, ", "), run.note});
    }
    return table;
}

} // namespace fourfold
