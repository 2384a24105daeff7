// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/timeline_scene.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
constexpr double kDeepestZoom = 1e-7; // of the length: microseconds of a step of ten seconds
constexpr std::size_t kPastWindows = 100;
} // namespace

TimelineScene::TimelineScene(const Timeline& timeline)
    : m_rows(static_cast<std::size_t>(std::max(0, timeline.stages)))
    , m_length(timeline.length_s)
{
    std::vector<std::size_t> bars(m_rows.size(), 0);
    for (const Span& span : timeline.spans) {
        if (span.stage >= 0 && span.stage < timeline.stages)
            ++bars[static_cast<std::size_t>(span.stage)];
    }
    for (std::size_t row = 0; row < m_rows.size(); ++row)
        m_rows[row].bars.reserve(bars[row]);
    for (const Span& span : timeline.spans) {
        if (span.stage < 0 || span.stage >= timeline.stages || !(span.end_s > span.start_s))
            continue;
        m_rows[static_cast<std::size_t>(span.stage)].bars.push_back(
            {span.start_s, span.end_s, bar_kind(span.kind), span.micro_batch, span.chunk});
    }
    arrange();
}

TimelineScene::TimelineScene(const KernelTimeline& timeline)
    : m_rows(timeline.tracks.size())
    , m_length(timeline.length_s)
    , m_facts(std::make_shared<const std::vector<KernelFacts>>(timeline.facts))
{
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        const KernelTrack& track = timeline.tracks[row];
        m_rows[row].name = track.name;
        m_rows[row].ranks = track.ranks;
        m_rows[row].bars.reserve(track.spans.size());
        for (const KernelSpan& span : track.spans) {
            if (span.end_s > span.start_s)
                m_rows[row].bars.push_back({span.start_s, span.end_s, bar_kind(timeline.facts[span.facts].kind),
                    span.micro_batch, span.layer, span.facts});
        }
    }
    arrange();
}

void TimelineScene::arrange()
{
    for (const Row& row : m_rows) {
        for (const TimelineBar& bar : row.bars) {
            m_length = std::max(m_length, bar.end_s);
            m_kinds |= 1u << static_cast<unsigned>(bar.kind);
        }
    }
    for (Row& row : m_rows) {
        const auto earlier = [](const TimelineBar& a, const TimelineBar& b) { return a.start_s < b.start_s; };
        if (!std::is_sorted(row.bars.begin(), row.bars.end(), earlier))
            std::stable_sort(row.bars.begin(), row.bars.end(), earlier);
        row.reach.reserve(row.bars.size());
        row.longest.assign((row.bars.size() + kBlock - 1) / kBlock, 0);
        double reach = 0;
        for (std::size_t i = 0; i < row.bars.size(); ++i) {
            const TimelineBar& bar = row.bars[i];
            row.reach.push_back(reach = std::max(reach, bar.end_s));
            row.longest[i / kBlock] = std::max(row.longest[i / kBlock], bar.end_s - bar.start_s);
        }
        row.grid = CoverageGrid(row.bars, m_length);
    }
}

Timeline TimelineScene::timeline() const
{
    Timeline timeline{has_kernels() ? 0 : rows(), m_length, {}};
    for (int stage = 0; stage < timeline.stages; ++stage) {
        for (const TimelineBar& bar : row(stage))
            timeline.spans.push_back(
                {stage, static_cast<SpanKind>(bar.kind), bar.microBatch, bar.chunk, bar.start_s, bar.end_s});
    }
    return timeline;
}

KernelTimeline TimelineScene::kernel_timeline(double begin, double end) const
{
    KernelTimeline timeline;
    timeline.length_s = m_length;
    if (!has_kernels())
        return timeline;
    timeline.facts = *m_facts;
    for (int row = 0; row < rows(); ++row) {
        timeline.tracks.push_back({row_name(row), row_ranks(row), {}});
        for_each_long(row, begin, end, 0, [&](std::size_t i) {
            const TimelineBar& bar = this->row(row)[i];
            if (bar.end_s > begin)
                timeline.tracks.back().spans.push_back({bar.start_s, bar.end_s, bar.facts, bar.chunk, bar.microBatch});
        });
    }
    return timeline;
}

