// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/text.h"

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

} // namespace fourfold::ui
