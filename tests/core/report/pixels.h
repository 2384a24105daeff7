// SPDX-License-Identifier: GPL-3.0-or-later
// What a painter paints, as pixels.
#pragma once

#include "core/report/picture_file.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace fourfold {

// One pixel a point, 0xRRGGBB, row by row.
inline std::vector<std::vector<unsigned>> pixels_of(const PictureSize& size, const std::function<void(cairo_t*)>& paint)
{
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(size.width), int(size.height));
    cairo_t* cairo = cairo_create(surface);
    paint(cairo);
    EXPECT_EQ(cairo_status(cairo), CAIRO_STATUS_SUCCESS);
    cairo_surface_flush(surface);
    std::vector<std::vector<unsigned>> pixels;
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < cairo_image_surface_get_height(surface); ++y) {
        const auto* row = reinterpret_cast<const std::uint32_t*>(data + std::ptrdiff_t(y) * stride);
        std::vector<unsigned>& line = pixels.emplace_back();
        for (int x = 0; x < cairo_image_surface_get_width(surface); ++x)
            line.push_back(row[x] & 0xffffffU);
    }
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return pixels;
}

inline std::map<unsigned, int> counted_colours(const std::vector<std::vector<unsigned>>& pixels)
{
    std::map<unsigned, int> counts;
    for (const auto& row : pixels) {
        for (const unsigned pixel : row)
            ++counts[pixel];
    }
    return counts;
}

} // namespace fourfold