std::string TimelineScene::row_name(int row) const
{
    return has_kernels() ? m_rows.at(static_cast<std::size_t>(row)).name : "Stage " + std::to_string(row);
}

const std::string& TimelineScene::row_ranks(int row) const
{
    return m_rows.at(static_cast<std::size_t>(row)).ranks;
}

std::optional<BarRef> TimelineScene::next(
    const std::optional<BarRef>& from, bool forward, const std::function<bool(const TimelineBar&)>& wanted) const
{
    // By start, then row, then place: whether `a` is behind `b`.
    const auto behind = [&](const BarRef& a, const BarRef& b) {
        const double left = bar(a).start_s, right = bar(b).start_s;
        return left != right ? left > right : a.row != b.row ? a.row > b.row : a.index > b.index;
    };
    std::optional<BarRef> nearest, furthest; // beyond `from`, and round the end
    for (int row = 0; row < rows(); ++row) {
        const std::span<const TimelineBar> bars = this->row(row);
        for (std::size_t i = 0; i < bars.size(); ++i) {
            if (!wanted(bars[i]))
                continue;
            const BarRef here{row, i};
            const bool beyond = !from || (forward ? behind(here, *from) : behind(*from, here));
            std::optional<BarRef>& best = beyond ? nearest : furthest;
            if (!best || (forward ? behind(*best, here) : behind(here, *best)))
                best = here;
        }
    }
    return nearest ? nearest : furthest;
}

std::size_t TimelineScene::barCount() const
{
    std::size_t count = 0;
    for (const Row& row : m_rows)
        count += row.bars.size();
    return count;
}

std::span<const TimelineBar> TimelineScene::row(int row) const
{
    return m_rows.at(static_cast<std::size_t>(row)).bars;
}

const TimelineBar& TimelineScene::bar(const BarRef& ref) const
{
    return m_rows.at(static_cast<std::size_t>(ref.row)).bars.at(ref.index);
}

std::pair<std::size_t, std::size_t> TimelineScene::touching(int rowIndex, double begin, double end) const
{
    const Row& row = m_rows.at(static_cast<std::size_t>(rowIndex));
    const auto first = std::upper_bound(row.reach.begin(), row.reach.end(), begin);
    const auto last = std::lower_bound(
        row.bars.begin(), row.bars.end(), end, [](const TimelineBar& bar, double time) { return bar.start_s < time; });
    const auto from = static_cast<std::size_t>(first - row.reach.begin());
    return {from, std::max(from, static_cast<std::size_t>(last - row.bars.begin()))};
}

std::optional<BarRef> TimelineScene::at(int rowIndex, double time, double slack) const
{
    if (rowIndex < 0 || rowIndex >= rows())
        return {};
    std::optional<BarRef> best;
    double bestMiss = slack, bestLength = 0;
    const auto [first, last] = touching(rowIndex, time - slack, time + slack + std::nextafter(0.0, 1.0));
    for (std::size_t i = first; i < last; ++i) {
        const TimelineBar& bar = m_rows[static_cast<std::size_t>(rowIndex)].bars[i];
        const double miss = std::max({0.0, bar.start_s - time, time - bar.end_s});
        const double length = bar.end_s - bar.start_s;
        if (miss > slack || (best && (miss > bestMiss || (miss == bestMiss && length >= bestLength))))
            continue;
        best = BarRef{rowIndex, i};
        bestMiss = miss;
        bestLength = length;
    }
    return best;
}

BarRef TimelineScene::along(const BarRef& from, int step) const
{
    const auto count = static_cast<long>(row(from.row).size());
    const long to = std::clamp(static_cast<long>(from.index) + step, 0L, count - 1);
    return {from.row, static_cast<std::size_t>(to)};
}

