// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/timeline_painter.h"

#include "core/base/text.h"
#include "core/report/chart.h"
#include "core/report/drawing.h"
#include "core/report/tracks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {

using namespace drawing;

namespace {

constexpr double kWidth = 1400, kRight = 28, kTop = 92, kBottom = 46;
constexpr double kLeast = 92, kMost = 320; // left of the tracks, for their names
constexpr double kTallest = 3000; // of all tracks together

double track_height(int tracks)
{
    const double count = std::max(1, tracks);
    return std::clamp(kTallest / count, 2.0, std::clamp(640 / count, 26.0, 64.0));
}

struct Plot {
    double left = kLeast, top = kTop, width = kWidth - kLeast - kRight, track = 0, begin = 0, length = 1;
    [[nodiscard]] double x(double seconds) const { return left + (seconds - begin) / length * width; }
    [[nodiscard]] double y(int track_number) const { return top + track_number * track; }
    [[nodiscard]] double gap() const { return track > 8 ? 2 : 0; }
    [[nodiscard]] bool shows(const TrackSpan& span) const
    {
        return span.end_s >= begin && span.start_s <= begin + length;
    }
};

void paint_spans(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    font(cairo, 11);
    for (const TrackSpan& span : tracks.spans) {
        if (!plot.shows(span))
            continue;
        const double x = plot.x(span.start_s), width = plot.x(span.end_s) - x;
        const double y = plot.y(span.track) + plot.gap() / 2, height = plot.track - plot.gap();
        cairo_rectangle(cairo, x, y, std::max(width, 0.3), height);
        ink(cairo, look_of(span.kind).rgb);
        cairo_fill(cairo);
        if (width > 6) { // a hair line between neighbours of one colour
            cairo_rectangle(cairo, x, y, 0.6, height);
            cairo_set_source_rgba(cairo, 1, 1, 1, 0.8);
            cairo_fill(cairo);
        }
        if (height < 14 || width < 16)
            continue;
        const std::string text = tracks.words(span);
        const double needed = text.empty() ? 0 : text_width(cairo, text);
        if (text.empty() || needed + 4 > width)
            continue;
        grey(cairo, look_of(span.kind).rgb == okabe::kBlue ? 1 : 0);
        show(cairo, x + (width - needed) / 2, y + height / 2 + 4, text);
    }
}

// Coverage of each column of points by each kind.
void paint_columns(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    const auto columns = static_cast<std::size_t>(plot.width);
    for (auto span = tracks.spans.begin(); span != tracks.spans.end();) {
        const int track = span->track;
        std::vector<std::array<float, kTrackKinds>> covered(columns);
        for (; span != tracks.spans.end() && span->track == track; ++span) {
            const double from = std::clamp(plot.x(span->start_s) - plot.left, 0.0, plot.width);
            const double to = std::clamp(plot.x(span->end_s) - plot.left, 0.0, plot.width);
            for (auto column = static_cast<std::size_t>(from); column < columns && double(column) < to; ++column) {
                const double part = std::min(to, double(column) + 1) - std::max(from, double(column));
                covered[column][span->kind] += float(part);
            }
        }
        const auto look = [&](std::size_t column) {
            const auto& kinds = covered[column];
            const auto most = std::max_element(kinds.begin(), kinds.end());
            float busy = 0;
            for (float share : kinds)
                busy += share;
            // Eight steps of strength are enough, and let equal neighbours join.
            return std::pair{std::size_t(most - kinds.begin()), int(std::lround(std::min(busy, 1.0F) * 8))};
        };
        for (std::size_t column = 0; column < columns;) {
            const auto [kind, strength] = look(column);
            std::size_t end = column + 1;
            while (end < columns && look(end) == std::pair{kind, strength})
                ++end;
            if (strength > 0) {
                cairo_rectangle(cairo, plot.left + double(column), plot.y(track) + plot.gap() / 2, double(end - column),
                    plot.track - plot.gap());
                ink(cairo, look_of(kind).rgb, strength / 8.0);
                cairo_fill(cairo);
            }
            column = end;
        }
    }
}

void paint_tracks(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    font(cairo, 13);
    const int every = std::max(1, int(std::ceil(16 / plot.track)));
    const double end = tracks.length_s > 0 ? plot.x(tracks.length_s) : plot.left + plot.width;
    for (int track = 0; track < int(tracks.names.size()); ++track) {
        grey(cairo, 0.94); // idle time shows as this
        fill_box(cairo, plot.left, plot.y(track) + plot.gap() / 2,
            std::clamp(end, plot.left, plot.left + plot.width) - plot.left, plot.track - plot.gap());
        if (track % every != 0)
            continue;
        grey(cairo, 0.1);
        show_left_of(cairo, plot.left - 10, plot.y(track) + plot.track / 2 + 4,
            fitted(cairo, tracks.names[std::size_t(track)], plot.left - 16));
    }
}

void paint_axis(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    const double bottom = plot.y(std::max(1, int(tracks.names.size()))) + 4;
    const double step = tick_step(plot.length, 10);
    cairo_set_font_size(cairo, 12);
    cairo_set_line_width(cairo, 1);
    grey(cairo, 0.3);
    cairo_move_to(cairo, plot.left, bottom);
    cairo_line_to(cairo, plot.left + plot.width, bottom);
    cairo_stroke(cairo);
    const double first = std::ceil(plot.begin / step - 1e-9), end = plot.begin + plot.length * (1 + 1e-9);
    for (int i = 0; (first + i) * step <= end; ++i) {
        const double at = (first + i) * step, x = plot.x(at);
        cairo_move_to(cairo, x, bottom);
        cairo_line_to(cairo, x, bottom + 5);
        cairo_stroke(cairo);
        show_about(cairo, x, bottom + 20, tick_text(at, step));
    }
}

// Over what is there: idle ground, as no span covers it.
void hatch(cairo_t* cairo, double x, double y, double width, double height)
{
    constexpr double kApart = 8;
    cairo_save(cairo);
    cairo_rectangle(cairo, x, y, width, height);
    grey(cairo, 1);
    cairo_fill_preserve(cairo);
    cairo_clip(cairo);
    grey(cairo, 0.6);
    cairo_set_line_width(cairo, 1);
    for (double at = kApart / 2; at < width + height; at += kApart) {
        cairo_move_to(cairo, x + at, y);
        cairo_line_to(cairo, x + at - height, y + height);
    }
    cairo_stroke(cairo);
    cairo_restore(cairo);
}

void paint_steady(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    if (!tracks.steady)
        return;
    const auto inside = [&plot](double at) { return std::clamp(plot.x(at), plot.left, plot.left + plot.width); };
    const double from = inside(tracks.steady->begin_s), to = inside(tracks.steady->end_s);
    for (int track = 0; track < int(tracks.names.size()) && to > from; ++track)
        hatch(cairo, from, plot.y(track) + plot.gap() / 2, to - from, plot.track - plot.gap());
}

void paint_legend(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    std::array<bool, kTrackKinds> present{};
    for (const TrackSpan& span : tracks.spans)
        present[span.kind] = true;
    double x = plot.left;
    constexpr double kLegendTop = 58, kSide = 14; // of an entry's mark
    const auto entry = [&](const std::string& text, bool hatched = false) {
        if (hatched)
            hatch(cairo, x, kLegendTop, kSide, kSide);
        else
            fill_box(cairo, x, kLegendTop, kSide, kSide);
        grey(cairo, 0.1);
        show(cairo, x + 20, 70, text);
        x += 20 + text_width(cairo, text) + 24;
    };
    for (std::size_t kind = 0; kind < kTrackKinds; ++kind) {
        if (!present[kind])
            continue;
        ink(cairo, look_of(kind).rgb);
        entry(std::string(look_of(kind).name));
    }
    grey(cairo, 0.88);
    entry("idle");
    if (tracks.steady)
        entry(steady_words(*tracks.steady), true);
}

void paint_one(cairo_t* cairo, const Tracks& tracks, const Plot& plot)
{
    ground(cairo);
    font(cairo, 18, true);
    grey(cairo, 0.1);
    show(cairo, plot.left, 36, printable(tracks.title.empty() ? "Pipeline timeline" : tracks.title, 110));
    font(cairo, 13);
    paint_legend(cairo, tracks, plot);
    paint_tracks(cairo, tracks, plot);
    cairo_save(cairo);
    cairo_rectangle(cairo, plot.left, 0, plot.width, plot.y(int(tracks.names.size())));
    cairo_clip(cairo);
    if (std::size_t(std::ranges::count_if(tracks.spans, [&](const TrackSpan& span) { return plot.shows(span); }))
        > kMostRectangles)
        paint_columns(cairo, tracks, plot);
    else
        paint_spans(cairo, tracks, plot);
    paint_steady(cairo, tracks, plot);
    cairo_restore(cairo);
    font(cairo, 13);
    paint_axis(cairo, tracks, plot);
    if (tracks.spans.empty() || !(tracks.length_s > 0)) {
        cairo_set_font_size(cairo, 14);
        grey(cairo, 0.35);
        show(cairo, plot.left + 12, plot.top + plot.track / 2 + 5, "This timeline has no spans.");
    }
}

int tracks_of(const TitledTimeline& one)
{
    return one.kernels != nullptr ? int(one.kernels->tracks.size()) : one.timeline->stages;
}

PictureSize size_of(int tracks)
{
    return {kWidth, kTop + kBottom + track_height(tracks) * std::max(1, tracks)};
}

// Room for the longest name of all.
double names_width(cairo_t* cairo, const std::vector<Tracks>& all)
{
    double width = kLeast;
    font(cairo, 13);
    for (const Tracks& tracks : all) {
        for (const std::string& name : tracks.names)
            width = std::max(width, text_width(cairo, name) + 20);
    }
    return std::min(width, kMost);
}

} // namespace

