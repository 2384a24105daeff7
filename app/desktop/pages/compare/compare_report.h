// SPDX-License-Identifier: GPL-3.0-or-later
// The page of paper about what Compare shows; without parts while there is nothing to compare.
#pragma once

#include "app/desktop/pages/compare/compare_page.h"

namespace fourfold::ui {

ReportPage compareReport(ComparePage::View view, const CompareModel& model, CompareCharts& charts,
    CompareTimelines& timelines, SweepView& sweep);

} // namespace fourfold::ui
