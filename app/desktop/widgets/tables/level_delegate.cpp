// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/level_delegate.h"

#include "app/desktop/look/theme.h"
#include "app/models/runs/run_log_model.h"

namespace fourfold::ui {

LevelDelegate::LevelDelegate(int role, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_role(role)
{
}

void LevelDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant level = index.data(m_role);
    if (!level.isValid() || (option->state & QStyle::State_Selected))
        return;
    const Theme& theme = themeOf(option->widget);
    switch (static_cast<RunLogModel::Level>(level.toInt())) {
    case RunLogModel::Level::good:
        option->palette.setColor(QPalette::Text, theme.good);
        break;
    case RunLogModel::Level::warning:
        option->palette.setColor(QPalette::Text, theme.warning);
        break;
    case RunLogModel::Level::error:
        option->palette.setColor(QPalette::Text, theme.bad);
        break;
    case RunLogModel::Level::info:
        break;
    }
}

} // namespace fourfold::ui
