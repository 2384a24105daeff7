// SPDX-License-Identifier: GPL-3.0-or-later
// Why a field's value cannot be, in words, with a button for the nearest value that can. A screen reader says it as it
// comes, and again with the field.
#pragma once

#include "core/plan/plan.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace fourfold::ui {

class ReasonRow : public QWidget {
    Q_OBJECT
public:
    // `field` outlives it.
    explicit ReasonRow(QWidget& field, QWidget* parent = nullptr);
    // Null hides the row.
    void show(const Reason* reason);

signals:
    void useRequested(const fourfold::Json& value);

private:
    void speak(const QString& message);

    QWidget& m_field;
    QString m_spoken, m_usual; // of the field: the reason, and its description without one
    QLabel* m_message;
    QPushButton* m_use;
    Json m_nearest;
};

} // namespace fourfold::ui
