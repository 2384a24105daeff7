// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/history_curves.h"

#include "app/tui/widgets/plot.h"
#include "app/tui/widgets/series_look.h"
#include "app/view/curves/curve_words.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold::tui {

using view::CurveAxis;
using view::CurveMetric;
using view::CurveRange;

namespace {
constexpr std::array kWeights{0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99}; // of smoothing
constexpr int kLeastChart = 7, kBeside = 110; // rows of one; columns from which two stand beside each other
constexpr int kPoints = 500; // of a line in a file
constexpr double kHundredths = 100; // how smoothing is kept
constexpr std::chrono::milliseconds kFollowEvery{2000}; // what trackers write
constexpr double kLooks = 40; // steps of the cursor from end to end

template <typename Enum>
Enum kept_word(const Json& state, const char* key, Enum otherwise)
{
    const Expected<Enum> value = from_text<Enum>(member_or(state, key, std::string()), {});
    return value ? *value : otherwise;
}
} // namespace

HistoryCurves::HistoryCurves(Desk& desk)
    : desk_(desk)
    , runs_({}, desk.wake())
    , legend_({}, 2)
{
}

void HistoryCurves::show(const std::vector<RunSummary>& runs)
{
    wanted_ = std::min(runs.size(), view::CurveRuns::kMost);
    if (!runs_.choose(runs))
        return;
    if (runs.size() > wanted_)
        desk_.tell("The first " + std::to_string(wanted_) + " of " + view::counted(double(runs.size()), "marked run")
            + " are drawn");
    runs_.curves().set_range({});
    cursor_.reset();
    runs_.read();
}

Expected<std::size_t> HistoryCurves::open_tracker(const std::filesystem::path& path)
{
    Expected<std::size_t> opened = runs_.trackers().open(path);
    if (opened)
        looked_ = {};
    return opened;
}

int HistoryCurves::next_tick() const
{
    return has_trackers() ? static_cast<int>(kFollowEvery.count()) : -1;
}

void HistoryCurves::tick(bool on_show)
{
    const auto now = std::chrono::steady_clock::now();
    if (on_show && has_trackers() && !runs_.trackers().is_reading() && now - looked_ >= kFollowEvery) {
        looked_ = now;
        runs_.trackers().read();
    }
    std::string problem;
    if (!runs_.deliver(problem))
        return;
    if (!problem.empty())
        desk_.tell(problem, view::Tone::bad);
    runs_.read();
}

std::string HistoryCurves::said() const
{
    const view::RunCurves& curves = runs_.curves();
    std::string text = runs_.is_reading() ? "Reading " + view::counted(double(wanted_), "run") + "..."
                                          : view::counted(double(curves.count()), "run");
    text += std::string(" over ") + lower_case(view::title_of(curves.axis()));
    if (cursor_)
        text += ", read at " + view::axis_text(curves.axis(), *cursor_);
    if (curves.smoothing() > 0)
        text += ", smoothed " + view::grouped(curves.smoothing(), 2);
    if (curves.groups() != view::CurveGroups::none)
        text += curves.groups() == view::CurveGroups::plan ? ", grouped by plan" : ", grouped by tag";
    if (curves.range())
        text += ", a part of the axis";
    return text;
}

std::vector<HistoryCurves::Chart> HistoryCurves::charts(int dots) const
{
    std::vector<Chart> charts;
    for (const CurveMetric metric : figures_)
        charts.push_back({metric, runs_.curves().picture(metric, dots)});
    return charts;
}

std::string HistoryCurves::read_off(const Chart& chart, const std::string& key) const
{
    const auto line = std::ranges::find(chart.picture.lines, key, &view::CurveLine::key);
    const auto reading = line == chart.picture.lines.end() ? std::nullopt : view::reading_at(*line, cursor_);
    if (!reading)
        return view::kUnknown;
    return view::significant(reading->value)
        + (reading->between ? " (" + view::significant(reading->between->low) + " to "
                    + view::significant(reading->between->high) + ")"
                            : "");
}

