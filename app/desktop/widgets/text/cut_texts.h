// SPDX-License-Identifier: GPL-3.0-or-later
// What a painted widget wrote shortened, and where: the tool tip there says the whole of it.
#pragma once

#include <QRectF>
#include <QString>

#include <vector>

class QPainter;

namespace fourfold::ui {

class CutTexts {
public:
    void clear() { m_texts.clear(); } // before the widget is painted anew
    // Draws one line, shortened at its end or as `mode` says where it is longer than its place.
    void draw(QPainter& painter, const QRectF& place, Qt::Alignment alignment, const QString& text,
        Qt::TextElideMode mode = Qt::ElideRight);
    // The same from a point on the baseline, `width` pixels at most.
    void draw(QPainter& painter, int x, int baseline, int width, const QString& text,
        Qt::TextElideMode mode = Qt::ElideRight);
    // For what was shortened, or left out, some other way.
    void note(const QRectF& place, const QString& whole) { m_texts.push_back({place, whole}); }
    [[nodiscard]] QString at(const QPointF& point) const; // empty: nothing was cut there

private:
    struct Text {
        QRectF place;
        QString whole;
    };
    std::vector<Text> m_texts;
};

} // namespace fourfold::ui