PictureSize timeline_picture_size(const Timeline& timeline)
{
    return size_of(timeline.stages);
}

double tick_step(double length, int wanted)
{
    if (!(length > 0) || wanted < 1)
        return 1;
    const double rough = length / wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough)
            return factor * power;
    }
    return 10 * power;
}

std::string tick_text(double seconds, double step)
{
    struct Unit {
        double size;
        const char* name;
    };
    Unit unit{1, "s"};
    if (step < 1e-4)
        unit = {1e-6, "us"};
    else if (step < 0.1)
        unit = {1e-3, "ms"};
    const double digits = -std::floor(std::log10(step / unit.size) + 1e-9);
    return text_of("%.*f %s", int(std::clamp(digits, 0.0, 6.0)), seconds / unit.size, unit.name);
}

void paint_timeline(cairo_t* cairo, const ListedStep& step, const std::string& title)
{
    const TitledTimeline one{&step.timeline, title, step.steady};
    paint_timelines(cairo, {&one, 1}, timeline_picture_size(step.timeline));
}

PictureSize timelines_picture_size(std::span<const TitledTimeline> timelines)
{
    PictureSize size{kWidth, 0};
    for (const TitledTimeline& one : timelines)
        size.height += size_of(tracks_of(one)).height;
    return size;
}

