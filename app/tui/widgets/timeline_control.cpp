// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/timeline_control.h"

#include "app/view/prediction/kernel_words.h"
#include "app/view/prediction/timeline_rulers.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

using view::BarRef;
using view::TimelineScene;

namespace {
constexpr double kZoom = 1.5, kWheelZoom = 1.25, kPan = 0.25;

std::string waiting_text(const TimelineScene& scene, double begin, double end)
{
    const double all = (end - begin) * scene.rows();
    if (!(all > 0))
        return {};
    const std::string idle = "idle " + view::percent(scene.shares(begin, end).idle / all) + " % of the time on show";
    const std::optional<SteadyPart>& steady = scene.steady();
    return steady && steady->begin_s < end && steady->end_s > begin ? idle + "; without bars: " + steady_words(*steady)
                                                                    : idle;
}
} // namespace

void TimelineControl::show(std::vector<const TimelineScene*> scenes)
{
    double length = 0;
    for (const TimelineScene* scene : scenes)
        length = std::max(length, scene->length());
    if (scenes != scenes_ || length != window_.length())
        window_.setLength(length);
    scenes_ = std::move(scenes);
    drawn_.resize(scenes_.size());
    if (scene_ >= scenes_.size() || chosen_.row >= scenes_[scene_]->rows()
        || (chosen_.row >= 0 && chosen_.index >= scenes_[scene_]->row(chosen_.row).size())) {
        scene_ = 0;
        chosen_ = {};
    }
}

// Streams have long names.
int TimelineControl::label_columns(int columns) const
{
    int widest = 0;
    for (const TimelineScene* scene : scenes_) {
        for (int row = 0; scene->has_kernels() && row < scene->rows(); ++row)
            widest = std::max(widest, width_of(scene->row_name(row)) + 1);
    }
    return widest == 0 ? kLabelColumns : std::min(widest, std::max(kLabelColumns, columns / 3));
}

int TimelineControl::draw_rows(Canvas& canvas, const Rect& place, std::size_t scene, bool focused, const Look& look)
{
    const TimelineScene& shown = *scenes_[scene];
    Drawn& drawn = drawn_[scene];
    const int rows = std::max(1, place.rows);
    const bool halves = look.colors && !look.few && shown.rows() > rows;
    drawn.per_row = halves ? 2 : 1;
    const int needed = (shown.rows() + drawn.per_row - 1) / drawn.per_row;
    const bool has_chosen = chosen_.row >= 0 && scene == scene_;
    if (has_chosen)
        drawn.top = std::clamp(drawn.top, chosen_.row / drawn.per_row - rows + 1, chosen_.row / drawn.per_row);
    drawn.top = std::clamp(drawn.top, 0, std::max(0, needed - rows));
    const int count = std::min(rows, needed - drawn.top);
    label_columns_ = label_columns(place.columns);
    drawn.place = {place.row, place.column + label_columns_, count, std::max(1, place.columns - label_columns_)};
    const TimelineRows cells{shown, window_.begin(), window_.end(), drawn.place.column, drawn.place.columns};
    for (int i = 0; i < count; ++i) {
        const int stage = (drawn.top + i) * drawn.per_row;
        canvas.text(place.row + i, place.column,
            shown.has_kernels() ? fitted_in_middle(shown.row_name(stage), label_columns_ - 1)
                                : "P" + std::to_string(stage),
            kMuted);
        if (halves)
            cells.draw_two(canvas, place.row + i, stage);
        else
            cells.draw_stage(canvas, place.row + i, stage, look, focused && has_chosen ? &chosen_ : nullptr,
                focused ? micro_batch() : -1);
    }
    return count;
}

void TimelineControl::draw_axis(Canvas& canvas, const Rect& place) const
{
    const Rect axis{place.row, place.column + label_columns_, 1, std::max(1, place.columns - label_columns_)};
    if (marks_.empty() && !measured_) {
        canvas.text_in(axis.row, axis.column, axis.columns, view::duration(window_.begin()), kMuted);
        canvas.text_in(axis.row, axis.column, axis.columns, view::duration(window_.end()), kMuted, true);
        return;
    }
    if (measured_) {
        const int first = std::max(0, column_of(measured_->first, axis));
        const int last = std::min(axis.columns - 1, column_of(measured_->second, axis));
        for (int column = first; column <= last; ++column)
            canvas.put(axis.row, axis.column + column, U'\u2550', kAccent);
    }
    draw_marks(canvas, axis);
}

// Each with how far it is from the one before, where there is room for that.
void TimelineControl::draw_marks(Canvas& canvas, const Rect& place) const
{
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        if (marks_[i] < window_.begin() || marks_[i] > window_.end())
            continue;
        const int at = column_of(marks_[i], place);
        const int next
            = i + 1 < marks_.size() ? std::min(place.columns, column_of(marks_[i + 1], place)) : place.columns;
        canvas.put(place.row, place.column + at, U'\u25b2', kAccent);
        const std::string words
            = view::duration(marks_[i]) + (i == 0 ? "" : " +" + view::duration(marks_[i] - marks_[i - 1]));
        if (width_of(words) + 2 <= next - at)
            canvas.text(place.row, place.column + at + 1, words, kMuted);
    }
}