void HistoryCurves::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    plots_.clear();
    canvas.text_in(place.row, place.column, place.columns, said(), kMuted);
    const int entries = static_cast<int>(runs_.curves().entries().size());
    if (entries == 0) {
        if (!runs_.is_reading())
            canvas.text_in(
                place.row + 2, place.column, place.columns, has_trackers() ? "Reading..." : "No run is marked", kMuted);
        return;
    }
    const int across = place.columns >= kBeside && figures_.size() > 1 ? 2 : 1;
    const int columns = place.columns / across;
    const std::vector<Chart> all = charts(columns * 2);
    const int legend = 1 + std::clamp(entries, 1, std::max(3, place.rows / 4));
    const int room = place.rows - 1 - legend;
    const int wanted = (static_cast<int>(all.size()) + across - 1) / across;
    const int down = std::clamp(room / kLeastChart, 1, wanted);
    for (int i = 0; i < std::min(down * across, static_cast<int>(all.size())); ++i)
        draw_chart(canvas,
            {place.row + 1 + i / across * (room / down), place.column + i % across * columns, room / down,
                columns - (across > 1 ? 1 : 0)},
            all[static_cast<std::size_t>(i)], look);
    draw_legend(canvas, {place.row + place.rows - legend, place.column, legend, place.columns}, all);
}

Plot HistoryCurves::plot_of(const Chart& chart) const
{
    const view::CurvePicture& picture = chart.picture;
    Plot plot;
    PlotChart& drawn = plot.chart;
    drawn.title = std::string(view::title_of(chart.metric)) + ", " + view::unit_of(chart.metric);
    drawn.x_label = lower_case(view::title_of(runs_.curves().axis()));
    drawn.x_text = [axis = runs_.curves().axis()](double value) { return view::axis_text(axis, value); };
    drawn.y_text = view::significant;
    drawn.from_zero = picture.y.low >= 0 && picture.y.low < picture.y.length() * 0.5;
    plot.cursor = cursor_;
    if (!picture.lines.empty() && picture.x.length() > 0)
        drawn.x_range = {picture.x.low, picture.x.high};
    if (picture.forecast) {
        drawn.level = picture.forecast->value;
        if (picture.forecast->interval)
            drawn.band = {picture.forecast->interval->low, picture.forecast->interval->high};
        drawn.note = view::forecast_text(*picture.forecast);
    }
    const std::vector<view::RunCurves::Entry> entries = runs_.curves().entries();
    const auto add = [&](const view::CurveLine& line) {
        const Ink ink = series_ink(line.colour);
        for (const std::vector<view::CurvePoint>* points : {&line.raw, &line.low, &line.high}) {
            if (!points->empty())
                plot.add("", *points, ChartSeries::Look::faint, ink);
        }
        const auto entry = std::ranges::find(entries, line.key, &view::RunCurves::Entry::key);
        plot.add(entry == entries.end() ? std::string() : entry->name, line.points, ChartSeries::Look::line, ink,
            series_mark(line.colour));
    };
    // The chosen one lies over the others.
    const auto row = static_cast<std::size_t>(legend_.list.selected);
    const std::string chosen = row < entries.size() ? entries[row].key : std::string();
    for (const bool is_chosen : {false, true}) {
        for (const view::CurveLine& line : picture.lines) {
            if ((line.key == chosen) == is_chosen)
                add(line);
        }
    }
    return plot;
}

void HistoryCurves::draw_chart(Canvas& canvas, const Rect& place, const Chart& chart, const Look& look)
{
    Plot plot = plot_of(chart);
    if (width_of(plot.chart.title + plot.chart.note) + 2 > place.columns)
        plot.chart.title = view::title_of(chart.metric);
    plots_.push_back(draw_plot(canvas, place, plot, look));
}