void paint_timelines(
    cairo_t* cairo, std::span<const TitledTimeline> timelines, const PictureSize& size, const TimePart& part)
{
    constexpr double kThinnest = 2, kNarrowest = 560; // a track; a picture whose words do not lie over each other
    const double around = (kTop + kBottom) * double(timelines.size()); // the tracks
    double least = around, length = 0;
    std::vector<Tracks> all;
    for (const TitledTimeline& one : timelines) {
        all.push_back(tracks_from(one));
        least += kThinnest * std::max(1, tracks_of(one));
        length = std::max(length, all.back().length_s);
    }
    const double scale = std::max({1.0, least / size.height, kNarrowest / size.width});
    const double share = (size.height * scale - around) / (timelines_picture_size(timelines).height - around);
    cairo_save(cairo);
    cairo_scale(cairo, 1 / scale, 1 / scale);
    Plot plot;
    plot.left = names_width(cairo, all);
    plot.width = size.width * scale - plot.left - kRight;
    plot.begin = part ? part->first : 0;
    plot.length = part ? part->second - part->first : length > 0 ? length : 1;
    for (const Tracks& tracks : all) {
        const int count = int(tracks.names.size());
        plot.track = track_height(count) * share;
        const double height = kTop + kBottom + plot.track * std::max(1, count);
        cairo_save(cairo);
        cairo_rectangle(cairo, 0, 0, size.width * scale, height);
        cairo_clip(cairo);
        paint_one(cairo, tracks, plot);
        cairo_restore(cairo);
        cairo_translate(cairo, 0, height);
    }
    cairo_restore(cairo);
}

} // namespace fourfold
