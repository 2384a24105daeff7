// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/drawn_text.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextBrowser>
#include <QToolTip>
#include <QWidget>

#include <cmath>

namespace fourfold::ui::test {

namespace {
constexpr double kTolerance = 1.5; // pixels: side bearings and rounding

class Recorder : public QPaintEngine {
public:
    Recorder()
        : QPaintEngine(AllFeatures)
    {
    }
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    [[nodiscard]] Type type() const override { return User; }
    void updateState(const QPaintEngineState&) override { }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override { }
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override { }
    void drawPath(const QPainterPath&) override { }
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override { }
    void drawTextItem(const QPointF& at, const QTextItem& item) override
    {
        if (item.text().trimmed().isEmpty())
            return;
        const QRectF logical(at.x(), at.y() - item.ascent(), item.width(), item.ascent() + item.descent());
        const QTransform transform = painter()->transform();
        // As high as its letters: a font that stands in for another one may ask for lines half as high again.
        const QRectF letters = QFontMetricsF(item.font()).tightBoundingRect(item.text()).translated(at);
        const QRectF ink(logical.left(), letters.top(), logical.width(), letters.height());
        DrawnText drawn{item.text(), transform.mapRect(logical), transform.mapRect(ink)};
        if (painter()->hasClipping()) {
            const QRectF clip = transform.mapRect(painter()->clipBoundingRect());
            drawn.cut = !clip.adjusted(-kTolerance, -kTolerance, kTolerance, kTolerance).contains(drawn.ink)
                && clip.intersects(drawn.box);
        }
        texts.push_back(std::move(drawn));
    }

    std::vector<DrawnText> texts;
};

class Sheet : public QPaintDevice {
public:
    explicit Sheet(const QWidget& like)
        : m_like(like)
    {
    }
    [[nodiscard]] QPaintEngine* paintEngine() const override { return &m_recorder; }
    [[nodiscard]] std::vector<DrawnText>& texts() { return m_recorder.texts; }

protected:
    [[nodiscard]] int metric(PaintDeviceMetric metric) const override
    {
        switch (metric) {
        case PdmWidth:
            return m_like.width();
        case PdmHeight:
            return m_like.height();
        case PdmDpiX:
        case PdmPhysicalDpiX:
            return m_like.logicalDpiX();
        case PdmDpiY:
        case PdmPhysicalDpiY:
            return m_like.logicalDpiY();
        case PdmDepth:
            return 32;
        case PdmNumColors:
            return 0;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return 0;
        }
    }

private:
    const QWidget& m_like;
    mutable Recorder m_recorder;
};

bool scrollsItsText(const QWidget& widget)
{
    for (const QWidget* at = &widget; at; at = at->parentWidget()) {
        if (qobject_cast<const QHeaderView*>(at))
            return false; // its sections are to be read without scrolling
        if (qobject_cast<const QAbstractItemView*>(at) || qobject_cast<const QPlainTextEdit*>(at)
            || qobject_cast<const QTextEdit*>(at))
            return true;
    }
    return false;
}

QString where(const QWidget& widget)
{
    const QWidget* owner = &widget;
    while (owner->objectName().isEmpty() && owner->accessibleName().isEmpty() && owner->parentWidget())
        owner = owner->parentWidget();
    return QStringLiteral("%1 in %2 \"%3\"")
        .arg(QString::fromLatin1(widget.metaObject()->className()),
            QString::fromLatin1(owner->metaObject()->className()),
            owner->accessibleName().isEmpty() ? owner->objectName() : owner->accessibleName());
}
} // namespace

std::vector<DrawnText> drawnTexts(QWidget& widget)
{
    Sheet sheet(widget);
    {
        QPainter painter(&sheet);
        widget.render(&painter, {}, {}, {});
    }
    for (DrawnText& drawn : sheet.texts()) {
        drawn.cut = drawn.cut || drawn.ink.left() < -kTolerance || drawn.ink.top() < -kTolerance
            || drawn.ink.right() > widget.width() + kTolerance || drawn.ink.bottom() > widget.height() + kTolerance;
    }
    return sheet.texts();
}

QStringList unreadableTexts(QWidget& root)
{
    QStringList found;
    QList<QWidget*> widgets = root.findChildren<QWidget*>();
    widgets << &root;
    for (QWidget* widget : widgets) {
        if (!widget->isVisible() || scrollsItsText(*widget))
            continue;
        const bool header = qobject_cast<QHeaderView*>(widget->parentWidget()); // goes on beyond both ends
        const std::vector<DrawnText> texts = drawnTexts(*widget);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const bool beyond = header && (texts[i].box.left() < 0 || texts[i].box.right() > widget->width());
            if (texts[i].cut && !beyond)
                found << QStringLiteral("cut: \"%1\", %2").arg(texts[i].text, where(*widget));
            // Lines of a text may touch; what is read across another is neither.
            const QRectF inner
                = texts[i].box.adjusted(1, texts[i].box.height() * 0.25, -1, -texts[i].box.height() * 0.25);
            const bool selects = qobject_cast<QLineEdit*>(widget); // a selected text is drawn twice
            for (std::size_t k = 0; k < i && !selects; ++k) {
                if (inner.intersects(
                        texts[k].box.adjusted(1, texts[k].box.height() * 0.25, -1, -texts[k].box.height() * 0.25)))
                    found << QStringLiteral("over each other: \"%1\" and \"%2\", %3")
                                 .arg(texts[k].text, texts[i].text, where(*widget));
            }
        }
    }
    return found;
}

