// SPDX-License-Identifier: GPL-3.0-or-later
// Text of Qt's kind, and the numbers and words of app/view/text.h in it.
#pragma once

#include "app/view/text.h"

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

// clang-format off
inline QString grouped(double value, int decimals = 0) { return exactText(view::grouped(value, decimals)); }
inline QString duration(double seconds) { return exactText(view::duration(seconds)); }
inline QString compact(double value) { return exactText(view::compact(value)); }
inline QString gib(double value) { return exactText(view::gib(value)); }
inline QString throughputText(double value) { return exactText(view::throughput_text(value)); }
inline QString significant(double value) { return exactText(view::significant(value)); }
inline QString unknownText() { return exactText(view::kUnknown); }
inline QString percent(double fraction, int decimals = 1) { return exactText(view::percent(fraction, decimals)); }
// clang-format on
inline QString signedPercent(double fraction, int decimals = 1)
{
    return exactText(view::signed_percent(fraction, decimals));
}
inline QString counted(double count, const QString& one, const QString& many = {})
{
    return exactText(view::counted(count, one.toStdString(), many.toStdString()));
}

} // namespace fourfold::ui
