// SPDX-License-Identifier: GPL-3.0-or-later
// Each painted widget against its stored picture, at scale 1 and 2, light and dark. FOURFOLD_WRITE_GOLDEN=1 writes the
// pictures anew; look at them before they are committed. The figures are made up: a change of the model moves nothing.
#include "app/desktop/appearance.h"
#include "app/desktop/widgets/cards/bounds_view.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/error_scatter.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/charts/memory_over_time.h"
#include "app/desktop/widgets/charts/pareto_scatter.h"
#include "app/desktop/widgets/charts/rank_mesh_view.h"
#include "app/desktop/widgets/charts/step_split.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QFontInfo>
#include <QTest>

#include <memory>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
const QString kFolder = QStringLiteral(FOURFOLD_SOURCE_DIR "/tests/gui/golden/");
constexpr double kMostDifference = 2.0; // mean over the pixels and channels, of 255

Prediction example()
{
    Prediction p;
    p.memory_capacity_gib = 76;
    p.memory_gib = 56.7;
    p.memory_device_gib = 60;
    p.step_time_s = 8.34;
    p.tps_per_gpu = 982;
    p.plan.cluster.gpu.name = "H100";
    for (int stage = 0; stage < 4; ++stage)
        p.memory_by_stage.push_back({stage, 8, 4, 3, 38.0 - 8 * stage, 3.7});
    p.time_by_part[Part::compute] = 5.1;
    p.time_by_part[Part::tp] = 0.94;
    p.time_by_part[Part::dp] = 0.31;
    p.time_by_part[Part::bubble] = 1.7;
    p.time_by_part[Part::optimizer] = 0.29;
    p.time_hidden[Part::tp] = 0.4;
    p.time_hidden[Part::dp] = 0.9;
    p.timeline.stages = 4;
    for (int stage = 0; stage < 4; ++stage) {
        for (int batch = 0; batch < 6; ++batch) {
            const double forward = 0.1 * (stage + batch), backward = 1.1 + 0.2 * batch - 0.1 * stage;
            p.timeline.spans.push_back({stage, SpanKind::forward, batch, stage, forward, forward + 0.1});
            p.timeline.spans.push_back({stage, SpanKind::backward, batch, stage, backward, backward + 0.2});
        }
        p.timeline.spans.push_back({stage, SpanKind::gradient_reduce, -1, 0, 2.4, 2.6});
    }
    p.timeline.length_s = 2.7;
    return p;
}

