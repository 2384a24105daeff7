// SPDX-License-Identifier: GPL-3.0-or-later
// What all painters share: inks, letters, legends.
#pragma once

#include <cairo.h>

#include <string>

namespace fourfold::drawing {

void ground(cairo_t* cairo); // white, over what is there
void ink(cairo_t* cairo, unsigned rgb, double alpha = 1); // 0xRRGGBB
void grey(cairo_t* cairo, double level);
void font(cairo_t* cairo, double size, bool bold = false);
double text_width(cairo_t* cairo, const std::string& text);
void show(cairo_t* cairo, double x, double baseline, const std::string& text);
void show_left_of(cairo_t* cairo, double x, double baseline, const std::string& text); // ends at x
void show_about(cairo_t* cairo, double x, double baseline, const std::string& text); // its middle at x
// With an ellipsis where it is wider.
std::string fitted(cairo_t* cairo, const std::string& text, double width);
void fill_box(cairo_t* cairo, double x, double y, double width, double height);
void line(cairo_t* cairo, double x0, double y0, double x1, double y1);
void dashes(cairo_t* cairo, double length); // 0: none

} // namespace fourfold::drawing
