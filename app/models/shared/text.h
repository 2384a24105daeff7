// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and words as the desktop shows them: English digits with grouping, fixed decimals, a narrow choice of units.
#pragma once

#include <QCoreApplication>
#include <QStringList>

#include <string>
#include <string_view>
#include <vector>

namespace fourfold::ui {

// For words outside of QObjects.
inline QString tr(const char* text)
{
    return QCoreApplication::translate("Fourfold", text);
}

// Text of whatever origin as the window shows it: without control characters (printable_lines in core/base/text.h).
QString fromUtf8(std::string_view text);
QStringList fromUtf8(const std::vector<std::string>& texts);
// As it is, for what is looked up again by it and not for eyes: paths, JSON.
QString exactText(std::string_view text);
// As one cell of a table on the clipboard: on one line, and nothing that a spreadsheet runs.
QString spreadsheetCell(const QString& text);
// 12,345.6
QString grouped(double value, int decimals = 0);
// Three significant digits or so with a unit that fits: "69.0 s", "8.34 s", "12.3 ms", "450 µs".
QString duration(double seconds);
// What is left of something, in whole units, two at most: "42 s", "1 min 45 s", "3 h 10 min", "2 d 4 h".
QString roughDuration(double seconds);
// "8.34" and "s" apart, for figures whose unit is set smaller than the number.
struct Quantity {
    QString value, unit;
};
Quantity durationParts(double seconds);
// "8.4 M", "1.01 M", "982", "70.6 B".
QString compact(double value);
// GiB with a fixed number of decimals for the magnitude: "56.7", "0.42", "0.003".
QString gib(double value);
// Tokens/s per GPU: "7,677", one decimal below 100.
QString throughputText(double value);
// Four significant digits, grouped where there are more before the point: "3,573", "31.89", "0.02037".
QString significant(double value);
// What stands for a value that is not known.
const QString& unknownText();
// "42.0"
QString percent(double fraction, int decimals = 1);
// "+3.1 %", "-0.4 %" with the sign always written.
QString signedPercent(double fraction, int decimals = 1);
// "1 GPU", "16 GPUs"; `many` defaults to one + "s".
QString counted(double count, const QString& one, const QString& many = {});

} // namespace fourfold::ui
