// SPDX-License-Identifier: GPL-3.0-or-later
// A line of text that may be narrower than its words: what does not fit ends in an ellipsis and is in the tool tip
// (CutTextTips).
#pragma once

#include <QLabel>

namespace fourfold::ui {

class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace fourfold::ui
