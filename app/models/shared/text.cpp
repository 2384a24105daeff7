// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/text.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/table/table.h"

namespace fourfold::ui {

QString fromUtf8(std::string_view text)
{
    return exactText(printable_lines(text));
}

QStringList fromUtf8(const std::vector<std::string>& texts)
{
    QStringList all;
    for (const std::string& text : texts)
        all << fromUtf8(text);
    return all;
}

QString exactText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString spreadsheetCell(const QString& text)
{
    return exactText(spreadsheet_text(printable(text.toStdString(), kUncut)));
}

QString grouped(double value, int decimals)
{
    return exactText(view::grouped(value, decimals));
}

Quantity durationParts(double seconds)
{
    const view::Quantity parts = view::duration_parts(seconds);
    return {exactText(parts.value), exactText(parts.unit)};
}

QString duration(double seconds)
{
    return exactText(view::duration(seconds));
}

QString roughDuration(double seconds)
{
    return exactText(view::rough_duration(seconds));
}

QString compact(double value)
{
    return exactText(view::compact(value));
}

QString gib(double value)
{
    return exactText(view::gib(value));
}

QString throughputText(double value)
{
    return exactText(view::throughput_text(value));
}

QString significant(double value)
{
    return exactText(view::significant(value));
}

const QString& unknownText()
{
    static const QString dash = exactText(view::kUnknown);
    return dash;
}

QString percent(double fraction, int decimals)
{
    return exactText(view::percent(fraction, decimals));
}

QString signedPercent(double fraction, int decimals)
{
    return exactText(view::signed_percent(fraction, decimals));
}

QString counted(double count, const QString& one, const QString& many)
{
    return exactText(view::counted(count, one.toStdString(), many.toStdString()));
}

} // namespace fourfold::ui
