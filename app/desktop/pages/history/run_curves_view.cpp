// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/run_curves_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QGridLayout>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>

namespace fourfold::ui {

namespace {
constexpr int kSmoothest = 99; // hundredths
constexpr int kFollowMilliseconds = 2000;
constexpr int kChartsInARow = 3, kSliderWidth = 120, kListWidth = 150;

QIcon swatch(const QColor& colour)
{
    QPixmap square(px(12), px(12));
    square.fill(Qt::transparent);
    QPainter painter(&square);
    painter.fillRect(square.rect().adjusted(1, 1, -1, -1), colour);
    return square;
}

template <typename Enum>
void choose(QComboBox& box, const QVariant& kept)
{
    if (const Expected<Enum> value = from_text<Enum>(kept.toString().toStdString(), {}))
        box.setCurrentIndex(static_cast<int>(*value));
}
} // namespace

RunCurvesView::RunCurvesView(std::filesystem::path history, QWidget* parent)
    : QWidget(parent)
    , m_chosen(view::kCurveMetrics, false)
    , m_grid(new QGridLayout)
    , m_list(named(new QListWidget, "curveRuns", tr("Runs on show")))
    , m_axis(makeChooser("curveAxis", tr("Axis")))
    , m_groups(makeChooser("curveGroups", tr("Group runs by")))
    , m_smoothing(named(new QSlider(Qt::Horizontal), "curveSmoothing", tr("Smoothing")))
    , m_weight(new QLabel)
    , m_whole(makeButton(tr("Whole axis"), "small", "curveWhole", tr("Show all of the axis again (Esc)")))
    , m_which(makeButton(tr("Charts"), "small", "curveCharts"))
    , m_runs(std::move(history),
          [this] {
              QMetaObject::invokeMethod(
                  this, [this] { take(); }, Qt::QueuedConnection);
          })
    , m_curves(m_runs.curves())
{
    for (std::size_t i = 0; i < view::kCurveMetrics; ++i) {
        const auto metric = static_cast<view::CurveMetric>(i);
        m_charts.push_back(new CurvesChart(m_curves, metric, this));
        m_chosen[i] = metric == view::CurveMetric::loss || metric == view::CurveMetric::throughput;
        connect(m_charts.back(), &CurvesChart::rangeChosen, this, &RunCurvesView::setRange);
    }
    for (CurvesChart* chart : m_charts) {
        for (CurvesChart* other : m_charts) {
            if (other != chart)
                connect(chart, &CurvesChart::cursorMoved, other, &CurvesChart::setCursor);
        }
    }
    m_follow.setInterval(kFollowMilliseconds);
    connect(&m_follow, &QTimer::timeout, this, &RunCurvesView::follow);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_list, &QListWidget::customContextMenuRequested, this, &RunCurvesView::fillMenu);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMinimumWidth(px(kListWidth));
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(10);
    QSplitter* split = makeSplitter(
        QStringLiteral("history.curves"), Qt::Horizontal, {makeFrame(columnOf({m_list})), holderOf(m_grid)}, {1, 5});
    split->setHandleWidth(10);
    split->setProperty("gap", true);
    setLayout(columnOf({makeControls(), {split, 1}}, 8, {12, 8, 12, 12}));
    connect(m_list, &QListWidget::itemChanged, this, [this](const QListWidgetItem* item) {
        m_curves.set_shown(item->data(Qt::UserRole).toString().toStdString(), item->checkState() == Qt::Checked);
        refresh();
    });
    connect(m_list, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        for (CurvesChart* chart : m_charts)
            chart->setMarked(item ? item->data(Qt::UserRole).toString().toStdString() : std::string());
    });
    placeCharts();
    setRange({});
}

