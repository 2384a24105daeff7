// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/explanation_model.h"

#include "app/models/shared/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr std::size_t kSummaryParts = 8;
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

std::unique_ptr<ExplanationModel::Node> ExplanationModel::mirror(
    const Explanation& explanation, const Node* parent, int row)
{
    auto node = std::make_unique<Node>();
    node->explanation = &explanation;
    node->parent = parent;
    node->row = row;
    for (const Explanation& child : explanation.children)
        node->children.push_back(mirror(child, node.get(), static_cast<int>(node->children.size())));
    return node;
}

void ExplanationModel::show(Explanation explanation)
{
    beginResetModel();
    m_tree.reset();
    m_root = std::move(explanation);
    m_tree = mirror(m_root, nullptr, 0);
    endResetModel();
}

const ExplanationModel::Node* ExplanationModel::nodeOf(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<const Node*>(index.constInternalPointer()) : nullptr;
}

QModelIndex ExplanationModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    const Node* above = nodeOf(parent);
    const Node* node = above ? above->children[static_cast<std::size_t>(row)].get() : m_tree.get();
    return createIndex(row, column, node);
}

QModelIndex ExplanationModel::parent(const QModelIndex& index) const
{
    const Node* node = nodeOf(index);
    return node && node->parent ? createIndex(node->parent->row, 0, node->parent) : QModelIndex();
}

int ExplanationModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return m_tree ? 1 : 0;
    return parent.column() == 0 ? static_cast<int>(nodeOf(parent)->children.size()) : 0;
}

int ExplanationModel::columnCount(const QModelIndex&) const
{
    return columns;
}

QVariant ExplanationModel::data(const QModelIndex& index, int role) const
{
    const Node* node = nodeOf(index);
    if (!node)
        return {};
    const Explanation& at = *node->explanation;
    if (role == Qt::TextAlignmentRole && index.column() == value)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case quantity:
        return fromUtf8(at.label);
    case value:
        return explainedValue(at);
    case how:
        return fromUtf8(at.formula);
    case source:
        return fromUtf8(at.source);
    default:
        return {};
    }
}

QVariant ExplanationModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case quantity:
        return tr("Quantity");
    case value:
        return tr("Value");
    case how:
        return tr("How");
    case source:
        return tr("Source");
    default:
        return {};
    }
}

} // namespace fourfold::ui
