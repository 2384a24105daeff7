// SPDX-License-Identifier: GPL-3.0-or-later
// Bars side by side or stacked, or lines over the number of GPUs (Qt Charts), with the table behind them.
#pragma once

#include "app/desktop/widgets/cards/card.h"

#include <QPointF>
#include <QStringList>

#include <vector>

class QBarCategoryAxis;
class QChart;
class QChartView;
class QLogValueAxis;
class QValueAxis;

namespace fourfold::ui {

struct BarSet {
    QString name;
    QColor Theme::*color;
    Card::Fill fill = Card::Fill::solid;
    std::vector<double> values; // one a category; NaN = none
};
struct CurveSeries {
    QString name;
    QList<QPointF> points; // by x
    bool measured = false; // dots instead of a line
};

class ComparisonChart : public Card {
    Q_OBJECT
public:
    ComparisonChart(const QString& title, const QString& subtitle, QWidget* parent = nullptr);

    void showBars(const QStringList& categories, std::vector<BarSet> sets, bool stacked, const QString& unit);
    // Lines over a logarithmic axis of GPUs.
    void showCurves(std::vector<CurveSeries> curves, const QString& xName, const QString& unit);
    [[nodiscard]] QSize minimumSizeHint() const override { return least(320, 200); }
    [[nodiscard]] Table table() const override;
    [[nodiscard]] int seriesCount() const;

protected:
    [[nodiscard]] bool isEmpty() const override;
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    void rebuild();
    void buildBars();
    void buildCurves();
    void style();
    void place();
    // A legend that names each series as far as there is room; Qt's has one line and cuts all names. Up to two lines
    // stand above the plot; more would squeeze it, so they become a column at its right.
    struct LegendEntry {
        QPoint at; // its baseline, in the card
        QString text;
        int width = 0; // at most, of the text
        std::size_t series = 0; // npos: words about the ones that have no room
    };
    struct Legend {
        std::vector<LegendEntry> entries;
        QRect plot; // what it leaves of the area
    };
    [[nodiscard]] Legend legend(const QRect& area) const;
    [[nodiscard]] Legend legendAbove(const QRect& area) const;
    [[nodiscard]] Legend legendBeside(const QRect& area) const;
    [[nodiscard]] std::size_t legendCount() const { return m_curves.empty() ? m_sets.size() : m_curves.size(); }
    [[nodiscard]] QString legendName(std::size_t series) const;
    void paintMark(QPainter& painter, const LegendEntry& entry, const Theme& theme) const;
    void nameCategories();
    void spaceTicks();
    [[nodiscard]] QString tipOfBars(const QPointF& value) const; // in the units of the axes
    [[nodiscard]] QString tipOfCurves(const QPointF& inChart) const;
    [[nodiscard]] QString spokenWords() const; // what it shows, of many the first

    QChart* m_chart;
    QChartView* m_view;
    QBarCategoryAxis* m_names = nullptr; // the chart's; null: there are no bars
    QLogValueAxis* m_powers = nullptr; // the chart's; null: there are no curves
    QValueAxis* m_values = nullptr; // the chart's; null: it is empty
    double m_most = 0; // of the values
    QStringList m_categories;
    std::vector<BarSet> m_sets;
    std::vector<CurveSeries> m_curves;
    QString m_unit, m_xName;
    bool m_stacked = false;
};

} // namespace fourfold::ui
