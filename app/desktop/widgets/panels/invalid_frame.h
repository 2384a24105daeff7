// SPDX-License-Identifier: GPL-3.0-or-later
// A red frame around an input field, laid over it so that the field keeps its native look.
#pragma once

#include <QWidget>

namespace fourfold::ui {

class InvalidFrame : public QWidget {
    Q_OBJECT
public:
    // Follows `field` (same parent) wherever the layout puts it.
    explicit InvalidFrame(QWidget* field);
    void setInvalid(bool invalid);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void follow();

    QWidget* m_field;
    bool m_invalid = false;
};

} // namespace fourfold::ui
