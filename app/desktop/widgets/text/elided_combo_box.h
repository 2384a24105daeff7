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
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] QString shownIn(const QStyleOptionComboBox& option) const; // the choice, cut to its room
};

} // namespace fourfold::ui
