// SPDX-License-Identifier: GPL-3.0-or-later
// One line under the figures: whether the plan fits, the change that helps most, and the button that makes it.
#pragma once

#include "app/models/search/advice_finder.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace fourfold::ui {

class AdviceBar : public QFrame {
    Q_OBJECT
public:
    // `finder` outlives the bar.
    explicit AdviceBar(AdviceFinder& finder, QWidget* parent = nullptr);
    [[nodiscard]] QString text() const;

signals:
    void allRequested();

private:
    void showState();

    AdviceFinder& m_finder;
    QLabel* m_text;
    QPushButton *m_apply, *m_all;
};

} // namespace fourfold::ui
