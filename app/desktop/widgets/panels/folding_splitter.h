// SPDX-License-Identifier: GPL-3.0-or-later
// Two cards side by side, one above the other where there is too little width for both.
#pragma once

#include <QSplitter>

namespace fourfold::ui {

class FoldingSplitter : public QSplitter {
    Q_OBJECT
public:
    // Side by side from `width` on, a length at 100 %.
    explicit FoldingSplitter(int width, QWidget* parent = nullptr);
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void fold();

    int m_width;
};

} // namespace fourfold::ui