void HistoryCurves::draw_legend(Canvas& canvas, const Rect& place, const std::vector<Chart>& charts)
{
    const std::vector<view::RunCurves::Entry> entries = runs_.curves().entries();
    std::vector<TableView::Column> heads{{"", false, 1}, {"Run", false, std::max(20, place.columns / 2 - 4)}};
    for (const Chart& chart : charts)
        heads.push_back({view::title_of(chart.metric), true, 30});
    legend_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(entries.size());
    content.text = [&](int row, int column) -> std::string {
        const view::RunCurves::Entry& entry = entries[static_cast<std::size_t>(row)];
        if (column == 0) {
            std::string mark;
            append_utf8(mark, entry.shown ? series_mark(entry.colour) : U'-');
            return mark;
        }
        if (column == 1)
            return entry.name + (entry.runs > 1 ? " (" + view::counted(double(entry.runs), "run") + ")" : "");
        return entry.shown ? read_off(charts[static_cast<std::size_t>(column - 2)], entry.key) : std::string();
    };
    content.style = [&](int row, int column) -> Style {
        const view::RunCurves::Entry& entry = entries[static_cast<std::size_t>(row)];
        if (!entry.shown)
            return kMuted;
        return column == 0 ? Style{series_ink(entry.colour), Ink::normal, true} : Style{};
    };
    legend_.draw(canvas, place, content);
}

std::vector<std::string> HistoryCurves::lines() const
{
    std::vector<std::string> lines{said()};
    const std::vector<Chart> all = charts(100);
    for (const Chart& chart : all) {
        if (chart.picture.forecast)
            lines.push_back(
                std::string(view::title_of(chart.metric)) + ": " + view::forecast_text(*chart.picture.forecast));
    }
    for (const view::RunCurves::Entry& entry : runs_.curves().entries()) {
        std::string line = entry.name + (entry.runs > 1 ? ", " + view::counted(double(entry.runs), "run") : "");
        for (const Chart& chart : all)
            line += std::string(", ") + lower_case(view::title_of(chart.metric)) + " " + read_off(chart, entry.key);
        lines.push_back(entry.shown ? line : entry.name + ", hidden");
    }
    return lines;
}

bool HistoryCurves::key(const Key& key)
{
    view::RunCurves& curves = runs_.curves();
    if (key.is('a')) {
        curves.set_axis(static_cast<CurveAxis>((static_cast<int>(curves.axis()) + 1) % 3));
        cursor_.reset();
    } else if (key.is('s') || key.is('S')) {
        smooth(key.is('s') ? 1 : -1);
    } else if (key.is('p')) {
        group_next();
    } else if (key.is('b')) {
        ask_figures();
    } else if (key.is('+') || key.is('=')) {
        zoom(1 / 1.5);
    } else if (key.is('-')) {
        zoom(1.5);
    } else if (key.code == Key::click || key.is_of_drag()) {
        return mouse(key) || legend_.key(key, static_cast<int>(curves.entries().size()));
    } else if (key.is('0') || (key.code == Key::escape && shows_part())) {
        curves.set_range({});
        cursor_.reset();
    } else if (key.is('h') || key.code == Key::left) {
        move_cursor(-1);
    } else if (key.is('l') || key.code == Key::right) {
        move_cursor(1);
    } else if (key.is(' ')) {
        toggle_chosen();
    } else if (key.is('x')) {
        close_tracker();
    } else if (key.is('e')) {
        ask_to_export();
    } else if (key.is('T')) {
        const CurveMetric metric = *figures_.begin();
        desk_.exports().show_table(view::title_of(metric), table(metric));
    } else {
        return legend_.key(key, static_cast<int>(curves.entries().size()));
    }
    return true;
}

