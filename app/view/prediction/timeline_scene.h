// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline made ready for drawing and pointing: bars per row, sorted, with binary search. Rows are the stages of a
// pipeline, or the streams of ranks with their kernels. Times in seconds.
#pragma once

#include "app/view/prediction/bar_kind.h"
#include "app/view/prediction/coverage_grid.h"
#include "core/profile/kernel_timeline.h"
#include "core/schedule/steady_part.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fourfold::view {

struct TimelineBar {
    double start_s = 0, end_s = 0;
    BarKind kind = BarKind::forward;
    int microBatch = -1; // -1: belongs to the step
    int chunk = 0; // of a kernel the layer; -1: not known
    std::uint32_t facts = 0; // of a kernel: index into TimelineScene::facts()
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
    explicit TimelineScene(const KernelTimeline& timeline);

    void set_steady(std::optional<SteadyPart> steady) { m_steady = steady; }
    [[nodiscard]] const std::optional<SteadyPart>& steady() const { return m_steady; }

    // What it was made from, without empty spans, of kernels those that touch [begin, end); of the other kind nothing.
    [[nodiscard]] Timeline timeline() const;
    [[nodiscard]] KernelTimeline kernel_timeline(double begin, double end) const;
    [[nodiscard]] bool has_kernels() const { return m_facts != nullptr; }
    [[nodiscard]] const KernelFacts& facts(const TimelineBar& bar) const
    {
        return (*m_facts)[bar.facts];
    } // of a kernel
    [[nodiscard]] const std::vector<KernelFacts>& all_facts() const { return *m_facts; } // where it has kernels
    [[nodiscard]] std::string row_name(int row) const; // "Stage 3", "rank 5, stream 20, fsdp"
    [[nodiscard]] const std::string& row_ranks(int row) const; // "8 ranks alike"; empty: it stands for itself
    [[nodiscard]] int rows() const { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] double length() const { return m_length; }
    [[nodiscard]] std::size_t barCount() const;
    [[nodiscard]] std::span<const TimelineBar> row(int row) const;
    [[nodiscard]] const TimelineBar& bar(const BarRef& ref) const;
    // Bars of a row that may touch [begin, end): first index and one past the last.
    [[nodiscard]] std::pair<std::size_t, std::size_t> touching(int row, double begin, double end) const;
    [[nodiscard]] const CoverageGrid& grid(int row) const { return m_rows.at(static_cast<std::size_t>(row)).grid; }
    // Calls `each` for the bars of a row that may touch [begin, end) and last `least` seconds at least, by index.
    template <typename Each>
    void for_each_long(int row, double begin, double end, double least, Each&& each) const
    {
        const Row& at = m_rows.at(static_cast<std::size_t>(row));
        const auto [first, last] = touching(row, begin, end);
        for (std::size_t i = first; i < last;) {
            const std::size_t block = i / kBlock, next = std::min(last, (block + 1) * kBlock);
            if (at.longest[block] < least) {
                i = next;
                continue;
            }
            for (; i < next; ++i) {
                if (at.bars[i].end_s - at.bars[i].start_s >= least)
                    each(i);
            }
        }
    }
    // The next bar after `from` (none: the first of all) in the order of their starts over all rows, or before it, that
    // is wanted; goes round at the end. Nothing where none is.
    [[nodiscard]] std::optional<BarRef> next(
        const std::optional<BarRef>& from, bool forward, const std::function<bool(const TimelineBar&)>& wanted) const;
    // The bar at a time; of several that overlap the shortest. `slack` widens every bar at both ends.
    [[nodiscard]] std::optional<BarRef> at(int row, double time, double slack = 0) const;
    // The neighbour `step` bars further in the same row (clamped), and the bar nearest in time `rows` further down.
    [[nodiscard]] BarRef along(const BarRef& from, int step) const;
    [[nodiscard]] BarRef across(const BarRef& from, int rows) const;
    // Time the stage waits before this bar, since the end of whatever ran before it.
    [[nodiscard]] double waitBefore(const BarRef& ref) const;
    // Where the time of all rows between two moments goes, in seconds: by kind, and what no bar covers, but for the
    // steady part. Bars that overlap count each.
    struct Shares {
        std::array<double, kBarKinds> busy{};
        double idle = 0;
    };
    [[nodiscard]] Shares shares(double begin, double end) const;
    // Whether any bar of this kind exists, for the legend.
    [[nodiscard]] bool has(BarKind kind) const { return m_kinds & (1u << static_cast<unsigned>(kind)); }
    [[nodiscard]] bool has(SpanKind kind) const { return has(bar_kind(kind)); }

private:
    static constexpr std::size_t kBlock = 64;
    struct Row {
        std::string name, ranks; // of kernels
        std::vector<TimelineBar> bars; // by start
        std::vector<double> reach; // reach[i] = largest end of bars[0..i], for overlapping bars
        std::vector<double> longest; // of each kBlock bars
        CoverageGrid grid;
    };
    void arrange(); // what follows from the bars
    std::vector<Row> m_rows;
    double m_length = 0;
    std::optional<SteadyPart> m_steady;
    unsigned m_kinds = 0;
    std::shared_ptr<const std::vector<KernelFacts>> m_facts; // null: rows are stages
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
