// SPDX-License-Identifier: GPL-3.0-or-later
// A spin box for degrees and counts that people think of in factors: a step goes to the next divisor of a given number,
// or doubles and halves where none is given. Any value can be typed.
#pragma once

#include <QSpinBox>

namespace fourfold::ui {

class DegreeSpinBox : public QSpinBox {
    Q_OBJECT
public:
    explicit DegreeSpinBox(QWidget* parent = nullptr);
    // 0: step by doubling.
    void setDividend(int dividend) { m_dividend = dividend; }
    void stepBy(int steps) override;

private:
    int m_dividend = 0;
};

} // namespace fourfold::ui
