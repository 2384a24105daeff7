// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/text.h"

#include "core/base/text.h"
#include "core/report/table/table.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
const QLocale& english()
{
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale;
}

// Decimals that leave about three significant digits.
int decimalsFor(double value)
{
    const double magnitude = std::abs(value);
    if (magnitude >= 99.95)
        return 0;
    if (magnitude >= 9.995)
        return 1;
    return 2;
}
} // namespace

QString fromUtf8(std::string_view text)
{
    return exactText(printable_lines(text));
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
    return english().toString(value, 'f', decimals);
}

Quantity durationParts(double seconds)
{
    const double magnitude = std::abs(seconds);
    if (magnitude >= 0.9995 || magnitude == 0)
        return {grouped(seconds, magnitude >= 99.95 ? 1 : decimalsFor(seconds)), QStringLiteral("s")};
    if (magnitude >= 0.9995e-3)
        return {grouped(seconds * 1e3, decimalsFor(seconds * 1e3)), QStringLiteral("ms")};
    return {grouped(seconds * 1e6, decimalsFor(seconds * 1e6)), QStringLiteral("\u00b5s")};
}

QString duration(double seconds)
{
    const Quantity parts = durationParts(seconds);
    return parts.value + QLatin1Char(' ') + parts.unit;
}

QString roughDuration(double seconds)
{
    struct Unit {
        qint64 seconds;
        const char* name;
    };
    static constexpr Unit units[]{{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}};
    qint64 left = std::llround(std::max(0.0, seconds));
    for (std::size_t i = 0; i + 1 < std::size(units); ++i) {
        if (left < units[i].seconds)
            continue;
        const Unit &large = units[i], &small = units[i + 1];
        left = (left + small.seconds / 2) / small.seconds; // in the small unit
        const qint64 each = large.seconds / small.seconds;
        const QString text = grouped(double(left / each)) + QLatin1String(large.name);
        return left % each == 0 ? text
                                : text + QLatin1Char(' ') + grouped(double(left % each)) + QLatin1String(small.name);
    }
    return grouped(double(left)) + QLatin1String(" s");
}

QString compact(double value)
{
    struct Step {
        double limit, unit;
        const char* suffix;
    };
    static constexpr Step steps[]{{999.5e9, 1e12, " T"}, {999.5e6, 1e9, " B"}, {999.5e3, 1e6, " M"}};
    for (const Step& step : steps) {
        if (std::abs(value) >= step.limit)
            return grouped(value / step.unit, decimalsFor(value / step.unit)) + QLatin1String(step.suffix);
    }
    return grouped(value, std::abs(value) < 9.995 && value != std::floor(value) ? 2 : 0);
}

QString gib(double value)
{
    const double magnitude = std::abs(value);
    if (magnitude >= 9.95 || magnitude == 0)
        return grouped(value, 1);
    return grouped(value, magnitude >= 0.0995 ? 2 : 3);
}

QString throughputText(double value)
{
    return grouped(value, value < 100 ? 1 : 0);
}

QString significant(double value)
{
    if (value == 0 || !std::isfinite(value))
        return QString::number(value);
    const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
    if (before < -3)
        return QString::number(value, 'g', 4);
    return grouped(value, std::clamp(4 - before, 0, 6));
}

const QString& unknownText()
{
    static const QString dash(QChar(0x2013));
    return dash;
}

QString percent(double fraction, int decimals)
{
    return grouped(fraction * 100, decimals);
}

QString signedPercent(double fraction, int decimals)
{
    const QString digits = grouped(std::abs(fraction) * 100, decimals);
    const QString percent = digits + QStringLiteral(" %");
    if (digits == grouped(0, decimals))
        return percent; // what is nothing at these digits has no direction
    return (fraction < 0 ? QLatin1Char('-') : QLatin1Char('+')) + percent;
}

QString counted(double count, const QString& one, const QString& many)
{
    const QString noun = count == 1 ? one : many.isEmpty() ? one + QLatin1Char('s') : many;
    return grouped(count) + QLatin1Char(' ') + noun;
}

} // namespace fourfold::ui