bool HistoryCurves::mouse(const Key& key)
{
    if (key.code == Key::release) {
        if (pressed_ && dragged_ && *pressed_ != *dragged_)
            runs_.curves().set_range(CurveRange{std::min(*pressed_, *dragged_), std::max(*pressed_, *dragged_)});
        pressed_.reset();
        dragged_.reset();
        return true;
    }
    const PlotPlace* const found = plot_at(plots_, key);
    if (found == nullptr)
        return false;
    cursor_ = found->x_at(key.column);
    if (runs_.curves().axis() == CurveAxis::step)
        cursor_ = std::round(*cursor_); // there is nothing between two steps
    if (key.code == Key::click)
        pressed_ = cursor_;
    else
        dragged_ = cursor_;
    return true;
}

void HistoryCurves::smooth(int step)
{
    const double now = runs_.curves().smoothing();
    const auto at = std::ranges::lower_bound(kWeights, now - 1e-9) - kWeights.begin();
    const auto next = std::clamp<std::ptrdiff_t>(at + step, 0, std::ssize(kWeights) - 1);
    runs_.curves().set_smoothing(kWeights[static_cast<std::size_t>(next)]);
}

void HistoryCurves::group_next()
{
    runs_.curves().set_groups(static_cast<view::CurveGroups>(
        (static_cast<std::size_t>(runs_.curves().groups()) + 1) % kWords<view::CurveGroups>.size()));
    legend_.list.selected = 0;
}

// About the cursor, or the middle.
void HistoryCurves::zoom(double factor)
{
    const std::optional<CurveRange> all = runs_.curves().whole();
    const CurveRange now = runs_.curves().range().value_or(all.value_or(CurveRange{}));
    const double length = now.length() * factor;
    if (!all || length < all->length() * 1e-4)
        return;
    if (length >= all->length()) {
        runs_.curves().set_range({});
        return;
    }
    const double middle = cursor_ ? *cursor_ : (now.low + now.high) / 2;
    const double share = (middle - now.low) / now.length();
    const double low = std::clamp(middle - length * share, all->low, all->high - length);
    runs_.curves().set_range(CurveRange{low, low + length});
}

// The part on show follows it.
void HistoryCurves::move_cursor(int step)
{
    const std::optional<CurveRange> all = runs_.curves().whole();
    if (!all)
        return;
    const CurveRange now = runs_.curves().range().value_or(*all);
    double length = now.length() / kLooks;
    if (runs_.curves().axis() == CurveAxis::step)
        length = std::max(1.0, std::round(length)); // there is nothing between two steps
    const double at = step * length + (cursor_ ? *cursor_ : step > 0 ? now.low : now.high);
    cursor_ = std::clamp(at, all->low, all->high);
    if (now.holds(*cursor_))
        return;
    const double low = std::clamp(*cursor_ - now.length() / 2, all->low, std::max(all->low, all->high - now.length()));
    runs_.curves().set_range(CurveRange{low, low + now.length()});
}

std::string HistoryCurves::chosen_key() const
{
    const std::vector<view::RunCurves::Entry> entries = runs_.curves().entries();
    const auto row = static_cast<std::size_t>(legend_.list.selected);
    return row < entries.size() ? entries[row].key : std::string();
}

std::string HistoryCurves::chosen_place() const
{
    const std::string key = chosen_key();
    return runs_.trackers().has(key) ? key : std::string();
}

void HistoryCurves::close_tracker()
{
    const std::string key = chosen_place();
    if (key.empty()) {
        desk_.tell(desk_.keyed("A run of the history: `v` goes back to choose others; `x` closes what trackers wrote"));
        return;
    }
    runs_.close_tracker(key);
    desk_.tell("Closed " + key);
}

void HistoryCurves::close_trackers()
{
    for (const std::string& id : runs_.trackers().ids())
        runs_.close_tracker(id);
}

void HistoryCurves::toggle_chosen()
{
    const std::vector<view::RunCurves::Entry> entries = runs_.curves().entries();
    const auto row = static_cast<std::size_t>(legend_.list.selected);
    if (row < entries.size())
        runs_.curves().set_shown(entries[row].key, !entries[row].shown);
}

