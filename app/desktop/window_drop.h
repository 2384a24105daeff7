// SPDX-License-Identifier: GPL-3.0-or-later
// Files dropped on a window: says what will happen while they are over it, and what they are when they fall.
#pragma once

#include "app/models/shared/dropped_item.h"

#include <QLabel>
#include <QObject>

#include <vector>

class QMimeData;

namespace fourfold::ui {

class WindowDrop : public QObject {
    Q_OBJECT
public:
    // Watches `window` from now on.
    explicit WindowDrop(QWidget* window);
    [[nodiscard]] QString hint() const { return m_hint->isHidden() ? QString() : m_hint->text(); }

signals:
    void dropped(const fourfold::ui::DroppedItem& item);
    void refused(const fourfold::Problem& problem);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void look(const QMimeData& data);
    void showHint();

    QWidget* m_window;
    QLabel* m_hint;
    std::vector<DroppedItem> m_items;
    std::vector<Problem> m_problems;
};

} // namespace fourfold::ui
