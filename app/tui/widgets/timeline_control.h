// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does at timelines over each other on one axis, or at one: zooms and pans, goes from bar to bar, marks
// times, measures a span; by keys and by the mouse.
#pragma once

#include "app/tui/terminal/key.h"
#include "app/tui/widgets/timeline_rows.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::tui {

class TimelineControl {
public:
    // From the top. They outlive it, or the next call; places on the axis and marks stay.
    void show(std::vector<const view::TimelineScene*> scenes);

    // Rows of one of them: a stage each, or two where there are colours and not enough rows; returns the rows taken.
    int draw_rows(Canvas& canvas, const Rect& place, std::size_t scene, bool focused, const Look& look);
    // Under them: the ends of the axis, or the marks and the measured span.
    void draw_axis(Canvas& canvas, const Rect& place) const;
    // Of the chosen bar (of a kernel several lines), of what is measured, between the marks, or of the part on show.
    [[nodiscard]] std::string said() const;

    enum class Took { no, yes, opens }; // opens: the chosen bar is wanted
    Took key(const Key& key);
    [[nodiscard]] bool has_chosen() const { return chosen_.row >= 0; }
    [[nodiscard]] bool holds_something() const { return has_chosen() || measured_ || !marks_.empty(); } // for Esc
    [[nodiscard]] const view::TimelineBar& chosen() const { return scenes_[scene_]->bar(chosen_); }
    // The next bar of a scene, or the one before, whose facts are wanted (by their index), with time around it where it
    // would be hard to see; false: there is none, and nothing changed.
    bool find(std::size_t scene, const std::vector<bool>& wanted, bool forward);
    // The part of the axis that is on show, in seconds.
    [[nodiscard]] std::pair<double, double> on_show() const { return {window_.begin(), window_.end()}; }

private:
    static constexpr int kLabelColumns = 5; // of a stage, before its row
    struct Drawn { // rows of a scene, as they were drawn last
        Rect place; // without labels
        int top = 0, per_row = 1; // the first row's place; stages in a row
    };
    [[nodiscard]] double time_at(int column, double within) const; // within: of the cell, 0 to 1
    [[nodiscard]] int column_of(double time, const Rect& place) const;
    [[nodiscard]] std::optional<std::size_t> scene_at(const Key& key) const;
    Took mouse(const Key& key);
    void choose(int along, int across);
    void choose_first();
    [[nodiscard]] int label_columns(int columns) const; // of so many
    void follow_chosen(); // with the window, and the span that is stretched
    [[nodiscard]] int micro_batch() const; // of the chosen bar; -1
    [[nodiscard]] double middle() const { return (chosen().start_s + chosen().end_s) / 2; }
    void mark();
    void measure();
    void draw_marks(Canvas& canvas, const Rect& place) const;
    [[nodiscard]] std::string said_of_each(
        std::string (*words)(const view::TimelineScene&, double, double), double begin, double end) const;

    std::vector<const view::TimelineScene*> scenes_;
    std::vector<Drawn> drawn_;
    int label_columns_ = kLabelColumns; // before the rows, as drawn last
    view::TimelineWindow window_;
    std::vector<double> marks_; // seconds, rising; they stay while the plan changes
    std::optional<std::pair<double, double>> measured_; // begin before end
    std::optional<std::pair<double, double>> stretched_from_; // of the bar that the span began at, by keys
    std::optional<int> pressed_; // column where the mouse went down
    std::size_t scene_ = 0; // of the chosen bar
    view::BarRef chosen_;
};

} // namespace fourfold::tui