QStringList shortenedWithoutTip(QWidget& root)
{
    constexpr QChar kEllipsis(0x2026);
    QStringList found;
    QList<QWidget*> widgets = root.findChildren<QWidget*>();
    widgets << &root;
    for (QWidget* widget : widgets) {
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const auto* label = qobject_cast<const QLabel*>(widget);
        const QString own = button ? button->text() : label ? label->text() : QString();
        if (!widget->isVisible())
            continue;
        for (const DrawnText& drawn : drawnTexts(*widget)) {
            const qsizetype gap = drawn.text.indexOf(kEllipsis);
            const QPoint middle = drawn.box.center().toPoint();
            const auto* view = qobject_cast<const QAbstractItemView*>(widget->parentWidget());
            // Letters of another font are drawn apart: a part of one's own words ends in their ellipsis.
            const bool whole = (!own.isEmpty() && own.endsWith(drawn.text))
                || (view && drawn.text == view->indexAt(middle).data().toString());
            if (gap < 0 || whole || !widget->rect().contains(middle))
                continue;
            const QString nothing = QStringLiteral("no tip"); // one that is taken away goes a moment later
            QToolTip::showText({}, nothing, widget);
            QHelpEvent help(QEvent::ToolTip, middle, widget->mapToGlobal(middle));
            QApplication::sendEvent(widget, &help);
            const QString before = drawn.text.left(gap).trimmed(), after = drawn.text.mid(gap + 1).trimmed();
            const QString told = QToolTip::text();
            const qsizetype at = told.indexOf(before);
            if (at < 0 || told.indexOf(after, at + before.size() + 1) < 0 || told.contains(drawn.text))
                found << QStringLiteral("\"%1\" is told \"%2\", %3").arg(drawn.text, told, where(*widget));
        }
    }
    QToolTip::hideText();
    return found;
}

QStringList withoutRoom(QWidget& root)
{
    QStringList found;
    for (const QWidget* child : root.findChildren<QWidget*>()) {
        if (!child->isVisible())
            continue;
        const auto* area = qobject_cast<const QScrollArea*>(child);
        if (const int hidden = area ? area->horizontalScrollBar()->maximum() : 0; hidden > 0)
            found << QStringLiteral("%1 pixels of %2 are out of reach")
                         .arg(hidden)
                         .arg(area->parentWidget()->objectName());
        if (qobject_cast<const QHeaderView*>(child) || qobject_cast<const QHeaderView*>(child->parentWidget()))
            continue;
        const QSize needed = child->minimumSizeHint().boundedTo(child->maximumSize());
        constexpr int kRounded = 1; // pixel that a layout loses where lengths of a zoom are no whole pixels
        if (child->width() < needed.width() - kRounded || child->height() < needed.height() - kRounded)
            found << QStringLiteral("%1 %2 is %3 x %4, not %5 x %6")
                         .arg(QString::fromLatin1(child->metaObject()->className()), child->objectName())
                         .arg(child->width())
                         .arg(child->height())
                         .arg(needed.width())
                         .arg(needed.height());
    }
    return found;
}

} // namespace fourfold::ui::test