QWidget* RunCurvesView::makeControls()
{
    for (const view::CurveAxis axis : {view::CurveAxis::step, view::CurveAxis::tokens, view::CurveAxis::time})
        m_axis->addItem(tr(view::title_of(axis)));
    m_groups->addItems({tr("No groups"), tr("Same plan"), tr("Tag")});
    m_groups->setToolTip(tr("Runs of one group become their mean with a band from the least to the most of them"));
    m_smoothing->setRange(0, kSmoothest);
    m_smoothing->setPageStep(10);
    m_smoothing->setFixedWidth(px(kSliderWidth));
    m_smoothing->setToolTip(tr("Weight of what was before, as in TensorBoard"));
    m_weight->setProperty("role", "muted");
    auto* menu = new QMenu(m_which);
    for (std::size_t i = 0; i < m_charts.size(); ++i) {
        QAction* action = menu->addAction(m_charts[i]->title());
        action->setCheckable(true);
        action->setChecked(m_chosen[i]);
        connect(action, &QAction::toggled, this, [this, i](bool on) {
            m_chosen[i] = on;
            placeCharts();
        });
    }
    m_which->setMenu(menu);
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_curves.set_axis(static_cast<view::CurveAxis>(index));
        setRange(m_curves.range());
    });
    connect(m_groups, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_curves.set_groups(static_cast<view::CurveGroups>(index));
        fillList();
        refresh();
    });
    connect(m_smoothing, &QSlider::valueChanged, this, [this](int value) {
        m_weight->setText(grouped(value / 100.0, 2));
        m_curves.set_smoothing(value / 100.0);
        refresh();
    });
    m_weight->setText(grouped(0, 2));
    connect(m_whole, &QPushButton::clicked, this, [this] { setRange({}); });
    return holderOf(
        rowOf({labelOf(tr("Over"), m_axis), m_axis, Item::gap(8), labelOf(tr("Smoothing"), m_smoothing), m_smoothing,
            m_weight, Item::gap(8), labelOf(tr("Groups"), m_groups), m_groups, Item::spring(), m_whole, m_which}));
}

CurvesChart& RunCurvesView::chart(view::CurveMetric metric) const
{
    return *m_charts[static_cast<std::size_t>(metric)];
}

void RunCurvesView::placeCharts()
{
    int placed = 0;
    for (std::size_t i = 0; i < m_charts.size(); ++i) {
        m_grid->removeWidget(m_charts[i]);
        m_charts[i]->setVisible(m_chosen[i]);
        if (m_chosen[i]) {
            m_grid->addWidget(m_charts[i], placed / kChartsInARow, placed % kChartsInARow);
            ++placed;
        }
    }
}

void RunCurvesView::setRange(const std::optional<view::CurveRange>& range)
{
    m_curves.set_range(range);
    m_whole->setEnabled(m_curves.range().has_value());
    refresh();
}

void RunCurvesView::refresh()
{
    for (CurvesChart* chart : m_charts)
        chart->refresh();
}

void RunCurvesView::fillList()
{
    const QSignalBlocker blocker(m_list);
    const QListWidgetItem* current = m_list->currentItem();
    const QString marked = current ? current->data(Qt::UserRole).toString() : QString();
    m_list->clear();
    const Theme& theme = themeOf(this);
    for (const view::RunCurves::Entry& entry : m_curves.entries()) {
        QString text = fromUtf8(entry.name);
        if (entry.runs > 1)
            text += QStringLiteral(" (%1)").arg(counted(double(entry.runs), tr("run")));
        auto* item = new QListWidgetItem(swatch(curveColour(theme, entry.colour)), text, m_list);
        const bool tracked = m_runs.trackers().has(entry.key);
        item->setToolTip(tracked ? QStringLiteral("%1\n%2").arg(text, fromUtf8(entry.key)) : text);
        item->setData(Qt::UserRole, QString::fromStdString(entry.key));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(entry.shown ? Qt::Checked : Qt::Unchecked);
        if (item->data(Qt::UserRole).toString() == marked)
            m_list->setCurrentItem(item);
    }
}

