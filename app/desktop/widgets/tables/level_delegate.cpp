// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/level_delegate.h"

#include "app/desktop/look/theme.h"

namespace fourfold::ui {

LevelDelegate::LevelDelegate(int role, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_role(role)
{
}

void LevelDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const Tone tone = static_cast<Tone>(index.data(m_role).toInt());
    if (tone != Tone::neutral && !(option->state & QStyle::State_Selected))
        option->palette.setColor(QPalette::Text, themeOf(option->widget).toneColor(tone));
}

} // namespace fourfold::ui
