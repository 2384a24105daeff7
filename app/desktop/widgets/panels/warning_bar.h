// SPDX-License-Identifier: GPL-3.0-or-later
// What the command warns of below its figures, under those of the window: the first in a line, all of them on a click.
#pragma once

#include "core/predict/prediction.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace fourfold::ui {

class WarningBar : public QFrame {
    Q_OBJECT
public:
    explicit WarningBar(QWidget* parent = nullptr);
    void showWarnings(const Prediction& prediction);
    void showProblem(const QString& problem); // why nothing was ever predicted; empty: it will be said when it is
    // Whether the model comes from a config.json, and whether keys of it are not used.
    void showConfig(bool isThere, bool hasIgnored);
    [[nodiscard]] QString text() const { return m_all; } // one warning a line; empty: there are none

signals:
    void allRequested();
    void configRequested();

private:
    QLabel* m_first;
    QPushButton *m_more, *m_config;
    QString m_all;
};

} // namespace fourfold::ui
