// SPDX-License-Identifier: GPL-3.0-or-later
// One page of A4 about a plan or a comparison, as PDF.
#pragma once

#include "core/report/chart.h"
#include "core/report/table/table.h"
#include "core/schedule/timeline.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace fourfold {

struct ReportTimeline {
    std::shared_ptr<const Timeline> timeline;
    std::string title;
};
using ReportTimelines = std::vector<ReportTimeline>; // one under the other, on one axis of time
struct ReportPart {
    std::variant<Chart, Table, ReportTimelines> what;
    double height = 0; // points of a page that is 760 wide; a table knows its own
    bool half = false; // half as wide; two of them after each other stand side by side
};
struct ReportPage {
    std::string title;
    std::vector<std::string> lines; // what it is about: model, cluster, layout, date
    std::vector<ReportPart> parts; // from the top; shrunk together when the page is full
};

// Whether a report can be written to a file of that name: it ends in .pdf.
Expected<void> check_report_file(const std::filesystem::path& file);
// Written as a whole or not at all. Parts without a picture are left out; fails where nothing is left, or the name does
// not fit.
Expected<void> write_report(const ReportPage& page, const std::filesystem::path& file);

} // namespace fourfold
