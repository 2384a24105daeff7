// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of runs shows: the question of a run, or its figures, charts and log; failure, output and log whole.
#include "app/tui/linear/spoken.h"
#include "app/tui/pages/runs/runs_page.h"
#include "app/tui/pages/runs/trace_box.h"
#include "app/tui/widgets/plot.h"
#include "app/view/command_line.h"
#include "app/view/plan/facts.h"
#include "app/view/runs/run_folder.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "runner/sweep/sweep_table.h"

#include <algorithm>
#include <cmath>

namespace fourfold::tui {

namespace {

std::optional<view::Series::Point> last_before(const std::vector<view::Series::Point>& points, double x)
{
    const auto after = std::ranges::upper_bound(points, x, {}, &view::Series::Point::first);
    return after == points.begin() ? std::nullopt : std::optional(*(after - 1));
}

// A row a point.
Table table_of(const Plot& plot)
{
    Table table;
    table.columns = {{"step", "Step"}, {"series", "Series"}, {"value", plot.chart.title, -6}};
    for (const ChartSeries& series : plot.chart.series) {
        for (const auto& [step, value] : series.points)
            table.rows.push_back({step, series.name, value});
    }
    return table;
}

} // namespace

void RunsPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    plots_.clear();
    draw_question(canvas, place);
    const std::array<view::Figure, 5> figures = run_.figures();
    int row = place.row + 2;
    for (const view::Figure& figure : figures) {
        canvas.text(row, place.column + 1, figure.title, kMuted);
        canvas.text_in(row, place.column + 14, 14,
            figure.value + (figure.unit.starts_with("of ") ? " " + figure.unit : ""),
            {style_of(figure.tone).ink, Ink::normal, true});
        const std::string rest
            = figure.basis + (figure.basis.empty() || figure.confidence.empty() ? "" : "; ") + figure.confidence;
        canvas.text_in(row++, place.column + 29, place.columns - 30, rest, kMuted);
    }
    if (!run_.link_trouble().empty())
        canvas.text_in(row++, place.column + 1, place.columns - 2, run_.link_trouble(), style_of(view::Tone::warning));
    if (!run_.alerts().empty()) {
        const view::RunAlert& newest = run_.alerts().back();
        const int column = canvas.text(row, place.column + 1,
            view::counted(double(run_.alert_count()), "alert") + desk_.keyed(" (`A`)"), style_of(view::Tone::warning));
        canvas.text_in(row++, column + 1, place.columns - column - 2, view::alert_line(newest),
            style_of(newest.stops ? view::Tone::bad : view::Tone::neutral));
    }
    const int left = place.row + place.rows - row - 1;
    const int plot_rows = std::clamp(left * 3 / 5, 0, 18);
    if (sweep_ && plot_rows >= 4) {
        std::vector<std::string> lines = wrapped(sweep_table(*sweep_).write(TableFormat::text), place.columns - 2);
        canvas.text_in(row + 1, place.column + 1, place.columns - 2, sweep_text_, kBold);
        for (int i = 0; i + 1 < plot_rows && i < static_cast<int>(lines.size()); ++i)
            canvas.text_in(row + 2 + i, place.column + 1, place.columns - 2, lines[static_cast<std::size_t>(i)]);
        row += plot_rows + 1;
    } else if (plot_rows >= 6) {
        draw_charts(canvas, {row + 1, place.column + 1, plot_rows, place.columns - 2}, look);
        row += plot_rows + 1;
    }
    const int lines = place.row + place.rows - row - 1;
    const auto count = static_cast<int>(run_.log().size());
    for (int i = 0; i < std::min(lines, count); ++i) {
        const view::LogLine& line = run_.log()[static_cast<std::size_t>(count - std::min(lines, count) + i)];
        const int at = row + 1 + i;
        canvas.text_in(at, place.column + 1, 8, line.time, kMuted);
        canvas.text_in(at, place.column + 10, 13, line.kind, style_of(line.tone));
        canvas.text_in(at, place.column + 24, place.columns - 25, line.text);
    }
}

