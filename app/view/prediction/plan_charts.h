// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of a prediction, and its report of one page, for whoever writes files without a window.
#pragma once

#include "core/predict/memory_curve.h"
#include "core/predict/prediction.h"
#include "core/report/report_page.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::view {

// The exposed and hidden parts of a step that have a length, in the order in which people read them.
struct PartTime {
    Part part;
    const char* label;
    double exposed_s = 0, hidden_s = 0;
};
std::vector<PartTime> part_times(const Prediction& prediction);

// What the memory of a stage is stacked of.
std::vector<ChartKind> memory_kinds();
std::vector<double> memory_parts(const StageMemory& stage); // GiB, one a kind
BarChart memory_chart(const Prediction& prediction); // a bar a stage, GiB
AreaChart memory_chart(const Prediction& prediction, const MemoryCurve& curve); // of one stage over the step
// A row a node, a tile a GPU, coloured by what the largest degree cuts; the first nodes of many.
TileChart mesh_chart(const ResolvedPlan& plan);
BarChart step_time_chart(const Prediction& prediction);

// What a report says under its title: model, cluster and batch; layout and stack; verdict and day; warnings.
std::vector<std::string> report_lines(const Prediction& prediction);
ReportPage plan_report(const std::shared_ptr<const Prediction>& prediction, const std::string& title);
// "Fourfold, 2026-01-31": of this computer's clock.
std::string report_day();

} // namespace fourfold::view
