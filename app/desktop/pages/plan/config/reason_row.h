// SPDX-License-Identifier: GPL-3.0-or-later
// Why a field's value cannot be, in words, with a button for the nearest value that can.
#pragma once

#include "core/plan/plan.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace fourfold::ui {

class ReasonRow : public QWidget {
    Q_OBJECT
public:
    explicit ReasonRow(QWidget* parent = nullptr);
    // Null hides the row.
    void show(const Reason* reason);

signals:
    void useRequested(const fourfold::Json& value);

private:
    QLabel* m_message;
    QPushButton* m_use;
    Json m_nearest;
};

} // namespace fourfold::ui