std::vector<RunsPage::Curve> RunsPage::charts() const
{
    const view::RunExpectation& expected = run_.expectation();
    const auto per_cent = [](double value) { return view::grouped(value, 1); };
    const auto plot_of = [this](const char* title, const view::Series& series, Ink ink, std::string (*text)(double),
                             const std::optional<double>& predicted, const view::RankSpread* spread = nullptr,
                             const char* worst = "") {
        Plot plot;
        plot.chart.title = title;
        plot.chart.x_label = "step";
        plot.chart.x_text = [](double value) { return view::grouped(value); };
        plot.chart.y_text = text;
        plot.chart.whole_x = true;
        plot.cursor = cursor_;
        if (series.empty())
            return plot;
        const std::vector<view::Series::Point> points = series.points();
        if (predicted)
            plot.add("Predicted", {{points.front().first, *predicted}, {points.back().first, *predicted}},
                ChartSeries::Look::line, Ink::grey);
        if (spread != nullptr && !spread->least.empty()) {
            plot.add("Lowest to highest rank", spread->least.points(), ChartSeries::Look::faint, ink);
            plot.add("", spread->greatest.points(), ChartSeries::Look::faint, ink);
        }
        plot.add("Measured", points, ChartSeries::Look::line, ink);
        const std::string rank = spread == nullptr ? std::string() : run_.rank_name(spread->worst_rank);
        plot.chart.note = rank.empty() ? std::string() : worst + (": " + rank);
        if (const auto at = cursor_ ? last_before(points, *cursor_) : std::nullopt)
            plot.chart.note = "step " + view::grouped(at->first) + ": " + text(at->second);
        return plot;
    };
    std::vector<Curve> curves{
        {"throughput",
            plot_of("Tokens/s per GPU; grey: predicted", run_.throughput(), Ink::blue, view::throughput_text,
                expected.tps_per_gpu, &run_.throughput_over_ranks(), "slowest")},
        {"loss",
            plot_of("Loss", run_.loss(), Ink::vermilion, [](double value) { return view::grouped(value, 3); }, {})},
        {"memory",
            plot_of("Memory, GiB", run_.memory(), Ink::green, view::gib, expected.memory_gib, &run_.memory_over_ranks(),
                "most")},
        {"mfu",
            plot_of("MFU, %", run_.mfu(), Ink::purple, per_cent,
                expected.mfu ? std::optional(*expected.mfu * 100) : std::nullopt, &run_.mfu_over_ranks(), "slowest")}};
    if (expected.tps_interval)
        curves[0].plot.chart.band = {expected.tps_interval->low, expected.tps_interval->high};
    Plot& loss = curves[1].plot;
    if (!expected.loss.empty() && !run_.loss().empty()) {
        loss.chart.title = "Loss; grey: expected";
        loss.add("Expected: " + expected.loss_of, expected.loss, ChartSeries::Look::faint, Ink::grey);
        loss.chart.x_range = {run_.loss().points().front().first,
            std::max<double>(run_.total_steps(), run_.loss().last().first)}; // it may go on behind this run's end
    }
    if (!run_.eval_loss().empty())
        loss.add("Held-out", run_.eval_loss().points(), ChartSeries::Look::dots, Ink::orange);
    if (run_.busiest_expert().empty())
        return curves;
    // Before the last: that one follows the throughput, and there may be no room for five.
    Curve experts{"experts",
        plot_of("Busiest expert, times the mean", run_.busiest_expert(), Ink::orange,
            [](double value) { return view::grouped(value, 2); }, {})};
    if (!cursor_)
        experts.plot.chart.note = run_.experts_text();
    curves.insert(curves.end() - 1, std::move(experts));
    return curves;
}

// By a twentieth of what there is, a step at least.
void RunsPage::move_cursor(int step)
{
    const view::Series& steps = run_.loss().empty() ? run_.throughput() : run_.loss();
    if (steps.empty())
        return;
    const double first = steps.points().front().first, last = steps.last().first;
    const double by = std::max(1.0, std::round((last - first) / 20));
    cursor_ = std::clamp(cursor_ ? *cursor_ + step * by : step > 0 ? first : last, first, last);
}

void RunsPage::show_trace()
{
    if (run_.trace())
        desk_.open(std::make_unique<TraceBox>(desk_, run_));
    else
        desk_.tell("No step of this run was traced yet");
}

// Two beside each other; four where there is room for two rows of them, or for all in one.
void RunsPage::draw_charts(Canvas& canvas, const Rect& place, const Look& look)
{
    constexpr int kWide = 170, kHigh = 13;
    const int across = place.columns >= kWide ? 4 : 2, down = across == 2 && place.rows >= kHigh ? 2 : 1;
    const int columns = place.columns / across, rows = place.rows / down;
    const std::vector<Curve> curves = charts();
    for (int i = 0; i < across * down; ++i)
        plots_.push_back(
            draw_plot(canvas, {place.row + i / across * rows, place.column + i % across * columns, rows, columns - 2},
                curves[static_cast<std::size_t>(i)].plot, look));
}

bool RunsPage::point_at(const Key& key)
{
    const PlotPlace* const found = plot_at(plots_, key);
    if (found == nullptr)
        return false;
    cursor_ = std::round(found->x_at(key.column)); // a step
    return true;
}

std::vector<Copy> RunsPage::copies()
{
    std::vector<Copy> copies;
    if (run_.has_run()) {
        copies.push_back({"The figures", [this] {
                              std::string text;
                              for (const view::Figure& figure : run_.figures())
                                  text += spoken(figure) + "\n";
                              return text;
                          }});
        copies.push_back({"The curves as a table", [this] { return spreadsheet_rows(table()); }});
        if (!run_.id().empty())
            copies.push_back({"The command that follows the run", [id = run_.id()] {
                                  return view::command_line({"attach", id});
                              }});
    }
    if (const std::filesystem::path& file = desk_.plan().file(); !file.empty())
        copies.push_back({"The command that runs the plan", [this, file] {
                              return view::command_line({"run", file.string(), "--target", target_,
                                  steps_ > 0 ? "--steps" : "", steps_ > 0 ? std::to_string(steps_) : ""});
                          }});
    return copies;
}

