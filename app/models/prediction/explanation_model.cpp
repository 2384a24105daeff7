// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/explanation_model.h"

#include "app/models/shared/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr std::size_t kSummaryParts = 8;

QList<QStandardItem*> derivationRow(const Explanation& explanation)
{
    QList<QStandardItem*> row;
    for (const QString& text : {fromUtf8(explanation.label), explainedValue(explanation), fromUtf8(explanation.formula),
             fromUtf8(explanation.source)}) {
        row << new QStandardItem(text);
        row.back()->setToolTip(text);
        row.back()->setEditable(false);
    }
    row[ExplanationModel::value]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    for (const Explanation& child : explanation.children)
        row.front()->appendRow(derivationRow(child));
    return row;
}
} // namespace

QString explainedValue(const Explanation& explanation)
{
    if (!explanation.value)
        return unknownText();
    const double value = *explanation.value;
    const QString unit = fromUtf8(explanation.unit);
    if (unit == QLatin1String("s"))
        return value < 0 ? QStringLiteral("-") + duration(-value) : duration(value);
    if (unit == QLatin1String("ratio"))
        return std::abs(value) <= 1 ? QStringLiteral("%1 %").arg(percent(value, 2)) : significant(value);
    if (unit.isEmpty())
        return value == std::round(value) ? grouped(value) : significant(value);
    return QStringLiteral("%1 %2").arg(significant(value), unit);
}

const Explanation* explanationAt(const Explanation& explanation, const QString& part)
{
    if (part.isEmpty())
        return &explanation;
    for (const Explanation& child : explanation.children) {
        if (fromUtf8(child.label).compare(part, Qt::CaseInsensitive) == 0)
            return &child;
    }
    return nullptr;
}

QString explainedSummary(const Explanation& explanation)
{
    QStringList lines;
    if (!explanation.formula.empty())
        lines << fromUtf8(explanation.formula);
    std::vector<const Explanation*> parts;
    for (const Explanation& child : explanation.children)
        parts.push_back(&child);
    const auto size = [](const Explanation* part) { return std::abs(part->value.value_or(0)); };
    std::stable_sort(
        parts.begin(), parts.end(), [&](const Explanation* a, const Explanation* b) { return size(a) > size(b); });
    for (std::size_t i = 0; i < std::min(parts.size(), kSummaryParts); ++i)
        lines << QStringLiteral("%1  %2").arg(explainedValue(*parts[i]), fromUtf8(parts[i]->label));
    if (!explanation.source.empty())
        lines << fromUtf8(explanation.source);
    return lines.join(QLatin1Char('\n'));
}

void ExplanationModel::show(Explanation explanation)
{
    m_root = std::move(explanation);
    clear();
    setHorizontalHeaderLabels({tr("Quantity"), tr("Value"), tr("How"), tr("Source")});
    appendRow(derivationRow(m_root));
}

} // namespace fourfold::ui
