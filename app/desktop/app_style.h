// SPDX-License-Identifier: GPL-3.0-or-later
// Fusion, with boxes to tick that follow the zoom and whose empty frame can be seen on dark ground as well, and with
// fields that stand out from it.
#pragma once

#include <QPalette>
#include <QProxyStyle>

namespace fourfold::ui {

class AppStyle : public QProxyStyle {
    Q_OBJECT
public:
    AppStyle();
    [[nodiscard]] int pixelMetric(
        PixelMetric metric, const QStyleOption* option = nullptr, const QWidget* widget = nullptr) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;

private:
    [[nodiscard]] const QPalette& outlined(const QPalette& palette) const;

    mutable QPalette m_outlined; // of the palette with the key below: Fusion keeps pictures by the key of theirs
    mutable qint64 m_key = 0;
};

} // namespace fourfold::ui
