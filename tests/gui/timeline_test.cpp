// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline: search, zoom at the pointer, hover, selection, drawing by coverage.
#include "app/desktop/appearance.h"
#include "app/desktop/widgets/timeline/timeline_raster.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/planned_scene.h"
#include "core/plan/plan.h"
#include "core/predict/step_time.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
// Two stages; stage 1 waits one second; a gradient reduction runs beside the last backward of stage 0.
Timeline example()
{
    Timeline timeline;
    timeline.stages = 2;
    timeline.length_s = 10;
    timeline.spans = {{0, SpanKind::forward, 0, 0, 0, 1}, {0, SpanKind::forward, 1, 0, 1, 2},
        {0, SpanKind::backward, 0, 0, 4, 6}, {0, SpanKind::backward, 1, 0, 6, 8},
        {0, SpanKind::gradient_reduce, -1, 0, 7, 9}, {1, SpanKind::forward, 0, 1, 1, 2},
        {1, SpanKind::backward, 0, 1, 2, 4}, {1, SpanKind::forward, 1, 1, 4, 5}};
    return timeline;
}

void sendWheel(TimelineView& view, const QPointF& at, int delta)
{
    QWheelEvent event(at, view.mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view, &event);
}
} // namespace

class TimelineTest : public QObject {
    Q_OBJECT
private slots:
    void sceneFindsBars()
    {
        const TimelineScene scene(example());
        QCOMPARE(scene.barCount(), 8u);
        QCOMPARE(scene.at(0, 0.5), (BarRef{0, 0}));
        QVERIFY(!scene.at(0, 3));
        QCOMPARE(scene.at(0, 3.95, 0.1), (BarRef{0, 2}));
        QVERIFY(!scene.at(2, 1));
        QCOMPARE(scene.waitBefore({0, 2}), 2.0);
        QCOMPARE(scene.waitBefore({1, 0}), 1.0);
        QCOMPARE(scene.along({0, 0}, -1), (BarRef{0, 0}));
        QCOMPARE(scene.across({0, 2}, 1).row, 1);
        const auto [first, last] = scene.touching(0, 7.5, 7.6);
        QVERIFY(first <= 3 && last == 5);
        QVERIFY(scene.has(SpanKind::gradient_reduce));
        QVERIFY(!scene.has(SpanKind::optimizer));
    }

    void windowKeepsTheTimeUnderThePointer()
    {
        TimelineWindow window;
        window.setLength(0.3);
        window.follow(0, 0.3 * (1 - 1e-13)); // of another view, rounded on the way
        QVERIFY(window.isFit());
        window.setLength(10);
        QVERIFY(window.isFit());
        window.zoom(4, 2);
        QCOMPARE(window.span(), 5.0);
        QCOMPARE((4 - window.begin()) / window.span(), 0.4);
        window.pan(-10);
        QCOMPARE(window.begin(), 0.0);
        window.show(3, 4);
        window.back();
        QCOMPARE(window.span(), 5.0);
        window.fit();
        QVERIFY(window.isFit());
        window.zoom(5, 1e12);
        QVERIFY(window.span() > 0);
        window.zoom(5, 1e-12);
        QVERIFY(window.isFit());
        window.zoom(5, 2);
        window.setLength(20); // an edit of the plan keeps the place
        QCOMPARE(window.span(), 10.0);
    }

