// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/degree_spin_box.h"

#include <algorithm>

namespace fourfold::ui {

DegreeSpinBox::DegreeSpinBox(QWidget* parent)
    : QSpinBox(parent)
{
    setRange(1, 1 << 20);
    setGroupSeparatorShown(true);
}

void DegreeSpinBox::stepBy(int steps)
{
    int value = this->value();
    for (int i = 0; i < std::abs(steps); ++i) {
        const int before = value;
        if (m_dividend > 0) {
            int next = value;
            do
                next += steps > 0 ? 1 : -1;
            while (next > 0 && next <= m_dividend && m_dividend % next != 0);
            if (next >= 1 && next <= m_dividend)
                value = next;
            else if (steps < 0)
                value = m_dividend;
        } else {
            value = steps > 0 ? value * 2 : value / 2;
        }
        if (value == before)
            break;
    }
    setValue(std::clamp(value, minimum(), maximum()));
}

} // namespace fourfold::ui