std::unique_ptr<QWidget> make(const QString& name)
{
    const Prediction p = example();
    if (name == QLatin1String("memory-bars")) {
        auto bars = std::make_unique<MemoryBars>();
        bars->showMemory(p);
        return bars;
    }
    if (name == QLatin1String("step-split")) {
        auto split = std::make_unique<StepSplit>();
        split->showParts(p);
        return split;
    }
    if (name == QLatin1String("timeline")) {
        auto view = std::make_unique<TimelineView>();
        view->showTimeline(TimelineScene(p.timeline), QStringLiteral("1F1B, 4 stages"));
        return view;
    }
    if (name == QLatin1String("line-chart")) {
        auto chart = std::make_unique<LineChart>(QStringLiteral("Throughput"), QString(), &Theme::accent);
        QList<QPointF> line, low, high;
        for (int i = 1; i <= 40; ++i) {
            line << QPointF(i, 900 + 60 * ((i * 7) % 5) / 5.0);
            low << QPointF(i, line.back().y() - 40);
            high << QPointF(i, line.back().y() + 30);
        }
        chart->setNames(QStringLiteral("Measured"));
        chart->setPoints(line);
        chart->setBand(low, high, QStringLiteral("Least to most"));
        chart->setLevel(982, QStringLiteral("Predicted 982"));
        return chart;
    }
    if (name == QLatin1String("memory-over-time")) {
        auto view = std::make_unique<MemoryOverTime>();
        MemoryCurve curve;
        for (int i = 0; i < 20; ++i)
            curve.points.push_back({i * 0.1, (i + 1) * 0.1, {8, 4, 3, i < 10 ? 3.0 * i : 60.0 - 3 * i, 2}});
        curve.peak_gib = 44;
        curve.peak_s = 0.9;
        view->showCurve(curve, 60, 2);
        return view;
    }
    if (name == QLatin1String("rank-mesh")) {
        auto view = std::make_unique<RankMeshView>();
        ResolvedPlan plan;
        plan.gpus = 16;
        plan.cluster.gpus_per_node = 8;
        plan.layout.tp = plan.layout.cp = plan.layout.pp = plan.layout.dp = 2;
        view->showMesh(view::RankMesh(plan));
        return view;
    }
    if (name == QLatin1String("heat-map")) {
        auto map = std::make_unique<HeatMap>(QStringLiteral("Layouts and GPUs"));
        HeatGrid grid;
        grid.columns = {QStringLiteral("8"), QStringLiteral("16"), QStringLiteral("32")};
        grid.unit = QStringLiteral("Tokens/s per GPU");
        for (int row = 0; row < 5; ++row) {
            grid.rows << QStringLiteral("tp %1, cp 1, pp %2, mb 1").arg(1 << (row % 3)).arg(1 + row / 3);
            std::vector<HeatCell>& cells = grid.cells.emplace_back();
            for (int column = 0; column < 3; ++column) {
                const double value = 900 + 97 * row - 150 * column;
                cells.push_back({HeatCell::State::value, value, QString::number(value), {}});
            }
        }
        grid.cells[1][2] = {HeatCell::State::failed, {}, QStringLiteral("no fit"), {}};
        grid.cells[3][0] = {HeatCell::State::impossible, {}, {}, {}};
        grid.cells[4][2] = {HeatCell::State::waiting, {}, QStringLiteral("running"), {}};
        map->show(grid, {});
        map->select(HeatMap::Place{2, 1});
        return map;
    }
    if (name == QLatin1String("error-scatter")) {
        static HistoryModel history;
        std::vector<RunSummary> runs(12);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i].id = std::to_string(i);
            runs[i].measured_tps_per_gpu = 80.0 * double(1 << (i % 6)) + 13.0 * double(i);
            runs[i].predicted_tps_per_gpu = *runs[i].measured_tps_per_gpu * (0.85 + 0.03 * double(i));
        }
        history.show(runs);
        auto scatter = std::make_unique<ErrorScatter>(history);
        scatter->setSelected(3);
        return scatter;
    }
    if (name == QLatin1String("pareto-scatter")) {
        static ResultsModel results;
        results.clear();
        std::vector<ResultRow> rows(40);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].found.candidate.dp = static_cast<int>(i) + 1; // tells it from the others
            rows[i].values[slot(PlanField::memory_gib)] = 20 + double(i * 37 % 60);
            rows[i].values[slot(PlanField::tps_per_gpu)] = 400 + double(i * 53 % 600);
        }
        const std::vector<FoundLayout> front{rows[13].found, rows[26].found, rows[34].found};
        results.append(std::move(rows));
        results.setOutcome({}, front);
        auto scatter = std::make_unique<ParetoScatter>(results);
        scatter->setSelected(5);
        return scatter;
    }
    if (name == QLatin1String("bounds")) {
        auto view = std::make_unique<BoundsView>();
        Bounds bounds;
        for (const auto& [parallelism, link, times] : {std::tuple("fsdp", LinkKind::node, std::pair(0.002, 0.04)),
                 std::tuple("tp", LinkKind::network, std::pair(0.05, 0.03))}) {
            LinkBound one;
            one.parallelism = parallelism;
            one.link = link;
            one.ranks = 8;
            one.used = link == LinkKind::network;
            one.bound.transfer_s = times.first;
            one.bound.compute_s_per_sequence = times.second;
            bounds.links.push_back(one);
        }
        view->showBounds(bounds);
        return view;
    }
    if (name.startsWith(QLatin1String("comparison-"))) {
        auto chart = std::make_unique<ComparisonChart>(QStringLiteral("Step time"), QStringLiteral("exposed parts"));
        if (name == QLatin1String("comparison-bars")) {
            chart->showBars({QStringLiteral("one.plan.json"), QStringLiteral("another.plan.json")},
                {{QStringLiteral("Compute"), &Theme::forward, Card::Fill::solid, {14.5, 12.1}},
                    {QStringLiteral("TP collectives"), &Theme::communication, Card::Fill::hatched, {3.2, 0.8}}},
                true, QStringLiteral("seconds"));
        } else {
            chart->showCurves({{QStringLiteral("Predicted"), {{8, 980}, {16, 960}, {32, 900}}, false},
                                  {QStringLiteral("Measured"), {{8, 990}, {32, 880}}, true}},
                QStringLiteral("GPUs"), QStringLiteral("tokens/s per GPU"));
        }
        return chart;
    }
    auto card = std::make_unique<FigureCard>();
    view::Figure figure;
    figure.title = "Peak memory per GPU";
    figure.value = "56.7";
    figure.unit = "GiB";
    figure.basis = "60.0 of 76.0 usable (79 %)";
    figure.confidence = "90 %: 51.0 to 63.1";
    figure.fraction = 0.79;
    card->show(figure);
    return card;
}

