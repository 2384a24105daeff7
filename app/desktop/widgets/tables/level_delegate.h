// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the text of a table cell in the colour of its level (good, warning, error), read from a role of the model.
#pragma once

#include <QStyledItemDelegate>

namespace fourfold::ui {

class LevelDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    // `role` yields Tone as int, or nothing.
    LevelDelegate(int role, QObject* parent);

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    int m_role;
};

} // namespace fourfold::ui
