// SPDX-License-Identifier: GPL-3.0-or-later
// One painting as a file of any of the forms that pictures have.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <functional>
#include <string>

using cairo_t = struct _cairo;

namespace fourfold {

struct PictureSize {
    double width = 0, height = 0; // in points
};
// What a person may ask for, each way: as many pixels of a .png, points of the other forms.
inline constexpr int kLeastPicture = 200, kMostPicture = 8192;
// Of that many pixels or points, for write_picture().
PictureSize asked_size(const PictureSize& asked, const std::filesystem::path& file);

// Whether the ending is .svg, .pdf or .png; else a bad_input Problem that lists them. `what`: "a timeline".
Expected<void> check_picture_file(const std::string& what, const std::filesystem::path& file);
// Calls `paint` once and writes what it painted, as a whole or not at all. Precondition: check_picture_file().
Expected<void> write_picture(
    const PictureSize& size, const std::function<void(cairo_t*)>& paint, const std::filesystem::path& file);

} // namespace fourfold
