// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts of a search as points, which are chosen by keys and mouse, and what of a search goes to the clipboard.
#include "app/tui/pages/search/search_page.h"
#include "app/view/command_line.h"
#include "app/view/plan/facts.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::tui {

using view::Results;

view::RowPoints SearchPage::points() const
{
    std::vector<view::RowPoint> points;
    for (std::size_t row = 0; row < results_.visible().size(); ++row) {
        const std::size_t id = results_.visible()[row];
        points.push_back(
            {static_cast<int>(row), results_.value(id, Results::memory), results_.value(id, Results::throughput)});
    }
    return view::RowPoints(std::move(points));
}

// What the chosen point is.
std::string SearchPage::remark() const
{
    const std::optional<std::size_t> id = chosen();
    if (!id || !picture_.focused)
        return {};
    const ResolvedPlan plan = plan_of(results_.all()[*id].found, job_.request());
    return view::layout_line(plan.layout) + " mb " + std::to_string(plan.training.micro_batch) + ": "
        + results_.text(*id, Results::throughput) + " TPS/GPU, " + results_.text(*id, Results::memory) + " GiB"
        + (results_.is_pareto(*id) ? ", on the Pareto front" : "") + "; " + results_.certainty(*id);
}

Plot SearchPage::front(std::size_t most) const
{
    Plot plot;
    plot.chart.title = "Tokens/s per GPU over memory; green: the Pareto front";
    plot.chart.x_label = "GiB";
    plot.chart.x_text = view::gib;
    plot.chart.y_text = view::throughput_text;
    ChartPoints all, front;
    const std::size_t step = results_.visible().size() / most + 1;
    for (std::size_t i = 0; i < results_.visible().size(); ++i) {
        const std::size_t id = results_.visible()[i];
        const bool is_front = results_.is_pareto(id);
        if (is_front || i % step == 0)
            (is_front ? front : all)
                .emplace_back(results_.value(id, Results::memory), results_.value(id, Results::throughput));
    }
    plot.add("Layouts", std::move(all), ChartSeries::Look::dots, Ink::grey);
    plot.add("Pareto front", std::move(front), ChartSeries::Look::dots, Ink::green);
    if (const std::optional<std::size_t> id = chosen())
        plot.chart.chosen = {results_.value(*id, Results::memory), results_.value(*id, Results::throughput)};
    return plot;
}

std::vector<Copy> SearchPage::copies()
{
    std::vector<Copy> copies;
    const std::optional<std::size_t> id = results_.all().empty() ? std::nullopt : chosen();
    if (id)
        copies.push_back({"The chosen layout",
            [this, id] { return view::layout_line(plan_of(results_.all()[*id].found, job_.request()).layout); }});
    if (!results_.all().empty())
        copies.push_back({"The table", [this] { return spreadsheet_rows(results_.table(kMostExported)); }});
    if (const std::filesystem::path& file = desk_.plan().file(); !file.empty())
        copies.push_back({"The command that searches so", [this, file] {
                              return view::command_line({"search", file.string(),
                                  gpus_ == 0 && !up_to_ ? ""
                                      : up_to_          ? "--max-gpus"
                                                        : "--gpus",
                                  gpus_ == 0 && !up_to_ ? "" : std::to_string(gpus_of_question()), "--objective",
                                  objective_, constraint_.empty() ? "" : "--constraint", constraint_});
                          }});
    return copies;
}

} // namespace fourfold::tui
