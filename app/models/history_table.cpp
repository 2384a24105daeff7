// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history_table.h"

namespace fourfold::ui {

Table historyTable(const std::vector<RunSummary>& runs)
{
    Table table;
    table.columns = {{"id", "Run"}, {"name", "Plan"}, {"created", "Date"}, {"model", "Model"}, {"cluster", "Cluster"},
        {"layout", "Layout"}, {"gpus", "GPUs"}, {"stack", "Stack"}, {"target", "Target"}, {"state", "State"},
        {"steps", "Steps"}, {"predicted_tps_per_gpu", "Predicted TPS/GPU", 1},
        {"measured_tps_per_gpu", "Measured TPS/GPU", 1}, {"tps_error", "Error", 1, 100, " %"},
        {"predicted_step_time_s", "Predicted step s", 3}, {"measured_step_time_s", "Measured step s", 3},
        {"predicted_memory_gib", "Predicted GiB", 2}, {"measured_memory_gib", "Measured GiB", 2},
        {"last_loss", "Loss", 4}, {"eval_loss", "Held-out loss", 4}};
    for (const RunSummary& run : runs) {
        table.rows.push_back({run.id, run.name, run.created, run.model, run.cluster, run.layout, std::int64_t(run.gpus),
            run.stack, run.target, run.state, std::int64_t(run.steps), cell(run.predicted_tps_per_gpu),
            cell(run.measured_tps_per_gpu), cell(run.tps_error), cell(run.predicted_step_time_s),
            cell(run.measured_step_time_s), cell(run.predicted_memory_gib), cell(run.measured_memory_gib),
            cell(run.last_loss), cell(run.eval_loss)});
    }
    return table;
}

} // namespace fourfold::ui