    void wheelKeysAndMouse()
    {
        TimelineView view;
        view.resize(1000, 300);
        view.showTimeline(TimelineScene(example()), QStringLiteral("test"));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const QRectF bar = view.barRect({0, 2});
        QVERIFY(bar.width() > 50);

        QTest::mouseMove(&view, bar.center().toPoint());
        QTRY_COMPARE(view.hovered(), std::optional<BarRef>(BarRef{0, 2}));
        QSignalSpy stages(&view, &TimelineView::stageClicked);
        QTest::mouseClick(&view, Qt::LeftButton, {}, bar.center().toPoint());
        QCOMPARE(view.selected(), std::optional<BarRef>(BarRef{0, 2}));
        QCOMPARE(stages.count(), 1);

        const double widthBefore = bar.width();
        sendWheel(view, bar.center(), 240);
        const QRectF zoomed = view.barRect({0, 2});
        QVERIFY(zoomed.width() > widthBefore * 1.5);
        QVERIFY(std::abs(zoomed.center().x() - bar.center().x()) < 2); // the point under the pointer stays
        view.setFocus();
        const double begin = view.window().begin();
        QTest::keyClick(&view, Qt::Key_D);
        QVERIFY(view.window().begin() > begin);
        QTest::keyClick(&view, Qt::Key_F);
        QVERIFY(view.window().isFit());
        QTest::keyClick(&view, Qt::Key_Z);
        QVERIFY(!view.window().isFit());
        QTest::keyClick(&view, Qt::Key_Backspace);
        QVERIFY(view.window().isFit());
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.selected(), std::optional<BarRef>(BarRef{0, 3}));
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.selected()->row, 1);
        QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(!view.selected());
    }

    void theOverviewCanBeTakenAway()
    {
        TimelineView view;
        view.resize(1000, 150); // so low that the rows share what room there is
        view.showTimeline(TimelineScene(example()), QStringLiteral("test"));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const double with = view.barRect({0, 2}).height();
        QTest::keyClick(&view, Qt::Key_O);
        QVERIFY(!view.hasOverview());
        QVERIFY(view.barRect({0, 2}).height() > with);
        QVERIFY(!view.grab().isNull());
        QTest::keyClick(&view, Qt::Key_O);
        QCOMPARE(view.barRect({0, 2}).height(), with);
    }

    void linkedViewsShowTheSamePart()
    {
        TimelineView upper, lower;
        upper.linkWindow(lower);
        const auto show = [&](double seconds) { // an edit, or another choice: both are shown anew
            Timeline timeline = example();
            timeline.length_s = seconds;
            for (TimelineView* view : {&upper, &lower})
                view->showTimeline(TimelineScene(timeline), QStringLiteral("test"), seconds);
        };
        for (const double seconds : {30.0, 10.0, 20.0}) {
            show(seconds);
            QVERIFY2(upper.window().isFit() && lower.window().isFit(), qPrintable(QString::number(seconds)));
        }
        QTest::keyClick(&upper, Qt::Key_W);
        const double share = upper.window().span() / upper.window().length();
        QVERIFY(share < 1);
        show(10);
        for (const TimelineView* view : {&upper, &lower})
            QVERIFY(std::abs(view->window().span() / 10 - share) < 1e-9); // the place is kept, once
        QCOMPARE(upper.window().begin(), lower.window().begin());
    }

    void backspaceUndoesEveryKindOfZoom()
    {
        TimelineView view;
        view.resize(1000, 300);
        view.showTimeline(TimelineScene(example()), QStringLiteral("test"));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const QPointF middle = view.barRect({0, 2}).center();
        for (int turn = 0; turn < 3; ++turn)
            sendWheel(view, middle, 120);
        const double span = view.window().span();
        QVERIFY(span < 6);
        QTest::keyClick(&view, Qt::Key_D);
        QTest::keyClick(&view, Qt::Key_D);
        QTest::keyClick(&view, Qt::Key_Backspace); // the two steps along are one
        QCOMPARE(view.window().span(), span);
        QTest::keyClick(&view, Qt::Key_Backspace); // and the three turns of the wheel
        QVERIFY(view.window().isFit());
        QTest::keyClick(&view, Qt::Key_S); // nothing is further out: no step to take back
        QTest::keyClick(&view, Qt::Key_Backspace);
        QVERIFY(view.window().isFit());
    }

    void marksAndMeasureAreTold()
    {
        TimelineView view, other;
        view.linkWindow(other);
        for (TimelineView* each : {&view, &other}) {
            each->resize(1000, 300);
            each->showTimeline(TimelineScene(example()), QStringLiteral("test"), 10);
        }
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.setFocus();
        QTest::mouseMove(&view, QPoint(5, 5)); // beside the rows: the selected bar is marked
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QVERIFY(view.subtitle().contains(QStringLiteral("backward")));
        QTest::keyClick(&view, Qt::Key_M);
        QCOMPARE(view.marks(), std::vector<double>{4});
        QCOMPARE(other.marks(), view.marks());
        QTest::keyClick(&other, Qt::Key_F);
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_M);
        QCOMPARE(view.marks(), (std::vector<double>{4, 6}));
        QTest::keyClick(&view, Qt::Key_M); // takes away the one that is there
        QCOMPARE(other.marks(), std::vector<double>{4});
        // Measured by hand: from 4 s to 8 s stage 0 computes backward, and stage 1 runs one second forward.
        const QRectF first = view.barRect({0, 2}), last = view.barRect({0, 3});
        QTest::mousePress(&view, Qt::LeftButton, Qt::ShiftModifier, QPoint(int(first.left()), int(first.center().y())));
        QTest::mouseMove(&view, last.center().toPoint());
        QTest::mouseMove(&view, QPoint(int(last.right()), int(last.center().y())));
        QTest::mouseRelease(
            &view, Qt::LeftButton, Qt::ShiftModifier, QPoint(int(last.right()), int(last.center().y())));
        QVERIFY(view.measured() && view.measured() == other.measured());
        const TimelineScene::Shares shares = view.scene().shares(4, 8);
        QCOMPARE(shares.busy[static_cast<std::size_t>(SpanKind::backward)], 4.0);
        QCOMPARE(shares.busy[static_cast<std::size_t>(SpanKind::forward)], 1.0);
        QCOMPARE(shares.busy[static_cast<std::size_t>(SpanKind::gradient_reduce)], 1.0);
        QCOMPARE(shares.idle, 3.0);
        QVERIFY2(view.subtitle().contains(QStringLiteral("idle 37")), qPrintable(view.subtitle()));
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(&view, Qt::Key_Escape); // measure, selection, marks
        QVERIFY(!view.measured() && !view.selected() && view.marks().empty() && other.marks().empty());
    }

    void thePointerIsSeenInBoth()
    {
        TimelineView view, other;
        view.linkWindow(other);
        for (TimelineView* each : {&view, &other}) {
            each->resize(1000, 300);
            each->showTimeline(TimelineScene(example()), QStringLiteral("test"), 10);
        }
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const QImage before = other.grab().toImage();
        QTest::mouseMove(&view, view.barRect({0, 2}).center().toPoint());
        QTRY_VERIFY(view.hovered());
        QVERIFY(other.grab().toImage() != before); // its micro-batch is outlined, the time has a line
        QTest::mouseMove(&view, QPoint(5, 5));
        QTRY_VERIFY(!view.hovered());
        QVERIFY(other.grab().toImage() == before);
    }

    // Of very many micro-batches not all have bars. What is left out is no idle time, and is drawn as what it is.
    void microBatchesWithoutBarsAreNotIdle()
    {
        const auto predicted = [](int batch) {
            const Json plan{{"fourfold_plan", 1}, {"name", "Many"}, {"model", "llama-3.1-405b"},
                {"cluster", "dgx-h100"}, {"stack", "megatron-core"}, {"gpus", 512},
                {"layout", {{"tp", 8}, {"cp", 2}, {"pp", 32}, {"dp", 1}, {"virtual_stages", 4}}},
                {"training",
                    {{"seq_len", 8192}, {"micro_batch", 1}, {"global_batch", batch}, {"schedule", "interleaved"},
                        {"sharding", "optimizer"}, {"recompute", "none"}}}};
            const Presets presets;
            const Expected<Plan> read = plan_from_json(plan, "plan");
            return predict(*resolve(*read, presets));
        };
        QVERIFY(!steady_part(predicted(256)));
        const Prediction prediction = predicted(2048);
        const std::optional<SteadyPart> steady = steady_part(prediction);
        QVERIFY(steady);
        QVERIFY(steady->micro_batches > 0 && steady->micro_batches < 2048);
        const TimelineScene scene = view::planned_scene(prediction);
        const double share = steady->micro_batches / 2048.0, length = scene.length();
        QVERIFY2(std::abs((steady->end_s - steady->begin_s) / length - share) < 0.03,
            qPrintable(QStringLiteral("%1 to %2 of %3").arg(steady->begin_s).arg(steady->end_s).arg(length)));
        const double all = length * scene.rows();
        QVERIFY(scene.shares(0, length).idle / all < 0.1);
        QVERIFY(TimelineScene(prediction.timeline).shares(0, length).idle / all > 0.9 * share);
        double last = 0; // behind what is left out the pipeline drains, and the step ends
        for (const Span& span : prediction.timeline.spans) {
            QVERIFY(span.end_s <= steady->begin_s + 1e-9 || span.start_s >= steady->end_s - 1e-9);
            if (span.kind == SpanKind::backward)
                last = std::max(last, span.end_s);
        }
        QVERIFY(last > 0.9 * length);

        TimelineView view;
        view.resize(1400, 400);
        view.showTimeline(scene, QStringLiteral("test"));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QStringList told;
        for (const test::DrawnText& drawn : test::drawnTexts(view))
            told << drawn.text;
        QVERIFY2(told.contains(fromUtf8(steady_words(*steady))), qPrintable(told.join(QLatin1Char('|'))));
    }

    void coverageIsTrueToArea()
    {
        const Theme& theme = lightTheme();
        const QImage image = rasterTimeline(TimelineScene(example()), 0, 10, {100, 20}, 10, 0, 1, theme);
        QCOMPARE(image.size(), QSize(100, 20));
        QCOMPARE(image.pixelColor(5, 5), theme.forward);
        QCOMPARE(image.pixelColor(30, 5), theme.idle);
        QCOMPARE(image.pixelColor(50, 5), theme.backward);
        QCOMPARE(image.pixelColor(75, 2), theme.backward); // compute above,
        QCOMPARE(image.pixelColor(75, 9), theme.gradients); // communication below
        QCOMPARE(image.pixelColor(5, 15), theme.idle);
        // Ten columns for the whole step: column 2 of stage 1 is half forward (0.5 s of 1 s) and so on.
        const QImage coarse = rasterTimeline(TimelineScene(example()), 0.5, 10.5, {10, 2}, 1, 0, 1, theme);
        const QColor mixed = coarse.pixelColor(1, 0); // 1.5 to 2.5 s of stage 0: half forward, half idle
        QVERIFY(std::abs(mixed.red() - (theme.forward.red() + theme.idle.red()) / 2) <= 2);
        // On a longer axis nothing waits after the end.
        const QImage longer = rasterTimeline(TimelineScene(example()), 0, 20, {100, 20}, 10, 0, 1, theme);
        QCOMPARE(longer.pixelColor(48, 15), theme.idle);
        QCOMPARE(longer.pixelColor(52, 15), theme.panel);
    }

    void manyBarsAreFast()
    {
        Timeline timeline;
        timeline.stages = 64;
        for (int stage = 0; stage < 64; ++stage) {
            for (int i = 0; i < 1024; ++i)
                timeline.spans.push_back(
                    {stage, i % 2 ? SpanKind::backward : SpanKind::forward, i / 2, 0, double(i), i + 0.9});
        }
        timeline.length_s = 1024;
        const TimelineScene scene(timeline);
        QCOMPARE(scene.barCount(), 65'536u);
        QElapsedTimer timer;
        timer.start();
        const QImage image = rasterTimeline(scene, 0, 1024, {1600, 640}, 10, 1, 1, lightTheme());
        QVERIFY(!image.isNull());
        QVERIFY2(timer.elapsed() < 500,
            qPrintable(QString::number(timer.elapsed()))); // loaded machines; 5 ms on a quiet one
    }
};

int main(int argc, char** argv)
{
    return test::runTests<TimelineTest>(argc, argv);
}

#include "timeline_test.moc"
