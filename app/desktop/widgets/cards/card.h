// SPDX-License-Identifier: GPL-3.0-or-later
// A framed area with a title, a quiet subtitle and a painted body: the base of everything in the middle of the window.
#pragma once

#include "app/desktop/look/theme.h"
#include "app/desktop/widgets/text/cut_texts.h"
#include "core/report/table/table.h"

#include <QWidget>

#include <functional>

class QKeyEvent;
class QMenu;

namespace fourfold::ui {

class Card : public QWidget {
    Q_OBJECT
public:
    explicit Card(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);
    [[nodiscard]] QString subtitle() const { return m_subtitle; }
    // A stale card shows an answer that is not for the plan as it stands: faded, and saying so in the subtitle.
    void setStale(bool stale);
    [[nodiscard]] bool isStale() const { return m_stale; }
    // Shown in the middle when there is nothing to draw.
    void setEmptyText(const QString& text);

    enum class Fill { solid, hatched, dotted, outlined };
    // Fills a shape of the data with its colour, its pattern and an outline that lifts pale hues off a white ground.
    static void fillShape(QPainter& painter, const QRectF& shape, const QColor& color, Fill fill, const Theme& theme);
    // Draws one entry of a legend and returns where the next one starts.
    static int drawLegend(QPainter& painter, int x, int baseline, const QColor& color, const QString& text, Fill fill,
        const Theme& theme);

    // The words of an entry with a mark of its own; likewise.
    static int drawLegendText(QPainter& painter, int x, int baseline, const QString& text, const Theme& theme);

    // What the card shows, as a table: for "Show as table", for exports and for who cannot see the picture. A table
    // without columns means that the card has none.
    [[nodiscard]] virtual Table table() const { return {}; }
    // Asked before the table is made, which may be a long one.
    [[nodiscard]] virtual bool hasTable() const { return !table().columns.empty(); }
    // False while there is nothing to draw: an export would be empty.
    [[nodiscard]] bool hasPicture() const { return !isEmpty(); }
    // What it is called, also where the title is not painted in the header.
    [[nodiscard]] QString title() const { return m_title.isEmpty() ? accessibleName() : m_title; }
    // What the picture shows, in words: the accessible description where there is one, else the subtitle, else what is
    // said of an empty card.
    [[nodiscard]] QString spoken() const;
    // Where the title may not write because something else stands there (a switch), from the right, in pixels.
    void setHeaderReserve(int pixels);

    // The derivation of a part of the card in a few lines, for tool tips; `part` as the engine names it.
    using Explain = std::function<QString(const QString& part)>;
    void setExplain(Explain explain) { m_explain = std::move(explain); }

    static int margin(); // between the frame and what is inside

protected:
    // What a key asks for: along the lines (-1 left, 1 right), over them (-1 up, 1 down), to open what is chosen.
    static int stepAcross(const QKeyEvent& event);
    static int stepDown(const QKeyEvent& event);
    static bool isEnter(const QKeyEvent& event);
    static QSize least(int width, int height); // lengths at 100 %, in the pixels of now
    // Paints the body inside `area`. Not called while isEmpty().
    virtual void paintBody(QPainter& painter, const QRect& area, const Theme& theme);
    [[nodiscard]] virtual bool isEmpty() const { return false; }
    // Entries of the context menu that this kind of card has besides the usual exports.
    virtual void addOwnExports(QMenu&) { }
    [[nodiscard]] QRect bodyArea() const;
    [[nodiscard]] bool isForFile() const; // it is being drawn into a picture, with or without others
    // What the tool tip at a point says; empty: none. What is written shortened there is told before it.
    [[nodiscard]] virtual QString tipAt(const QPoint&) const { return toolTip(); }
    // Where shortened lines go through: painting starts it anew.
    [[nodiscard]] CutTexts& cut() const { return m_cut; }
    bool event(QEvent* event) override;
    // Lines of setExplain(), each behind a line break; empty where nobody explains.
    [[nodiscard]] QString explained(const QString& part) const;
    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void paintHeader(QPainter& painter, const Theme& theme) const;

    QString m_title, m_subtitle, m_emptyText;
    Explain m_explain;
    mutable CutTexts m_cut; // of the picture on show
    int m_headerReserve = 0;
    bool m_stale = false;
};

} // namespace fourfold::ui
