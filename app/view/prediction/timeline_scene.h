// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline made ready for drawing and pointing: bars per stage, sorted, with binary search. Times in seconds.
#pragma once

#include "core/schedule/timeline.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace fourfold::view {

inline constexpr std::size_t kSpanKinds = static_cast<std::size_t>(SpanKind::other) + 1;

struct TimelineBar {
    double start_s = 0, end_s = 0;
    SpanKind kind = SpanKind::forward;
    int microBatch = -1; // -1: belongs to the step
    int chunk = 0;
};

struct BarRef {
    int row = -1;
    std::size_t index = 0;
    bool operator==(const BarRef&) const = default;
};

class TimelineScene {
public:
    TimelineScene() = default;
    explicit TimelineScene(const Timeline& timeline);

    [[nodiscard]] Timeline timeline() const; // what it was made from, without empty spans
    [[nodiscard]] int rows() const { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] double length() const { return m_length; }
    [[nodiscard]] std::size_t barCount() const;
    [[nodiscard]] std::span<const TimelineBar> row(int row) const;
    [[nodiscard]] const TimelineBar& bar(const BarRef& ref) const;
    // Bars of a row that may touch [begin, end): first index and one past the last.
    [[nodiscard]] std::pair<std::size_t, std::size_t> touching(int row, double begin, double end) const;
    // The bar at a time; of several that overlap the shortest. `slack` widens every bar at both ends.
    [[nodiscard]] std::optional<BarRef> at(int row, double time, double slack = 0) const;
    // The neighbour `step` bars further in the same row (clamped), and the bar nearest in time `rows` further down.
    [[nodiscard]] BarRef along(const BarRef& from, int step) const;
    [[nodiscard]] BarRef across(const BarRef& from, int rows) const;
    // Time the stage waits before this bar, since the end of whatever ran before it.
    [[nodiscard]] double waitBefore(const BarRef& ref) const;
    // Where the time of all rows between two moments goes, in seconds: by kind, and what no bar covers. Bars that
    // overlap count each.
    struct Shares {
        std::array<double, kSpanKinds> busy{};
        double idle = 0;
    };
    [[nodiscard]] Shares shares(double begin, double end) const;
    // Whether any bar of this kind exists, for the legend.
    [[nodiscard]] bool has(SpanKind kind) const { return m_kinds & (1u << static_cast<unsigned>(kind)); }

private:
    struct Row {
        std::vector<TimelineBar> bars; // by start
        std::vector<double> reach; // reach[i] = largest end of bars[0..i], for overlapping bars
    };
    std::vector<Row> m_rows;
    double m_length = 0;
    unsigned m_kinds = 0;
};

// The part of the time axis on show, with the way back. Zooming keeps the time under the pointer in place.
class TimelineWindow {
public:
    // A new length keeps the window's share of it, so that an edit does not lose the place.
    void setLength(double length);
    [[nodiscard]] double begin() const { return m_begin; }
    [[nodiscard]] double end() const { return m_end; }
    [[nodiscard]] double span() const { return m_end - m_begin; }
    [[nodiscard]] double length() const { return m_length; }
    [[nodiscard]] bool isFit() const { return m_begin <= 0 && m_end >= m_length; }

    void zoom(double at, double factor); // factor > 1 shows less time
    void pan(double fraction); // of the window, positive = later
    void moveTo(double begin);
    void fit();
    void show(double begin, double end); // remembers the window before
    void back(); // to the window before; steps of one kind after each other are one
    void follow(double begin, double end); // another view moved: no way back is kept

private:
    enum class Step { none, in, out, along };
    void set(double begin, double end);
    void move(Step step, double begin, double end);
    void remember(double begin, double end);

    double m_length = 0, m_begin = 0, m_end = 0;
    std::vector<std::pair<double, double>> m_past;
    Step m_last = Step::none;
};

} // namespace fourfold::view
