// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/timeline_painter.h"

#include "core/base/text.h"
#include "core/report/chart.h"
#include "core/report/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {

using namespace drawing;

namespace {

constexpr double kWidth = 1400, kLeft = 92, kRight = 28, kTop = 92, kBottom = 46;
constexpr double kTallest = 3000; // of all tracks together
constexpr int kKinds = 8;

unsigned colour_of(SpanKind kind)
{
    switch (kind) {
    case SpanKind::forward:
        return okabe::kBlue;
    case SpanKind::backward:
        return okabe::kOrange;
    case SpanKind::weight_gradient:
        return okabe::kVermilion;
    case SpanKind::send_receive:
        return okabe::kPurple;
    case SpanKind::gradient_reduce:
        return okabe::kSky;
    case SpanKind::parameter_gather:
        return okabe::kYellow;
    case SpanKind::optimizer:
        return okabe::kGreen;
    case SpanKind::other:
        break;
    }
    return okabe::kGrey;
}

double track_height(const Timeline& timeline)
{
    const double stages = std::max(1, timeline.stages);
    return std::clamp(kTallest / stages, 2.0, std::clamp(640 / stages, 26.0, 64.0));
}

// To the end of its last span.
double length_of(const Timeline& timeline)
{
    double length = timeline.length_s;
    for (const Span& span : timeline.spans)
        length = std::max(length, span.end_s);
    return length;
}

struct Plot {
    double left = kLeft, top = kTop, width = kWidth - kLeft - kRight, track = 0, length = 1;
    [[nodiscard]] double x(double seconds) const { return left + seconds / length * width; }
    [[nodiscard]] double y(int stage) const { return top + stage * track; }
    [[nodiscard]] double gap() const { return track > 8 ? 2 : 0; }
};

void paint_spans(cairo_t* cairo, const Timeline& timeline, const Plot& plot)
{
    font(cairo, 11);
    for (const Span& span : timeline.spans) {
        const double x = plot.x(span.start_s), width = plot.x(span.end_s) - x;
        const double y = plot.y(span.stage) + plot.gap() / 2, height = plot.track - plot.gap();
        cairo_rectangle(cairo, x, y, std::max(width, 0.3), height);
        ink(cairo, colour_of(span.kind));
        cairo_fill(cairo);
        if (width > 6) { // a hair line between neighbours of one colour
            cairo_rectangle(cairo, x, y, 0.6, height);
            cairo_set_source_rgba(cairo, 1, 1, 1, 0.8);
            cairo_fill(cairo);
        }
        if (span.micro_batch < 0 || height < 14 || width < 16)
            continue;
        const std::string text = std::to_string(span.micro_batch);
        const double needed = text_width(cairo, text);
        if (needed + 4 > width)
            continue;
        grey(cairo, span.kind == SpanKind::forward ? 1 : 0);
        show(cairo, x + (width - needed) / 2, y + height / 2 + 4, text);
    }
}

// Coverage of each column of points by each kind.
void paint_columns(cairo_t* cairo, const Timeline& timeline, const Plot& plot)
{
    const auto columns = static_cast<std::size_t>(plot.width);
    const auto stages = static_cast<std::size_t>(timeline.stages);
    std::vector<std::array<float, kKinds>> covered(columns * stages);
    for (const Span& span : timeline.spans) {
        const double from = std::clamp(span.start_s / plot.length * plot.width, 0.0, plot.width);
        const double to = std::clamp(span.end_s / plot.length * plot.width, 0.0, plot.width);
        for (auto column = static_cast<std::size_t>(from); column < columns && double(column) < to; ++column) {
            const double part = std::min(to, double(column) + 1) - std::max(from, double(column));
            covered[static_cast<std::size_t>(span.stage) * columns + column][static_cast<std::size_t>(span.kind)]
                += float(part);
        }
    }
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const auto look = [&](std::size_t column) {
            const auto& kinds = covered[stage * columns + column];
            const auto most = std::max_element(kinds.begin(), kinds.end());
            float busy = 0;
            for (float share : kinds)
                busy += share;
            // Eight steps of strength are enough, and let equal neighbours join.
            return std::pair{int(most - kinds.begin()), int(std::lround(std::min(busy, 1.0F) * 8))};
        };
        for (std::size_t column = 0; column < columns;) {
            const auto [kind, strength] = look(column);
            std::size_t end = column + 1;
            while (end < columns && look(end) == std::pair{kind, strength})
                ++end;
            if (strength > 0) {
                cairo_rectangle(cairo, plot.left + double(column), plot.y(int(stage)) + plot.gap() / 2,
                    double(end - column), plot.track - plot.gap());
                ink(cairo, colour_of(static_cast<SpanKind>(kind)), strength / 8.0);
                cairo_fill(cairo);
            }
            column = end;
        }
    }
}

void paint_tracks(cairo_t* cairo, const Timeline& timeline, const Plot& plot)
{
    cairo_set_font_size(cairo, 13);
    const int every = std::max(1, int(std::ceil(16 / plot.track)));
    const double length = length_of(timeline), width = length > 0 ? plot.width * (length / plot.length) : plot.width;
    for (int stage = 0; stage < timeline.stages; ++stage) {
        cairo_rectangle(cairo, plot.left, plot.y(stage) + plot.gap() / 2, width, plot.track - plot.gap());
        grey(cairo, 0.94); // idle time shows as this
        cairo_fill(cairo);
        if (stage % every != 0)
            continue;
        grey(cairo, 0.1);
        show_left_of(cairo, plot.left - 10, plot.y(stage) + plot.track / 2 + 4, "stage " + std::to_string(stage));
    }
}