QImage drawn(QWidget& widget, int scale)
{
    QImage image(widget.size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::black);
    widget.render(&image);
    return image;
}

double difference(const QImage& a, const QImage& b)
{
    double sum = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb one = a.pixel(x, y), two = b.pixel(x, y);
            sum += std::abs(qRed(one) - qRed(two)) + std::abs(qGreen(one) - qGreen(two))
                + std::abs(qBlue(one) - qBlue(two));
        }
    }
    return sum / (3.0 * a.width() * a.height());
}
} // namespace

class GoldenTest : public QObject {
    Q_OBJECT
private slots:
    // One font for every computer: the one that Fourfold's packages bring (fonts-dejavu-core).
    void initTestCase() { QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9)); }

    void looksAsBefore_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("dark");
        QTest::addColumn<int>("scale");
        for (const char* name :
            {"figure-card", "memory-bars", "step-split", "timeline", "line-chart", "memory-over-time", "rank-mesh",
                "heat-map", "error-scatter", "pareto-scatter", "bounds", "comparison-bars", "comparison-curves"}) {
            for (const bool dark : {false, true}) {
                for (const int scale : {1, 2}) {
                    QTest::addRow("%s-%s-%dx", name, dark ? "dark" : "light", scale)
                        << QString::fromLatin1(name) << dark << scale;
                }
            }
        }
    }

    void looksAsBefore()
    {
        QFETCH(QString, name);
        QFETCH(bool, dark);
        QFETCH(int, scale);
        applyTheme(dark ? ThemeChoice::dark : ThemeChoice::light);
        const std::unique_ptr<QWidget> widget = make(name);
        widget->resize(name == QLatin1String("figure-card") ? QSize(220, 112) : QSize(560, 300));
        const QImage now = drawn(*widget, scale);
        const QString file = kFolder + QString::fromLatin1(QTest::currentDataTag()) + QStringLiteral(".png");
        const QString font = QFontInfo(QApplication::font()).family();
        if (qEnvironmentVariableIsSet("FOURFOLD_WRITE_GOLDEN")) {
            QVERIFY(now.save(file));
            QFile(kFolder + QStringLiteral("font.txt")).remove();
            QFile out(kFolder + QStringLiteral("font.txt"));
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(font.toUtf8() + '\n');
            return;
        }
        const QString wanted = QString::fromUtf8(test::readFile(kFolder + QStringLiteral("font.txt"))).trimmed();
        QCOMPARE(font, wanted); // package fonts-dejavu-core
        const QImage golden(file);
        QVERIFY2(!golden.isNull(), qPrintable(file));
        QCOMPARE(now.size(), golden.size());
        const double away = difference(now, golden.convertToFormat(QImage::Format_RGB32));
        QVERIFY2(away < kMostDifference, qPrintable(QStringLiteral("differs by %1 of 255").arg(away)));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<GoldenTest>(argc, argv);
}

#include "golden_test.moc"
