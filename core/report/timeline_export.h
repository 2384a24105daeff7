// SPDX-License-Identifier: GPL-3.0-or-later
// The pipeline timeline as a file: Chrome trace events, SVG, PDF or PNG (by the file name's ending).
#pragma once

#include "core/schedule/chrome_trace.h"

#include <filesystem>
#include <string>

namespace fourfold {

// Whether the ending is one of the four: for a command that takes long before it has a timeline.
Expected<void> check_timeline_file(const std::filesystem::path& file);
// Writes F.json, F.svg, F.pdf or F.png atomically; any other ending is a bad_input Problem that lists the four.
Expected<void> export_timeline(const Timeline& timeline, const std::string& title, const std::filesystem::path& file);

} // namespace fourfold