int TimelineControl::column_of(double time, const Rect& place) const
{
    return static_cast<int>((time - window_.begin()) / window_.span() * (place.columns - 1) + 0.5);
}

double TimelineControl::time_at(int column, double within) const
{
    const Rect& place = drawn_.front().place;
    const double share = (column - place.column + within) / place.columns;
    return std::clamp(window_.begin() + share * window_.span(), window_.begin(), window_.end());
}

int TimelineControl::micro_batch() const
{
    return has_chosen() ? chosen().microBatch : -1;
}

std::string TimelineControl::said_of_each(
    std::string (*words)(const TimelineScene&, double, double), double begin, double end) const
{
    if (scenes_.size() == 1)
        return words(*scenes_.front(), begin, end);
    std::string text;
    for (std::size_t i = 0; i < scenes_.size(); ++i)
        text += (i == 0 ? "above " : "; below ") + words(*scenes_[i], begin, end);
    return text;
}

std::string TimelineControl::said() const
{
    if (scenes_.empty())
        return {};
    if (measured_ && scenes_.size() == 1)
        return view::measured_text(*scenes_.front(), measured_->first, measured_->second);
    if (measured_)
        return view::duration(measured_->second - measured_->first) + " from " + view::duration(measured_->first)
            + " on: " + said_of_each(view::shares_text, measured_->first, measured_->second);
    if (!has_chosen() && marks_.size() > 1)
        return view::duration(marks_.back() - marks_.front())
            + " between the marks: " + said_of_each(view::shares_text, marks_.front(), marks_.back());
    if (!has_chosen()) // most streams wait most of the time
        return scenes_.front()->has_kernels() || scenes_.back()->has_kernels()
            ? std::string()
            : said_of_each(waiting_text, window_.begin(), window_.end());
    if (scenes_[scene_]->has_kernels())
        return joined(view::kernel_lines(*scenes_[scene_], chosen_), "\n");
    const view::TimelineBar& bar = chosen();
    std::string words = std::string(view::name(bar.kind));
    if (bar.microBatch >= 0)
        words += text_of(" of micro-batch %d", bar.microBatch);
    words += text_of(" on stage %d, ", chosen_.row) + view::duration(bar.end_s - bar.start_s);
    if (const double wait = scenes_[scene_]->waitBefore(chosen_); wait > 0)
        words += ", after a wait of " + view::duration(wait);
    return words;
}

TimelineControl::Took TimelineControl::key(const Key& key)
{
    if (scenes_.empty() || !(window_.length() > 0))
        return Took::no;
    const double at = has_chosen() ? middle() : window_.begin() + window_.span() / 2;
    if (key.code == Key::click || key.is_of_drag() || key.code == Key::wheel_up || key.code == Key::wheel_down)
        return mouse(key);
    if (key.is('+') || key.is('=') || key.is('w'))
        window_.zoom(at, kZoom);
    else if (key.is('-') || key.is('s'))
        window_.zoom(at, 1 / kZoom);
    else if (key.is('a') || key.is('H'))
        window_.pan(-kPan);
    else if (key.is('d') || key.is('L'))
        window_.pan(kPan);
    else if (key.is('f') || key.is('0'))
        window_.fit();
    else if (key.code == Key::backspace)
        window_.back();
    else if (key.code == Key::left || key.is('h') || key.code == Key::right || key.is('l'))
        choose(key.code == Key::left || key.is('h') ? -1 : 1, 0);
    else if (key.code == Key::up || key.is('k') || key.code == Key::down || key.is('j'))
        choose(0, key.code == Key::up || key.is('k') ? -1 : 1);
    else if (key.is('m') || key.is(' '))
        mark();
    else if (key.is('M'))
        measure();
    else if (key.code == Key::escape && measured_)
        measured_.reset();
    else if (key.code == Key::escape && has_chosen())
        chosen_ = {};
    else if (key.code == Key::escape && !marks_.empty())
        marks_.clear();
    else if (key.is('z') && measured_)
        window_.show(measured_->first, measured_->second);
    else if (key.is('z') && has_chosen())
        window_.show(chosen().start_s, chosen().end_s);
    else if (key.is('z') && marks_.size() > 1)
        window_.show(marks_.front(), marks_.back());
    else if (key.code == Key::enter && has_chosen())
        return Took::opens;
    else
        return Took::no;
    if (key.code == Key::escape)
        stretched_from_.reset();
    return Took::yes;
}

std::optional<std::size_t> TimelineControl::scene_at(const Key& key) const
{
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
        if (drawn_[i].place.contains(key.row, key.column))
            return i;
    }
    return {};
}