void HistoryCurves::ask_figures()
{
    std::vector<Picker::Item> items;
    for (std::size_t i = 0; i < view::kCurveMetrics; ++i) {
        const auto metric = static_cast<CurveMetric>(i);
        const bool shown = figures_.contains(metric);
        items.push_back({view::title_of(metric), shown ? "on show: Enter takes it away" : "Enter shows it too",
            [this, metric, shown] {
                if (!shown)
                    figures_.insert(metric);
                else if (figures_.size() > 1)
                    figures_.erase(metric);
                else
                    desk_.tell("One figure stays on show: choose another first");
            }});
    }
    desk_.open(std::make_unique<Picker>("Figures", std::move(items)));
}

Table HistoryCurves::table(CurveMetric metric) const
{
    return view::curve_table(runs_.curves().picture(metric, kPoints), runs_.curves().axis(), metric);
}

void HistoryCurves::ask_to_export()
{
    const auto write = [this](CurveMetric metric) {
        desk_.exports().ask(
            std::string(name(metric)), [this, metric] { return table(metric); }, Picture([this, metric] {
                return fourfold::Chart(plot_of({metric, runs_.curves().picture(metric, 2 * kPoints)}).chart);
            }));
    };
    if (figures_.size() == 1) {
        write(*figures_.begin());
        return;
    }
    std::vector<Picker::Item> items;
    for (const CurveMetric metric : figures_)
        items.push_back({view::title_of(metric), "", [write, metric] { write(metric); }});
    desk_.open(std::make_unique<Picker>("Export which figure", std::move(items)));
}

std::vector<Command> HistoryCurves::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    return {{"Over steps, tokens or time", "a", press('a')}, {"Smooth more (S: less)", "s S", press('s')},
        {"Group repeats of a plan, or runs of a tag", "p", press('p')}, {"Choose the figures", "b", press('b')},
        {"Zoom in and out about the cursor", "+ -", press('+')},
        {"Move the cursor that is read off", "h l", press('l')}, {"Show all of the axis", "0", press('0')},
        {"Hide or show a run", "Space", press(' ')}, {"Close a run that TensorBoard or W&B wrote", "x", press('x')},
        {"Close all that trackers wrote", "", [this] { close_trackers(); }}, {"Export the curves", "e", press('e')},
        {"Show the first figure as a table", "T", press('T')}};
}

Json HistoryCurves::state() const
{
    Json figures = Json::array();
    for (const CurveMetric metric : figures_)
        figures.push_back(name(metric));
    Json trackers = Json::array();
    for (const std::filesystem::path& path : runs_.trackers().paths())
        trackers.push_back(path.string());
    return {{"trackers", trackers}, {"axis", name(runs_.curves().axis())}, {"groups", name(runs_.curves().groups())},
        {"smoothing", std::lround(runs_.curves().smoothing() * kHundredths)}, {"figures", figures}};
}

void HistoryCurves::restore(const Json& state)
{
    if (!state.is_object())
        return;
    for (const std::string& path : texts_of(state, "trackers"))
        static_cast<void>(open_tracker(path)); // what is gone since bothers nobody who only starts the program
    runs_.curves().set_axis(kept_word(state, "axis", CurveAxis::step));
    runs_.curves().set_groups(kept_word(state, "groups", view::CurveGroups::none));
    runs_.curves().set_smoothing(member_or(state, "smoothing", 0) / kHundredths);
    std::set<CurveMetric> figures;
    for (const Json& figure : state.value("figures", Json::array())) {
        const auto metric = from_text<CurveMetric>(figure.is_string() ? figure.get<std::string>() : "", {});
        if (metric)
            figures.insert(*metric);
    }
    if (!figures.empty())
        figures_ = std::move(figures);
}

} // namespace fourfold::tui
