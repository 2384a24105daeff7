// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures and tables out of the window: files, the clipboard, and the table behind a picture.
#pragma once

#include "core/report/table/table.h"

#include <QSize>
#include <QString>

#include <functional>

class QMenu;
class QWidget;

namespace fourfold::ui {

class Card;

// A picture in which something can be chosen: the row of its table that is about it, and the other way round.
class LinkedTable {
public:
    virtual ~LinkedTable() = default;
    [[nodiscard]] virtual int chosenRow() const = 0; // of the card's table(); -1: none
    virtual void chooseRow(int row) = 0; // one without a part of the picture changes nothing
};

// Draws a widget at `size` (logical pixels) into .png (at twice the pixels), .svg or .pdf, as the ending says. The file
// is written as a whole or not at all; a widget that draws nothing is a Problem. `forPaper`: in the light colours.
Expected<void> writePicture(QWidget& widget, const QSize& size, const QString& file, bool forPaper = false);
// Writes a table by the ending: .csv, .md, .tex, .json or .txt.
Expected<void> writeTable(const Table& table, const QString& file);
// The table as text for spreadsheets (tab-separated) and as HTML.
void copyTable(const Table& table);

// Entries "Show as table", "Copy table", "Export picture", "Export table" for what the card has.
void addExports(QMenu& menu, Card& card);
// Entries for a table alone. `table` is asked when an entry is chosen.
void addTableExports(QMenu& menu, QWidget* parent, const QString& title, std::function<Table()> table);

// Dialogs. What is chosen in the table is chosen in `linked`.
void showAsTable(QWidget* parent, const QString& title, const Table& table, LinkedTable* linked = nullptr);
void showAsTable(Card& card, QWidget* parent);
bool askExportPicture(QWidget& widget, const QString& title); // size and format, then the file
bool askExportTable(QWidget* parent, const QString& title, const Table& table, const QString& ending);

} // namespace fourfold::ui
