// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold {

Table memory_table(const Prediction& prediction)
{
    Table table;
    table.columns = {{"stage", "Stage"}, {"weights_gib", "Weights GiB", 3}, {"gradients_gib", "Gradients GiB", 3},
        {"optimizer_gib", "Optimizer GiB", 3}, {"activations_gib", "Activations GiB", 3},
        {"buffers_gib", "Buffers GiB", 3}, {"total_gib", "Total GiB", 3}};
    for (const StageMemory& stage : prediction.memory_by_stage)
        table.rows.push_back({std::int64_t{stage.stage}, stage.weights, stage.gradients, stage.optimizer,
            stage.activations, stage.other, stage.total()});
    return table;
}

Table time_table(const Prediction& prediction)
{
    Table table;
    table.columns = {{"part", "Part"}, {"exposed_s", "Exposed s", 4}, {"hidden_s", "Hidden behind compute s", 4},
        {"share", "Share", 1, 100, " %"}};
    const double step = prediction.step_time_s.value_or(0);
    for (int i = 0; i < kParts; ++i) {
        const Part part = static_cast<Part>(i);
        const double exposed = prediction.time_by_part[part], hidden = prediction.time_hidden[part];
        if (exposed != 0 || hidden != 0)
            table.rows.push_back({std::string(name(part)), exposed, hidden, step > 0 ? exposed / step : 0.0});
    }
    return table;
}

Table bounds_table(const Bounds& bounds)
{
    Table table;
    table.columns = {{"parallelism", "Parallelism"}, {"link", "Link"}, {"ranks", "Ranks"}, {"used", "In the plan"},
        {"batch", "Micro-batch", 0}, {"compute_s", "Compute s", -5}, {"communication_s", "Communication s", -5},
        {"compute_bound", "Compute-bound"}, {"least_batch", "Compute-bound from", -4}};
    for (const LinkBound& link : bounds.links)
        table.rows.push_back({link.parallelism, std::string(name(link.link)), std::int64_t{link.ranks}, link.used,
            link.batch, link.bound.compute_s(link.batch), link.bound.communication_s(link.batch), link.compute_bound(),
            cell(link.bound.least_batch())});
    return table;
}

Table curve_table(const MemoryCurve& curve)
{
    Table table;
    table.columns = {{"start_s", "Start s", 6}, {"end_s", "End s", 6}, {"weights_gib", "Weights GiB", 3},
        {"gradients_gib", "Gradients GiB", 3}, {"optimizer_gib", "Optimizer GiB", 3},
        {"activations_gib", "Activations GiB", 3}, {"buffers_gib", "Buffers GiB", 3}, {"total_gib", "Total GiB", 3}};
    for (const MemoryPoint& point : curve.points) {
        std::vector<Cell> row{point.start_s, point.end_s};
        row.insert(row.end(), point.gib.begin(), point.gib.end());
        row.emplace_back(point.total());
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table spans_table(const ListedStep& step)
{
    const Timeline& timeline = step.timeline;
    Table table;
    table.columns = {{"stage", "Stage"}, {"kind", "Kind"}, {"micro_batch", "Micro-batch"}, {"chunk", "Chunk"},
        {"start_s", "Start s", 6}, {"length_s", "Length s", 6}};
    for (const Span& span : timeline.spans)
        table.rows.push_back({std::int64_t{span.stage}, std::string(name(span.kind)),
            span.micro_batch >= 0 ? Cell(std::int64_t{span.micro_batch}) : Cell(), std::int64_t{span.chunk},
            span.start_s, span.end_s - span.start_s});
    for (std::int64_t stage = 0; step.steady && stage < timeline.stages; ++stage)
        table.rows.push_back({stage, steady_words(*step.steady), Cell(), Cell(), step.steady->begin_s,
            step.steady->end_s - step.steady->begin_s});
    return table;
}

Table ranks_table(const Layout& layout, int gpus_per_node, int most)
{
    Table table;
    table.columns = {{"rank", "Rank"}, {"node", "Node"}, {"gpu", "GPU of the node"}, {"tp", "TP"}, {"cp", "CP"},
        {"pp", "PP"}, {"dp", "DP"}};
    const int per_node = std::max(1, gpus_per_node);
    for (int rank = 0; rank < std::min(layout.gpus(), most); ++rank) {
        const Coordinates at = layout.coordinates(rank);
        table.rows.push_back({std::int64_t{rank}, std::int64_t{rank / per_node}, std::int64_t{rank % per_node},
            std::int64_t{at.tp}, std::int64_t{at.cp}, std::int64_t{at.pp}, std::int64_t{at.dp}});
    }
    return table;
}

} // namespace fourfold
