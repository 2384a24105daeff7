// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_charts.h"

#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/desktop/widgets/charts/step_split.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "app/view/compare/comparison_bars.h"
#include "core/calibration/user/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold::ui {

namespace {
const double kNone = std::numeric_limits<double>::quiet_NaN();

template <typename Get>
std::vector<double> valuesOf(const std::vector<CompareEntry>& entries, Get get)
{
    std::vector<double> values;
    for (const CompareEntry& entry : entries)
        values.push_back(get(entry).value_or(kNone));
    return values;
}

// Of a kind of the chart, by row.
std::vector<double> valuesOf(const BarChart& chart, std::size_t kind)
{
    std::vector<double> values;
    for (const BarChart::Row& row : chart.rows)
        values.push_back(kind < row.parts.size() ? row.parts[kind] : kNone);
    return values;
}
} // namespace

CurveSeries curveOf(const view::ScalingSeries& series)
{
    CurveSeries curve{fromUtf8(series.name), {}, series.measured};
    for (const auto& [gpus, tps] : series.points)
        curve.points << QPointF(gpus, tps);
    return curve;
}

CompareCharts::CompareCharts(const Presets& presets, QWidget* parent)
    : QWidget(parent)
    , m_presets(presets)
    , m_memory(new ComparisonChart(tr("Memory"), tr("predicted, fullest stage, by what it holds")))
    , m_throughput(new ComparisonChart(tr("Throughput"), tr("tokens/s per GPU")))
    , m_utilisation(new ComparisonChart(tr("MFU"), tr("of the dense peak")))
    , m_time(new ComparisonChart(tr("Step time"), tr("exposed parts; they add up to the step")))
    , m_scaling(new ComparisonChart(tr("Scaling"), tr("same TP, CP and PP; DP takes up the rest")))
{
    m_left = new CardStack({{m_throughput, tr("TPS/GPU")}, {m_utilisation, tr("MFU")}, {m_scaling, tr("Scaling")}});
    m_right = new CardStack({{m_time, tr("Step time")}, {m_memory, tr("Memory")}});
    QSplitter* charts = makeSplitter(QStringLiteral("compare.charts"), Qt::Horizontal, {m_left, m_right}, {1, 1});
    charts->setHandleWidth(10);
    charts->setProperty("gap", true);
    setLayout(columnOf({charts}, 0, {12, 12, 12, 12}));
    connect(m_left, &CardStack::currentChanged, this, &CompareCharts::startScaling);
}

CompareCharts::~CompareCharts() = default;

void CompareCharts::show(const std::vector<CompareEntry>& entries)
{
    m_entries = entries;
    ++m_serial;
    showBars();
    startScaling();
}

void CompareCharts::setPublished(const std::vector<CurveSeries>& series)
{
    m_published = series;
    ++m_serial;
    startScaling();
}

void CompareCharts::showScaling()
{
    m_left->setCurrent(2);
}

void CompareCharts::showBars()
{
    QStringList names;
    for (const CompareEntry& entry : m_entries)
        names << entry.name;
    const auto predicted = [](auto member) {
        return [member](const CompareEntry& entry) {
            return entry.prediction ? (*entry.prediction).*member : std::optional<double>();
        };
    };
    const std::vector<double> measured = valuesOf(m_entries, [](const CompareEntry& e) { return e.tps_per_gpu; });
    std::vector<BarSet> throughput{{tr("Predicted"), &Theme::forward, Card::Fill::solid,
        valuesOf(m_entries, predicted(&Prediction::tps_per_gpu))}};
    if (std::any_of(measured.begin(), measured.end(), [](double value) { return std::isfinite(value); }))
        throughput.push_back({tr("Measured"), &Theme::activations, Card::Fill::hatched, measured});
    const auto percentOf = [this](std::optional<double> (CompareEntry::*figure)() const) {
        std::vector<double> values
            = valuesOf(m_entries, [figure](const CompareEntry& entry) { return (entry.*figure)(); });
        for (double& value : values)
            value *= 100;
        return values;
    };
    std::vector<BarSet> utilisation{
        {tr("Predicted"), &Theme::forward, Card::Fill::solid, percentOf(&CompareEntry::mfu)}};
    if (throughput.size() > 1)
        utilisation.push_back(
            {tr("Measured"), &Theme::activations, Card::Fill::hatched, percentOf(&CompareEntry::measuredMfu)});
    m_throughput->showBars(names, std::move(throughput), false, tr("tokens/s per GPU"));
    m_utilisation->showBars(names, std::move(utilisation), false, tr("%"));
    std::vector<view::ComparedEntry> compared;
    for (const CompareEntry& entry : m_entries)
        compared.push_back({entry.name.toStdString(), entry.prediction ? &*entry.prediction : nullptr});
    const BarChart byKind = view::comparison_bars(compared, view::ComparedFigure::memory);
    std::vector<BarSet> memory;
    for (std::size_t i = 0; i < std::size(kMemoryKinds); ++i)
        memory.push_back({kMemoryKinds[i].label(), kMemoryKinds[i].color, kMemoryKinds[i].fill, valuesOf(byKind, i)});
    m_memory->showBars(names, std::move(memory), true, tr("GiB per GPU"));
    const BarChart byPart = view::comparison_bars(compared, view::ComparedFigure::step_time);
    std::vector<BarSet> time;
    for (int index = 0; index < kParts; ++index) {
        const Part part = static_cast<Part>(index);
        const auto kind = std::ranges::find(byPart.kinds, view::part_label(part), &ChartKind::name);
        if (kind == byPart.kinds.end())
            continue;
        const PartLook look = stackedLookOf(part);
        BarSet set{{}, look.color, look.fill, {}};
        set.name = fromUtf8(view::part_label(part));
        set.values = valuesOf(byPart, static_cast<std::size_t>(kind - byPart.kinds.begin()));
        time.push_back(std::move(set));
    }
    m_time->showBars(names, std::move(time), true, tr("seconds"));
}

// Predictions at other sizes, on a thread of their own; only while the chart is on show.
void CompareCharts::startScaling()
{
    if (m_left->current() != 2 || m_entries.empty())
        return;
    std::vector<view::ScalingEntry> entries;
    for (const CompareEntry& entry : m_entries) {
        if (entry.plan())
            entries.push_back({entry.name.toStdString(), *entry.plan(), entry.tps_per_gpu,
                entry.kind == EntryKind::published ? entry.id.section(QLatin1Char(':'), 0, 0).toStdString()
                                                   : std::string()});
    }
    // The old thread is asked to stop and joined by the assignment; it looks at its token between two predictions.
    m_scalingThread = std::jthread([this, serial = m_serial, entries = std::move(entries), published = m_published](
                                       const std::stop_token& stop) {
        std::vector<CurveSeries> curves;
        for (const view::ScalingSeries& series : view::scaling_series(entries, m_presets, predict_with_evidence, stop))
            curves.push_back(curveOf(series));
        if (stop.stop_requested())
            return;
        curves.insert(curves.end(), published.begin(), published.end());
        QMetaObject::invokeMethod(this, [this, serial, curves = std::move(curves)]() mutable {
            if (serial != m_serial)
                return;
            m_scaling->showCurves(std::move(curves), tr("GPUs"), tr("tokens/s per GPU"));
            emit scalingReady();
        });
    });
}

} // namespace fourfold::ui