void RunsPage::show_table()
{
    desk_.exports().show_table("Curves of the run", table());
}

Table RunsPage::table() const
{
    Table all;
    all.columns = {{"chart", "Chart"}, {"step", "Step"}, {"series", "Series"}, {"value", "Value", -6}};
    for (const auto& [name, plot] : charts()) {
        for (const std::vector<fourfold::Cell>& row : table_of(plot).rows)
            all.rows.push_back({plot.chart.title, row[0], row[1], row[2]});
    }
    return all;
}

void RunsPage::ask_to_export()
{
    if (sweep_) {
        desk_.exports().ask("sweep", [this] { return sweep_cells(*sweep_); });
        return;
    }
    std::vector<Picker::Item> items;
    const std::vector<Curve> curves = charts();
    for (std::size_t i = 0; i < curves.size(); ++i) {
        if (!curves[i].plot.chart.series.empty())
            items.push_back({curves[i].plot.chart.title, "", [this, i, name = curves[i].name] {
                                 desk_.exports().ask(
                                     name, [this, i] { return table_of(charts()[i].plot); },
                                     Picture([this, i] { return Chart(charts()[i].plot.chart); }));
                             }});
    }
    if (items.empty())
        desk_.tell(desk_.keyed("Steps of a run are drawn here as they come; then `e` writes them"));
    else
        desk_.open(std::make_unique<Picker>("Export which curve", std::move(items)));
}

void RunsPage::draw_question(Canvas& canvas, const Rect& place)
{
    int column = place.column + 1;
    if (job_.is_running() || run_.has_run()) {
        column = canvas.text(place.row, column, run_.title().empty() ? "Run" : run_.title(), kBold);
        canvas.text_in(place.row, column + 2, place.columns - column - 3, run_.folder().string(), kMuted);
        return;
    }
    column = canvas.text(place.row, column, desk_.keyed("`t`"), kHeading);
    column = canvas.text(place.row, column, " on ", kMuted);
    column = canvas.text(place.row, column, target_text(), kBold);
    column = canvas.text(place.row, column, desk_.keyed("  `n`"), kHeading);
    column = canvas.text(place.row, column, " for ", kMuted);
    column = canvas.text(place.row, column, steps_ > 0 ? view::counted(steps_, "step") : "the plan's steps", kBold);
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (plan)
        canvas.text_in(place.row, column + 2, place.columns - column - 3,
            plan->model.name + ", " + view::layout_line(plan->layout), kMuted);
}

void RunsPage::show_output()
{
    std::vector<Picker::Item> items;
    for (const view::RankLog& log : view::rank_logs(run_.folder())) {
        const std::string name = "Rank " + std::to_string(log.rank);
        items.push_back({name, run_.rank_name(log.rank), [this, log, name] {
                             const std::string text = printable_lines(view::tail_of(log.file));
                             desk_.open(std::make_unique<Pager>("Output of " + name, text.empty() ? "Nothing" : text));
                         }});
    }
    if (items.empty())
        desk_.tell("No output of a rank is here: it comes when the run ends");
    else
        desk_.open(std::make_unique<Picker>("Output of a rank", std::move(items)));
}

// Of somebody who looks elsewhere, or at another page.
void RunsPage::take_alert(const view::RunAlert& alert)
{
    const std::optional<view::RunNotice> notice = notices_.take(alert, run_.title());
    if (!notice)
        return;
    desk_.tell(notice->title + (desk_.page() == PageId::runs ? "" : "; 4 shows the run"),
        notice->urgent ? view::Tone::bad : view::Tone::warning);
    desk_.terminal().notify(*notice);
}

void RunsPage::show_alerts()
{
    if (run_.alerts().empty()) {
        desk_.tell("The run's watch reported nothing");
        return;
    }
    std::string text;
    for (const view::RunAlert& alert : run_.alerts())
        text += view::alert_line(alert) + "\n";
    desk_.open(std::make_unique<Pager>("Alerts", text));
}

void RunsPage::show_failure()
{
    if (run_.failure())
        desk_.open(std::make_unique<Pager>("Failure", view::failure_text(*run_.failure())));
    else
        show_log();
}

void RunsPage::show_log()
{
    std::string text;
    for (const view::LogLine& line : run_.log())
        text += text_of("%-9s%-14s", line.time.c_str(), line.kind.c_str()) + line.text + "\n";
    desk_.open(std::make_unique<Pager>("Log", text.empty() ? "Nothing was said yet" : text));
}

} // namespace fourfold::tui
