// SPDX-License-Identifier: GPL-3.0-or-later
// What a widget writes, as it is drawn: for finding texts that are cut or that lie over each other.
#pragma once

#include <QRectF>
#include <QString>

#include <vector>

class QWidget;

namespace fourfold::ui::test {

struct DrawnText {
    QString text;
    QRectF box; // in the widget's coordinates; from ascender to descender
    QRectF ink; // as wide, as high as its letters
    bool cut = false; // runs out of the widget, or of the place that it was given
};

// Every text that the widget itself draws, without its children.
std::vector<DrawnText> drawnTexts(QWidget& widget);

// Of the visible widgets under `root`, each text that is cut or that lies over another one, a line each.
// Tables, lists and text fields are left out: they scroll, and their delegates shorten what is too long.
QStringList unreadableTexts(QWidget& root);

// Of the visible widgets under `root`, each text that is drawn shortened and that no tool tip there tells in full, a
// line each. What ends in an ellipsis by itself ("Export...") is no shortened text.
QStringList shortenedWithoutTip(QWidget& root);

// Of the visible widgets under `root`, each that is smaller than it needs to be or that is partly out of reach in an
// area that scrolls from side to side, a line each. Headings of tables scroll with them.
QStringList withoutRoom(QWidget& root);

} // namespace fourfold::ui::test
