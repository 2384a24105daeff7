// SPDX-License-Identifier: GPL-3.0-or-later
// A combo box that may be narrower than its texts: what does not fit ends in an ellipsis and is in the tool tip.
#pragma once

#include <QComboBox>

namespace fourfold::ui {

class ElidedComboBox : public QComboBox {
    Q_OBJECT
public:
    explicit ElidedComboBox(QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace fourfold::ui
