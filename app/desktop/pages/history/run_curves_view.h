// SPDX-License-Identifier: GPL-3.0-or-later
// The selected runs, and those of trackers that are open, laid over each other: a chart for each chosen figure over a
// common axis, and the list of the runs by colour.
#pragma once

#include "app/view/curves/curve_runs.h"

#include <QTimer>
#include <QVariantMap>
#include <QWidget>

#include <filesystem>

class QComboBox;
class QGridLayout;
class QLabel;
class QListWidget;
class QPushButton;
class QPoint;
class QSlider;

namespace fourfold::ui {

class CurvesChart;

class RunCurvesView : public QWidget {
    Q_OBJECT
public:
    // `history`: instead of the user's, if not empty.
    explicit RunCurvesView(std::filesystem::path history, QWidget* parent = nullptr);
    // These runs and no others. While the view is on show, what it lacks of them is read, one after the other.
    void show(const std::vector<RunSummary>& runs);
    using QWidget::show;
    // Lays the runs of TensorBoard or Weights & Biases in a file or folder beside them, and follows what comes to them,
    // until they are closed. How many it holds.
    Expected<std::size_t> openTracker(const std::filesystem::path& path);
    void closeTracker(const QString& key); // by the entry of the list; of a run of the history nothing happens
    // Of a run that goes on.
    void takeEvents(const std::string& run, const std::vector<Json>& events);
    [[nodiscard]] const view::RunCurves& curves() const { return m_runs.curves(); }
    [[nodiscard]] CurvesChart& chart(view::CurveMetric metric) const;
    // For the session: axis, groups, smoothing, charts, and what trackers are open.
    [[nodiscard]] QVariantMap state() const;
    void restore(const QVariantMap& state);

signals:
    void message(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* makeControls();
    void take(); // a run that was read
    void follow();
    void fillMenu(const QPoint& place); // of the list
    void refresh(); // the curves have changed
    void fillList();
    void placeCharts();
    void setRange(const std::optional<view::CurveRange>& range);

    std::vector<CurvesChart*> m_charts; // by metric
    std::vector<bool> m_chosen; // likewise
    QGridLayout* m_grid;
    QListWidget* m_list;
    QComboBox *m_axis, *m_groups;
    QSlider* m_smoothing;
    QLabel* m_weight;
    QPushButton *m_whole, *m_which;
    QTimer m_follow; // what trackers write goes on
    view::CurveRuns m_runs;
    view::RunCurves& m_curves; // of m_runs
};

} // namespace fourfold::ui
