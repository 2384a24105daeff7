// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/drawing.h"

#include <array>

namespace fourfold::drawing {

namespace {
constexpr const char* kFont = "DejaVu Sans";
constexpr const char* kEllipsis = "\u2026";
} // namespace

void ground(cairo_t* cairo)
{
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
}

void ink(cairo_t* cairo, unsigned rgb, double alpha)
{
    cairo_set_source_rgba(cairo, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0, alpha);
}

void grey(cairo_t* cairo, double level)
{
    cairo_set_source_rgb(cairo, level, level, level);
}

void font(cairo_t* cairo, double size, bool bold)
{
    cairo_select_font_face(
        cairo, kFont, CAIRO_FONT_SLANT_NORMAL, bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

double text_width(cairo_t* cairo, const std::string& text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text.c_str(), &extents);
    return extents.x_advance;
}

void show(cairo_t* cairo, double x, double baseline, const std::string& text)
{
    cairo_move_to(cairo, x, baseline);
    cairo_show_text(cairo, text.c_str());
}

void show_left_of(cairo_t* cairo, double x, double baseline, const std::string& text)
{
    show(cairo, x - text_width(cairo, text), baseline, text);
}

void show_about(cairo_t* cairo, double x, double baseline, const std::string& text)
{
    show(cairo, x - text_width(cairo, text) / 2, baseline, text);
}

std::string fitted(cairo_t* cairo, const std::string& text, double width)
{
    if (text_width(cairo, text) <= width + 0.5) // a sum that should be it may be less by a rounding
        return text;
    std::string cut = text;
    while (!cut.empty() && text_width(cairo, cut + kEllipsis) > width) {
        while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80)
            cut.pop_back();
        if (!cut.empty())
            cut.pop_back();
    }
    return cut.empty() ? cut : cut + kEllipsis;
}

void fill_box(cairo_t* cairo, double x, double y, double width, double height)
{
    cairo_rectangle(cairo, x, y, width, height);
    cairo_fill(cairo);
}

void line(cairo_t* cairo, double x0, double y0, double x1, double y1)
{
    cairo_move_to(cairo, x0, y0);
    cairo_line_to(cairo, x1, y1);
    cairo_stroke(cairo);
}

void dashes(cairo_t* cairo, double length)
{
    const std::array<double, 2> pattern{length, length};
    cairo_set_dash(cairo, pattern.data(), length > 0 ? 2 : 0, 0);
}

} // namespace fourfold::drawing