// A click chooses a bar, a second one opens it; a drag measures, wherever it goes to; the wheel zooms at its place.
TimelineControl::Took TimelineControl::mouse(const Key& key)
{
    if (key.code == Key::release) {
        pressed_.reset();
        return Took::yes;
    }
    const std::optional<std::size_t> scene = scene_at(key);
    if (key.code == Key::drag) {
        if (!pressed_ && !scene)
            return Took::no;
        const int from = pressed_.value_or(key.column);
        pressed_ = from;
        chosen_ = {}; // it began as a click
        stretched_from_.reset();
        measured_ = {time_at(std::min(from, key.column), 0), time_at(std::max(from, key.column), 1)};
        if (!(measured_->second > measured_->first)) // both beyond one end
            measured_.reset();
        return Took::yes;
    }
    if (!scene)
        return Took::no;
    if (key.code != Key::click) {
        window_.zoom(time_at(key.column, 0.5), key.code == Key::wheel_up ? kWheelZoom : 1 / kWheelZoom);
        return Took::yes;
    }
    pressed_ = key.column;
    measured_.reset();
    const Drawn& drawn = drawn_[*scene];
    const int stage = (drawn.top + key.row - drawn.place.row) * drawn.per_row;
    const double half = window_.span() / drawn.place.columns / 2;
    const std::optional<BarRef> bar = scenes_[*scene]->at(stage, time_at(key.column, 0.5), half);
    const bool again = bar && has_chosen() && *scene == scene_ && *bar == chosen_;
    scene_ = *scene;
    chosen_ = bar.value_or(BarRef{});
    return again ? Took::opens : Took::yes;
}

void TimelineControl::choose_first()
{
    for (scene_ = 0; scene_ < scenes_.size(); ++scene_) {
        const TimelineScene& scene = *scenes_[scene_];
        for (int row = 0; row < scene.rows(); ++row) {
            if (const auto [first, last] = scene.touching(row, window_.begin(), window_.end()); first < last) {
                chosen_ = {row, first};
                return;
            }
        }
    }
    scene_ = 0;
}

void TimelineControl::choose(int along, int across)
{
    if (!has_chosen()) {
        choose_first();
        return;
    }
    const TimelineScene& scene = *scenes_[scene_];
    const int row = chosen_.row + across;
    const bool up = row < 0 && scene_ > 0, down = row >= scene.rows() && scene_ + 1 < scenes_.size();
    if (up || down) { // to the nearest bar of the neighbour's next row
        const double time = middle();
        const std::size_t next = scene_ + (up ? -1 : 1);
        const int edge = up ? scenes_[next]->rows() - 1 : 0;
        if (scenes_[next]->rows() > 0 && !scenes_[next]->row(edge).empty()) {
            scene_ = next;
            const std::span<const view::TimelineBar> bars = scenes_[next]->row(edge);
            const auto nearest = std::ranges::min_element(bars, {}, [time](const view::TimelineBar& bar) {
                return std::max({bar.start_s - time, time - bar.end_s, 0.0});
            });
            chosen_ = {edge, static_cast<std::size_t>(nearest - bars.begin())};
        }
    } else {
        chosen_ = along != 0 ? scene.along(chosen_, along) : scene.across(chosen_, across);
    }
    follow_chosen();
}

bool TimelineControl::find(std::size_t scene, const std::vector<bool>& wanted, bool forward)
{
    constexpr double kAround = 20; // lengths of the bar, before and behind it
    const std::optional<BarRef> from = has_chosen() && scene == scene_ ? std::optional(chosen_) : std::nullopt;
    const std::optional<BarRef> found = scenes_[scene]->next(
        from, forward, [&wanted](const view::TimelineBar& bar) { return bool(wanted[bar.facts]); });
    if (!found)
        return false;
    scene_ = scene;
    chosen_ = *found;
    follow_chosen();
    const double length = chosen().end_s - chosen().start_s;
    const int columns = std::max(1, drawn_[scene].place.columns);
    if (length < 2 * window_.span() / columns)
        window_.show(chosen().start_s - kAround * length, chosen().end_s + kAround * length);
    return true;
}

void TimelineControl::follow_chosen()
{
    if (middle() < window_.begin() || middle() > window_.end())
        window_.moveTo(middle() - window_.span() / 2);
    if (stretched_from_)
        measured_
            = {std::min(stretched_from_->first, chosen().start_s), std::max(stretched_from_->second, chosen().end_s)};
}

// Where the chosen bar begins, else in the middle.
void TimelineControl::mark()
{
    const double time = has_chosen() ? chosen().start_s : window_.begin() + window_.span() / 2;
    view::toggle_mark(marks_, time, window_.span() / 1000);
}

// From the chosen bar on, with each that is chosen next; once more ends it.
void TimelineControl::measure()
{
    if (stretched_from_) {
        stretched_from_.reset();
        return;
    }
    if (!has_chosen())
        choose_first();
    if (!has_chosen())
        return;
    stretched_from_ = {chosen().start_s, chosen().end_s};
    measured_ = stretched_from_;
}

} // namespace fourfold::tui
