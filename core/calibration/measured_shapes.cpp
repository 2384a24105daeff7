// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/measured_shapes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fourfold {
namespace {

using GroupKey = std::tuple<std::string, int, int, int, int, int, int, int>;

GroupKey key_of(const MeasuredRow& row)
{
    const Layout& layout = row.plan.layout;
    const Training& training = row.plan.training;
    return {row.table, row.plan.gpus, layout.tp, layout.cp, layout.pp, layout.virtual_stages, training.micro_batch,
        training.global_batch};
}

void add_losses(std::vector<MeasuredShape>& shapes)
{
    const auto most = [&](double MeasuredShape::*tps) {
        double best = 0;
        for (const MeasuredShape& shape : shapes)
            best = std::max(best, shape.*tps * shape.parameters);
        return best;
    };
    const double measured = most(&MeasuredShape::measured_tps), predicted = most(&MeasuredShape::predicted_tps);
    for (MeasuredShape& shape : shapes) {
        shape.measured_loss = 1 - shape.measured_tps * shape.parameters / measured;
        shape.predicted_loss = 1 - shape.predicted_tps * shape.parameters / predicted;
    }
    std::stable_sort(shapes.begin(), shapes.end(),
        [](const MeasuredShape& a, const MeasuredShape& b) { return a.measured_loss < b.measured_loss; });
}

} // namespace

std::vector<ShapeGroup> measured_shapes(const MeasuredTable& table)
{
    std::map<GroupKey, std::vector<const MeasuredRow*>> rows;
    for (const MeasuredRow& row : table.rows) {
        if (row.ran() && row.tps_per_gpu)
            rows[key_of(row)].push_back(&row);
    }
    std::vector<ShapeGroup> groups;
    for (const auto& [key, members] : rows) {
        std::set<std::tuple<int, std::int64_t, int>> shapes;
        for (const MeasuredRow* row : members)
            shapes.insert({row->plan.model.layers, row->plan.model.hidden, row->plan.model.heads});
        if (shapes.size() < 2)
            continue;
        ShapeGroup group{std::get<0>(key), {}};
        for (const MeasuredRow* row : members) {
            const Prediction prediction = predict(row->plan);
            if (prediction.tps_per_gpu)
                group.shapes.push_back({row, row->plan.model.parameters(), *row->tps_per_gpu, *prediction.tps_per_gpu,
                    0, 0, waste_of(prediction)});
        }
        add_losses(group.shapes);
        groups.push_back(std::move(group));
    }
    return groups;
}

ShapeAgreement agreement(const std::vector<ShapeGroup>& groups)
{
    ShapeAgreement out;
    for (const ShapeGroup& group : groups) {
        for (const MeasuredShape& shape : group.shapes) {
            const bool measured = shape.measured_loss > kWastefulShape,
                       predicted = shape.predicted_loss > kWastefulShape;
            ++out.shapes;
            out.wasteful += measured ? 1 : 0;
            out.found += measured && predicted ? 1 : 0;
            out.false_alarms += !measured && predicted ? 1 : 0;
        }
    }
    return out;
}

} // namespace fourfold
