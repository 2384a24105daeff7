// SPDX-License-Identifier: GPL-3.0-or-later
// Fusion, with boxes to tick that follow the zoom, choices that end in an ellipsis where their box is narrow, and whose
// empty frame can be seen on dark ground as well, and with fields that stand out from it. Texts are plain: a label,
// message box or tool tip shows the markup in the name of a plan or the message of a node instead of obeying it, unless
// it was told to be rich. Buttons of dialogs have no pictures, as no other button has.
#pragma once

#include <QPalette>
#include <QProxyStyle>

class QStyleOptionComboBox;

namespace fourfold::ui {

class AppStyle : public QProxyStyle {
    Q_OBJECT
public:
    AppStyle();
    using QProxyStyle::polish;
    void polish(QWidget* widget) override;
    int styleHint(StyleHint hint, const QStyleOption* option = nullptr, const QWidget* widget = nullptr,
        QStyleHintReturn* returned = nullptr) const override;
    [[nodiscard]] int pixelMetric(
        PixelMetric metric, const QStyleOption* option = nullptr, const QWidget* widget = nullptr) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;

private:
    [[nodiscard]] const QPalette& outlined(const QPalette& palette) const;

    mutable QPalette m_outlined; // of the palette with the key below: Fusion keeps pictures by the key of theirs
    mutable qint64 m_key = 0;
};

// The choice of a box as far as the box has room for it.
QString shownChoice(const QStyleOptionComboBox& option, const QWidget* box);

} // namespace fourfold::ui
