// SPDX-License-Identifier: GPL-3.0-or-later
// One page of A4 about a plan or a comparison, as PDF. A terminal has core/report/report_page.h, whose toy fonts are
// DejaVu's alone: names in scripts that it lacks are written by Qt only, which shapes all of them.
#pragma once

#include "core/report/table/table.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <vector>

class QWidget;

namespace fourfold::ui {

struct ReportPart {
    QWidget* widget = nullptr; // drawn as it is, at the width of the page; null: the table
    int height = 0; // logical pixels of a page that is 760 wide; a table knows its own
    Table table{};
    bool half = false; // half as wide; two of them after each other stand side by side
};
struct ReportPage {
    QString title;
    QStringList lines; // what it is about: model, cluster, layout, date
    std::vector<ReportPart> parts; // from the top; shrunk together when the page is full
};

// Written as a whole or not at all.
Expected<void> writeReport(const ReportPage& page, const QString& file);

} // namespace fourfold::ui