void paint_axis(cairo_t* cairo, const Timeline& timeline, const Plot& plot)
{
    const double bottom = plot.y(std::max(1, timeline.stages)) + 4;
    const double step = tick_step(plot.length, 10);
    cairo_set_font_size(cairo, 12);
    cairo_set_line_width(cairo, 1);
    grey(cairo, 0.3);
    cairo_move_to(cairo, plot.left, bottom);
    cairo_line_to(cairo, plot.left + plot.width, bottom);
    cairo_stroke(cairo);
    for (int i = 0; i * step <= plot.length * (1 + 1e-9); ++i) {
        const double x = plot.x(i * step);
        cairo_move_to(cairo, x, bottom);
        cairo_line_to(cairo, x, bottom + 5);
        cairo_stroke(cairo);
        show_about(cairo, x, bottom + 20, tick_text(i * step, step));
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

void paint_steady(cairo_t* cairo, const TitledTimeline& one, const Plot& plot)
{
    if (!one.steady)
        return;
    const double from = plot.x(one.steady->begin_s), to = plot.x(one.steady->end_s);
    for (int stage = 0; stage < one.timeline->stages; ++stage)
        hatch(cairo, from, plot.y(stage) + plot.gap() / 2, to - from, plot.track - plot.gap());
}

void paint_legend(cairo_t* cairo, const TitledTimeline& one)
{
    const Timeline& timeline = *one.timeline;
    std::array<bool, kKinds> present{};
    for (const Span& span : timeline.spans)
        present[static_cast<std::size_t>(span.kind)] = true;
    double x = kLeft;
    constexpr double kTop = 58, kSide = 14; // of an entry's mark
    const auto entry = [&](const std::string& text, bool hatched = false) {
        if (hatched)
            hatch(cairo, x, kTop, kSide, kSide);
        else
            fill_box(cairo, x, kTop, kSide, kSide);
        grey(cairo, 0.1);
        show(cairo, x + 20, 70, text);
        x += 20 + text_width(cairo, text) + 24;
    };
    for (int kind = 0; kind < kKinds; ++kind) {
        if (!present[static_cast<std::size_t>(kind)])
            continue;
        ink(cairo, colour_of(static_cast<SpanKind>(kind)));
        entry(std::string(name(static_cast<SpanKind>(kind))));
    }
    grey(cairo, 0.88);
    entry("idle");
    if (one.steady)
        entry(steady_words(*one.steady), true);
}

void paint_one(cairo_t* cairo, const TitledTimeline& one, const Plot& plot)
{
    const Timeline& timeline = *one.timeline;
    ground(cairo);
    font(cairo, 18, true);
    grey(cairo, 0.1);
    show(cairo, kLeft, 36, printable(one.title.empty() ? "Pipeline timeline" : one.title, 110));
    font(cairo, 13);
    paint_legend(cairo, one);
    paint_tracks(cairo, timeline, plot);
    if (timeline.spans.size() > kMostRectangles)
        paint_columns(cairo, timeline, plot);
    else
        paint_spans(cairo, timeline, plot);
    paint_steady(cairo, one, plot);
    paint_axis(cairo, timeline, plot);
    if (timeline.spans.empty() || !(length_of(timeline) > 0)) {
        cairo_set_font_size(cairo, 14);
        grey(cairo, 0.35);
        show(cairo, plot.left + 12, plot.top + plot.track / 2 + 5, "This timeline has no spans.");
    }
}

} // namespace

PictureSize timeline_picture_size(const Timeline& timeline)
{
    return {kWidth, kTop + kBottom + track_height(timeline) * std::max(1, timeline.stages)};
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
        size.height += timeline_picture_size(*one.timeline).height;
    return size;
}

void paint_timelines(cairo_t* cairo, std::span<const TitledTimeline> timelines, const PictureSize& size)
{
    constexpr double kThinnest = 2, kNarrowest = 560; // a track; a picture whose words do not lie over each other
    const double around = (kTop + kBottom) * double(timelines.size()); // the tracks
    double least = around, length = 0;
    for (const TitledTimeline& one : timelines) {
        least += kThinnest * std::max(1, one.timeline->stages);
        length = std::max(length, length_of(*one.timeline));
    }
    const double scale = std::max({1.0, least / size.height, kNarrowest / size.width});
    const double share = (size.height * scale - around) / (timelines_picture_size(timelines).height - around);
    cairo_save(cairo);
    cairo_scale(cairo, 1 / scale, 1 / scale);
    for (const TitledTimeline& one : timelines) {
        Plot plot;
        plot.track = track_height(*one.timeline) * share;
        plot.width = size.width * scale - kLeft - kRight;
        plot.length = length > 0 ? length : 1;
        const double height = kTop + kBottom + plot.track * std::max(1, one.timeline->stages);
        cairo_save(cairo);
        cairo_rectangle(cairo, 0, 0, size.width * scale, height);
        cairo_clip(cairo);
        paint_one(cairo, one, plot);
        cairo_restore(cairo);
        cairo_translate(cairo, 0, height);
    }
    cairo_restore(cairo);
}

} // namespace fourfold