void RunCurvesView::show(const std::vector<RunSummary>& runs)
{
    if (!m_runs.choose(runs))
        return;
    if (isVisible() && runs.size() > view::CurveRuns::kMost)
        emit message(tr("The first %1 of %2 selected runs are drawn").arg(view::CurveRuns::kMost).arg(runs.size()));
    fillList();
    refresh();
    if (isVisible())
        m_runs.read();
}

void RunCurvesView::take()
{
    std::string problem;
    if (!m_runs.deliver(problem))
        return;
    if (!problem.empty())
        emit message(fromUtf8(problem));
    fillList();
    refresh();
    if (isVisible())
        m_runs.read();
}

Expected<std::size_t> RunCurvesView::openTracker(const std::filesystem::path& path)
{
    Expected<std::size_t> opened = m_runs.trackers().open(path);
    if (opened && isVisible())
        follow();
    return opened;
}

void RunCurvesView::closeTracker(const QString& key)
{
    if (!m_runs.trackers().has(key.toStdString()))
        return;
    m_runs.close_tracker(key.toStdString());
    fillList();
    refresh();
}

void RunCurvesView::follow()
{
    m_runs.trackers().read();
    if (m_runs.trackers().ids().empty())
        m_follow.stop();
    else
        m_follow.start();
}

void RunCurvesView::fillMenu(const QPoint& place)
{
    const QListWidgetItem* item = m_list->itemAt(place);
    const QString key = item ? item->data(Qt::UserRole).toString() : QString();
    if (!m_runs.trackers().has(key.toStdString()))
        return;
    auto* menu = new QMenu(m_list);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Close"), this, [this, key] { closeTracker(key); });
    menu->addAction(tr("Close all that trackers wrote"), this, [this] {
        for (const std::string& id : m_runs.trackers().ids())
            closeTracker(QString::fromStdString(id));
    });
    menu->popup(m_list->viewport()->mapToGlobal(place));
}

void RunCurvesView::takeEvents(const std::string& run, const std::vector<Json>& events)
{
    bool news = false;
    for (const Json& event : events)
        news = m_runs.append(run, event) || news;
    if (news && isVisible())
        refresh();
}

void RunCurvesView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    fillList(); // in the colours of the theme as it is
    refresh();
    m_runs.read();
    follow();
}

void RunCurvesView::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_follow.stop();
}

QVariantMap RunCurvesView::state() const
{
    QStringList charts;
    for (std::size_t i = 0; i < m_charts.size(); ++i) {
        if (m_chosen[i])
            charts << exactText(name(m_charts[i]->metric()));
    }
    QStringList trackers;
    for (const std::filesystem::path& path : m_runs.trackers().paths())
        trackers << QString::fromStdString(path.string());
    return {{QStringLiteral("trackers"), trackers}, {QStringLiteral("axis"), exactText(name(m_curves.axis()))},
        {QStringLiteral("groups"), exactText(name(m_curves.groups()))},
        {QStringLiteral("smoothing"), m_smoothing->value()}, {QStringLiteral("charts"), charts}};
}

void RunCurvesView::restore(const QVariantMap& state)
{
    choose<view::CurveAxis>(*m_axis, state.value(QStringLiteral("axis")));
    choose<view::CurveGroups>(*m_groups, state.value(QStringLiteral("groups")));
    m_smoothing->setValue(state.value(QStringLiteral("smoothing")).toInt());
    for (const QString& path : state.value(QStringLiteral("trackers")).toStringList()) {
        // What is gone since is no reason to bother a user who only started the program.
        if (const Expected<std::size_t> opened = openTracker(path.toStdString()); !opened)
            continue;
    }
    if (!state.contains(QStringLiteral("charts")))
        return;
    const QStringList charts = state.value(QStringLiteral("charts")).toStringList();
    const QList<QAction*> actions = m_which->menu()->actions();
    for (std::size_t i = 0; i < m_charts.size(); ++i)
        actions[static_cast<qsizetype>(i)]->setChecked(charts.contains(exactText(name(m_charts[i]->metric()))));
}

} // namespace fourfold::ui