BarRef TimelineScene::across(const BarRef& from, int rows) const
{
    const int to = std::clamp(from.row + rows, 0, this->rows() - 1);
    const std::span<const TimelineBar> bars = row(to);
    if (bars.empty())
        return from;
    const TimelineBar& here = bar(from);
    const double middle = (here.start_s + here.end_s) / 2;
    const auto next = std::lower_bound(
        bars.begin(), bars.end(), middle, [](const TimelineBar& bar, double time) { return bar.start_s < time; });
    const std::size_t after = std::min(static_cast<std::size_t>(next - bars.begin()), bars.size() - 1);
    const std::size_t before = after == 0 ? 0 : after - 1;
    const auto distance = [&](std::size_t i) { return std::abs((bars[i].start_s + bars[i].end_s) / 2 - middle); };
    return {to, distance(before) <= distance(after) ? before : after};
}

double TimelineScene::waitBefore(const BarRef& ref) const
{
    const double start = bar(ref).start_s;
    const double before = ref.index == 0 ? 0 : m_rows[static_cast<std::size_t>(ref.row)].reach[ref.index - 1];
    return std::max(0.0, start - before);
}

TimelineScene::Shares TimelineScene::shares(double begin, double end) const
{
    Shares shares;
    const double steady
        = m_steady ? std::max(0.0, std::min(end, m_steady->end_s) - std::max(begin, m_steady->begin_s)) : 0;
    for (int rowIndex = 0; rowIndex < rows() && end > begin; ++rowIndex) {
        double reach = begin; // what is covered so far
        const auto [first, last] = touching(rowIndex, begin, end);
        for (const TimelineBar& bar : row(rowIndex).subspan(first, last - first)) {
            const double from = std::max(begin, bar.start_s), to = std::min(end, bar.end_s);
            if (to <= from)
                continue;
            shares.busy[static_cast<std::size_t>(bar.kind)] += to - from;
            shares.idle += std::max(0.0, from - reach);
            reach = std::max(reach, to);
        }
        shares.idle += end - reach - steady;
    }
    return shares;
}

void TimelineWindow::setLength(double length)
{
    const bool keep = m_length > 0 && length > 0 && !isFit();
    const double scale = keep ? length / m_length : 1;
    m_length = length;
    m_past.clear();
    m_last = Step::none;
    if (keep)
        set(m_begin * scale, m_end * scale);
    else
        set(0, length);
}

void TimelineWindow::zoom(double at, double factor)
{
    if (factor <= 0 || m_length <= 0)
        return;
    const double wanted = std::clamp(span() / factor, m_length * kDeepestZoom, m_length);
    const double left = (at - m_begin) / span();
    move(factor > 1 ? Step::in : Step::out, at - left * wanted, at - left * wanted + wanted);
}

void TimelineWindow::pan(double fraction)
{
    moveTo(m_begin + fraction * span());
}

void TimelineWindow::moveTo(double begin)
{
    move(Step::along, begin, begin + span());
}

void TimelineWindow::fit()
{
    if (!isFit())
        show(0, m_length);
}

void TimelineWindow::show(double begin, double end)
{
    if (!(end > begin))
        return;
    remember(m_begin, m_end);
    m_last = Step::none;
    set(begin, std::max(end, begin + m_length * kDeepestZoom));
}

void TimelineWindow::remember(double begin, double end)
{
    m_past.emplace_back(begin, end);
    if (m_past.size() > kPastWindows)
        m_past.erase(m_past.begin());
}

void TimelineWindow::move(Step step, double begin, double end)
{
    const auto [oldBegin, oldEnd] = std::pair(m_begin, m_end);
    set(begin, end);
    if (m_begin == oldBegin && m_end == oldEnd)
        return; // at the end of the axis already
    if (step != m_last)
        remember(oldBegin, oldEnd);
    m_last = step;
}

void TimelineWindow::follow(double begin, double end)
{
    set(begin, end);
}

void TimelineWindow::back()
{
    if (m_past.empty())
        return;
    const auto [begin, end] = m_past.back();
    m_past.pop_back();
    m_last = Step::none;
    set(begin, end);
}

// Keeps the window inside [0, length] and as wide as asked where that is possible. All but a rounding is all.
void TimelineWindow::set(double begin, double end)
{
    const double width = end - begin >= m_length * (1 - 1e-9) ? m_length : end - begin;
    m_begin = std::clamp(begin, 0.0, m_length - width);
    m_end = m_begin + width;
}

} // namespace fourfold::view
