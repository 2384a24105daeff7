// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/comparison.h"

#include "app/view/compare/comparison_bars.h"
#include "app/view/text.h"
#include "core/report/views/nearest_row.h"

#include <cmath>
#include <utility>

namespace fourfold::view {

namespace {
// Of the fullest stage.
constexpr std::pair<const char*, double StageMemory::*> kMemoryParts[]{{"weights", &StageMemory::weights},
    {"gradients", &StageMemory::gradients}, {"optimizer", &StageMemory::optimizer},
    {"activations", &StageMemory::activations}, {"buffers", &StageMemory::other}};

// The number of a cell that has a size.
std::optional<double> size_of(const Cell& cell)
{
    if (const auto* whole = std::get_if<std::int64_t>(&cell))
        return double(*whole);
    const auto* number = std::get_if<double>(&cell);
    return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::string beside(const Cell& cell, const Cell& reference, const Column& column)
{
    const std::optional<double> mine = size_of(cell), theirs = size_of(reference);
    if (!mine || !theirs || *mine == *theirs || *theirs == 0)
        return shown(cell, column);
    return shown(cell, column) + " (" + signed_percent(*mine / *theirs - 1) + ")";
}
} // namespace

std::vector<Column> comparison_columns()
{
    std::vector<Column> out{{"name", "name"}, {"kind", "kind"}, {"model", "model"}, {"cluster", "cluster"},
        {"gpu", "GPU"}, {"gpus", "GPUs"}, {"stack", "stack"}, {"tp", "TP"}, {"cp", "CP"}, {"pp", "PP"}, {"dp", "DP"},
        {"ep", "EP"}, {"virtual_stages", "virtual stages"}, {"micro_batch", "micro-batch"},
        {"global_batch", "global batch"}, {"seq_len", "sequence"}, {"schedule", "schedule"}, {"sharding", "sharding"},
        {"recompute", "recompute"}, {"precision", "precision"}, {"predicted_tps_per_gpu", "predicted TPS/GPU", 1},
        {"predicted_step_time_s", "predicted step (s)", 4}, {"mfu", "MFU", 1, 100, " %"},
        {"tflops_per_gpu", "TFLOP/s per GPU", 1}, {"bubble_fraction", "bubble", 1, 100, " %"},
        {"predicted_memory_gib", "predicted GiB", 2}, {"memory_device_gib", "on the device GiB", 2},
        {"memory_capacity_gib", "usable GiB", 2}, {"fit", "fit"}, {"tps_low", "90 % from, TPS/GPU", 1},
        {"tps_high", "to, TPS/GPU", 1}, {"memory_low_gib", "90 % from, GiB", 2}, {"memory_high_gib", "to, GiB", 2},
        {"evidence", "evidence"}, {"nearest", "nearest measured"}, {"warning_count", "warnings"}};
    for (const auto& [key, member] : kMemoryParts) {
        const std::string name = key;
        out.push_back({name + "_gib", name + " GiB", 2});
    }
    for (int part = 0; part < kParts; ++part) {
        const std::string name(fourfold::name(static_cast<Part>(part)));
        out.push_back({name + "_s", name + " (s)", 4});
    }
    out.insert(out.end(),
        {{"measured_tps_per_gpu", "measured TPS/GPU", 1}, {"measured_step_time_s", "measured step (s)", 4},
            {"measured_memory_gib", "measured GiB", 2}, {"measured_mfu", "measured MFU", 1, 100, " %"},
            {"tps_error", "error of TPS/GPU", 1, 100, " %"}, {"loss", "loss", 4}});
    return out;
}

std::vector<Cell> comparison_row(
    const std::string& name, const std::string& kind, const Prediction& prediction, const RunSummary* run)
{
    const ResolvedPlan& plan = prediction.plan;
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    std::vector<Cell> row{name, kind, plan.model.name, plan.cluster.name, plan.cluster.gpu.name,
        std::int64_t{plan.gpus}, plan.stack.written(), std::int64_t{layout.tp}, std::int64_t{layout.cp},
        std::int64_t{layout.pp}, std::int64_t{layout.dp}, std::int64_t{layout.ep}, std::int64_t{layout.virtual_stages},
        std::int64_t{training.micro_batch}, std::int64_t{training.global_batch}, std::int64_t{training.seq_len},
        to_text(training.schedule), to_text(training.sharding), to_text(training.recompute),
        to_text(training.precision), cell(prediction.tps_per_gpu), cell(prediction.step_time_s), cell(prediction.mfu),
        cell(prediction.tflops_per_gpu), prediction.bubble_fraction, cell(prediction.memory_gib),
        cell(prediction.memory_device_gib), prediction.memory_capacity_gib,
        std::string(fourfold::name(prediction.fit))};
    const auto end = [&](Range Interval::*figure, double Range::*side) {
        row.push_back(prediction.interval ? Cell((*prediction.interval).*figure.*side) : Cell());
    };
    end(&Interval::tps_per_gpu, &Range::low);
    end(&Interval::tps_per_gpu, &Range::high);
    end(&Interval::memory_gib, &Range::low);
    end(&Interval::memory_gib, &Range::high);
    row.emplace_back(std::string(fourfold::name(prediction.evidence)));
    row.push_back(prediction.nearest ? Cell(nearest_row_text(*prediction.nearest)) : Cell());
    row.emplace_back(static_cast<std::int64_t>(prediction.warnings.size()));
    const StageMemory* const stage = fullest(prediction);
    for (const auto& [key, member] : kMemoryParts)
        row.push_back(stage ? Cell(stage->*member) : Cell());
    for (int part = 0; part < kParts; ++part)
        row.emplace_back(prediction.time_by_part[static_cast<Part>(part)]);
    const auto measured
        = [&](std::optional<double> RunSummary::*figure) { row.push_back(run ? cell(run->*figure) : Cell()); };
    measured(&RunSummary::measured_tps_per_gpu);
    measured(&RunSummary::measured_step_time_s);
    measured(&RunSummary::measured_memory_gib);
    const std::optional<double> tps = run ? run->measured_tps_per_gpu : std::nullopt;
    row.push_back(cell(mfu_at(prediction, tps)));
    row.push_back(tps && *tps > 0 && prediction.tps_per_gpu ? Cell(*prediction.tps_per_gpu / *tps - 1) : Cell());
    measured(&RunSummary::last_loss);
    return row;
}

Table side_by_side(const Table& table, bool differences_only, std::optional<std::size_t> reference)
{
    Table out;
    out.columns = {{"differs", " "}, {"figure", "figure"}};
    for (const std::vector<Cell>& row : table.rows)
        out.columns.push_back({std::get<std::string>(row.front())});
    for (std::size_t column = 1; column < table.columns.size(); ++column) {
        std::vector<Cell> line;
        bool differs = false, known = false;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            const Cell& cell = table.rows[i][column];
            line.emplace_back(reference && *reference < table.rows.size() && i != *reference
                    ? beside(cell, table.rows[*reference][column], table.columns[column])
                    : shown(cell, table.columns[column]));
            differs = differs || cell != table.rows.front()[column];
            known = known || !std::holds_alternative<std::monostate>(cell);
        }
        if (!known || (differences_only && !differs))
            continue;
        line.insert(line.begin(), {differs ? "*" : "", table.columns[column].title});
        out.rows.push_back(std::move(line));
    }
    return out;
}

} // namespace fourfold::view
