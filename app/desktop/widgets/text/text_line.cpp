// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/text/text_line.h"

#include <QCache>
#include <QFont>
#include <QFontMetrics>
#include <QPaintEngine>
#include <QPainter>
#include <QStaticText>

namespace fourfold::ui {

namespace {
constexpr qsizetype kMostLines = 4000;

struct Key {
    QFont font;
    QString text;
    bool operator==(const Key&) const = default;
};

size_t qHash(const Key& key, size_t seed)
{
    return qHashMulti(seed, key.font, key.text);
}

struct Line {
    QStaticText text;
    double width = 0, ascent = 0, height = 0;
};

const Line& lineOf(const QFont& font, const QString& text)
{
    static QCache<Key, Line> known(kMostLines);
    const Key key{font, text};
    if (const Line* line = known.object(key))
        return *line;
    auto* line = new Line{QStaticText(text)};
    line->text.setTextFormat(Qt::PlainText);
    line->text.setPerformanceHint(QStaticText::AggressiveCaching);
    line->text.prepare({}, font);
    const QFontMetricsF metrics(font);
    line->width = metrics.horizontalAdvance(text);
    line->ascent = metrics.ascent();
    line->height = metrics.height();
    known.insert(key, line);
    return *line;
}

bool isRaster(const QPainter& painter)
{
    return painter.paintEngine()->type() == QPaintEngine::Raster;
}
} // namespace

void drawLine(QPainter& painter, const QRectF& place, Qt::Alignment alignment, const QString& text)
{
    if (text.isEmpty())
        return;
    const Line& line = lineOf(painter.font(), text);
    if (!isRaster(painter) || line.width > place.width()) { // longer than its place: cut there
        painter.drawText(place, static_cast<int>(alignment), text);
        return;
    }
    const double x = alignment & Qt::AlignRight ? place.right() - line.width
        : alignment & Qt::AlignHCenter          ? place.center().x() - line.width / 2
                                                : place.left();
    const double y = alignment & Qt::AlignBottom ? place.bottom() - line.height
        : alignment & Qt::AlignVCenter           ? place.center().y() - line.height / 2
                                                 : place.top();
    painter.drawStaticText(QPointF(x, qRound(y)), line.text);
}

void drawLine(QPainter& painter, int x, int baseline, const QString& text)
{
    if (text.isEmpty())
        return;
    if (!isRaster(painter)) {
        painter.drawText(x, baseline, text);
        return;
    }
    const Line& line = lineOf(painter.font(), text);
    painter.drawStaticText(QPointF(x, qRound(baseline - line.ascent)), line.text);
}

int lineWidth(const QFont& font, const QString& text)
{
    return text.isEmpty() ? 0 : qRound(lineOf(font, text).width);
}

QString elidedLine(const QFont& font, const QString& text, int width, Qt::TextElideMode mode)
{
    return lineWidth(font, text) <= width ? text : QFontMetrics(font).elidedText(text, mode, width);
}

} // namespace fourfold::ui
