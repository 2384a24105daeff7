// SPDX-License-Identifier: GPL-3.0-or-later
// What the desktop must do within a frame (16 ms) or a blink: an edit's answer on the page, the timeline's picture, the
// search results' table, the history's list, a run's live charts. Offscreen; wall clock.
//   bench_desktop                      what needs no data
//   bench_desktop --edit               of that, an edit's answer alone
//   bench_desktop --live SECONDS [AGE] 16 ranks x 10 events a second, and how late the window's own timer is meanwhile;
//                                      AGE: seconds that the run is old when the window begins to follow it
//   bench_desktop --live SECONDS --rate N    a run on this computer (agent, fake trainer, history) of N steps a second,
//   and
//                                      how late the window's timer is meanwhile and when the run ends
//   bench_desktop --kernels            a trace of a million kernels: read, laid beside a plan, drawn, searched
//   bench_desktop --curves             20 runs of 100,000 steps laid over each other
//   bench_desktop --history FOLDER     10,000 runs with 10 million steps, made in FOLDER the first time (about 2 GB)
#include "app/desktop/appearance.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/timeline/timeline_raster.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/history/history_model.h"
#include "app/models/search/results_model.h"
#include "core/history/store.h"
#include "tests/bench/desktop_bench.h"
#include "tests/runner/support.h"

#include <SQLiteCpp/Database.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QTableView>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::bench;

namespace {
// Counts the painting of one widget, so that no edit counts as answered before its picture is on show.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(QWidget& widget) { widget.installEventFilter(this); }
    int painted = 0;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        painted += event->type() == QEvent::Paint ? 1 : 0;
        return QObject::eventFilter(watched, event);
    }
};

// From the edit until the answer's pictures are painted, by the events that a window would handle.
void editToAnswer(MainWindow& window)
{
    window.document().reset(largePlan());
    while (!window.document().isAnswered())
        QApplication::processEvents(QEventLoop::AllEvents, 1);
    QApplication::processEvents();
    PaintWatch figure(*window.planPage().figures().front());
    PaintWatch timeline(*window.planPage().findChild<TimelineView*>());
    measure("edit to new answer, 405B on 16,384 GPUs, page painted", 200, [&](int i) {
        figure.painted = timeline.painted = 0;
        window.document().setValue("layout.tp", i % 2 ? 8 : 4, QStringLiteral("Change"));
        while (!window.document().isAnswered() || figure.painted == 0 || timeline.painted == 0)
            QApplication::processEvents(QEventLoop::AllEvents, 1);
    });
}

// 64 stages x 1,024 bars each.
TimelineScene manyBars()
{
    Timeline timeline;
    timeline.stages = 64;
    for (int stage = 0; stage < timeline.stages; ++stage) {
        for (int i = 0; i < 1024; ++i) {
            const double start = i * 0.01 + stage * 0.002;
            timeline.spans.push_back(
                {stage, i % 2 ? SpanKind::backward : SpanKind::forward, i / 2, 0, start, start + 0.008});
        }
    }
    timeline.length_s = 10.5;
    return TimelineScene(timeline);
}

void drawTimeline()
{
    const TimelineScene scene = manyBars();
    std::printf("%zu bars\n", scene.barCount());
    for (const double share : {1.0, 0.3, 0.02}) {
        char what[80];
        std::snprintf(what, sizeof what, "timeline, 65,536 bars, %g %% of the step on show", share * 100);
        measure(what, 200, [&](int i) {
            const double begin = (scene.length() * (1 - share)) * i / 200;
            rasterTimeline(scene, begin, begin + scene.length() * share, {1300, 640}, 10, 1, 1, lightTheme());
        });
    }
}

void sortResults()
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> any(0, 1);
    std::vector<ResultRow> rows(100'000);
    for (ResultRow& row : rows) {
        row.found.candidate.tp = 1 << (random() % 4);
        row.values[slot(PlanField::tp)] = row.found.candidate.tp;
        row.values[slot(PlanField::gpus)] = 1024;
        row.values[slot(PlanField::memory_gib)] = 20 + 100 * any(random);
        row.values[slot(PlanField::tps_per_gpu)] = 1000 * any(random);
    }
    ResultsModel model;
    model.append(std::move(rows));
    measure("search results: sort 100,000 rows", 50, [&](int i) {
        model.sort(i % 2 ? ResultsModel::memory : ResultsModel::throughput,
            i % 4 < 2 ? Qt::AscendingOrder : Qt::DescendingOrder);
    });
    const Expected<Expression> narrow
        = parse_expression("memory_gib < 70 and tp >= 2", ValueKind::truth, plan_field_set(), "filter");
    measure("search results: filter 100,000 rows", 50,
        [&](int i) { model.setFilter(i % 2 ? std::optional<Expression>() : std::optional<Expression>(*narrow)); });
}

void showHistory()
{
    std::vector<RunSummary> runs(10'000);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].id = "run" + std::to_string(i);
        runs[i].name = "Plan " + std::to_string(i % 37);
        runs[i].state = RunState::ok;
        runs[i].measured_tps_per_gpu = double((i * 7919) % 10'000);
    }
    HistoryModel model;
    measure("history: show 10,000 runs", 20, [&](int) { model.show(runs); });
    measure("history: filter 10,000 runs", 20,
        [&](int i) { model.setFilter(i % 2 ? QString() : QStringLiteral("plan 12")); });
}

// How late an event that is due now is handled by the window's thread, looked at every 5 ms, and how much processor
// time of its own the thread has used since the look before: what other programs take from it makes it late, not busy.
class Lateness {
public:
    Lateness()
    {
        m_beat.setTimerType(Qt::PreciseTimer);
        QObject::connect(&m_beat, &QTimer::timeout, [this] { look(); });
    }
    void start()
    {
        m_since.start();
        m_used = threadMilliseconds();
        m_beat.start(kBeat);
    }
    void stop()
    {
        if (m_beat.isActive())
            look(); // whatever kept it from its turn
        m_beat.stop();
    }
    [[nodiscard]] std::string text() const
    {
        const auto over = [](const std::vector<double>& values) {
            return static_cast<long long>(
                std::count_if(values.begin(), values.end(), [](double ms) { return ms > 16; }));
        };
        char out[240];
        std::snprintf(out, sizeof out,
            "late by median %.2f ms, p95 %.2f ms, most %.2f ms, over 16 ms %lld of %zu times; busy for p95 %.2f ms, "
            "most "
            "%.2f ms, over 16 ms %lld times",
            percentile(m_late, 0.5), percentile(m_late, 0.95), percentile(m_late, 1), over(m_late), m_late.size(),
            percentile(m_busy, 0.95), percentile(m_busy, 1), over(m_busy));
        return out;
    }

private:
    static constexpr int kBeat = 5; // milliseconds
    void look()
    {
        m_late.push_back(std::max(0.0, double(m_since.nsecsElapsed()) / 1e6 - kBeat));
        m_busy.push_back(threadMilliseconds() - m_used);
        m_since.restart();
        m_used = threadMilliseconds();
    }
    QTimer m_beat;
    QElapsedTimer m_since;
    double m_used = 0;
    std::vector<double> m_late, m_busy;
};

// Events as the controller hands them over: ten batches a second of what 16 ranks would send.
// `before` batches come at once, as when a window catches up with a run that is that old.
void followRun(MainWindow& window, int seconds, int before)
{
    constexpr int kRanks = 16, kBatch = 100; // milliseconds
    window.showPage(QStringLiteral("runs"));
    RunController& controller = window.controller();
    emit controller.started();
    int step = 0;
    QTimer feed;
    feed.setTimerType(Qt::PreciseTimer);
    const auto feedBatch = [&] {
        std::vector<Json> events;
        for (int rank = 0; rank < kRanks; ++rank) {
            ++step;
            events.push_back({{"event", "step"}, {"rank", rank}, {"step", step}, {"loss", 8.0 / (1 + step * 0.001)},
                {"step_time_s", 0.1}, {"tps_per_gpu", 900.0 + step % 97}, {"mfu", 0.4}, {"memory_peak_gib", 40.0},
                {"ranks",
                    {{"memory_peak_gib", {{"min", 38.0}, {"median", 39.0}, {"max", 40.0}, {"worst_rank", 3}}},
                        {"step_time_s", {{"min", 0.1}, {"median", 0.1}, {"max", 0.11}, {"worst_rank", 5}}}}}});
        }
        emit controller.eventsArrived(events);
    };
    QObject::connect(&feed, &QTimer::timeout, feedBatch);
    for (int batch = 0; batch < before; ++batch)
        feedBatch();
    QApplication::processEvents();
    Lateness late;
    QTimer::singleShot(seconds * 1000, qApp, &QApplication::quit);
    feed.start(kBatch);
    late.start();
    QTimer::singleShot(2000, [] { std::printf("resident after 2 s: %.1f MiB\n", residentMib()); });
    QApplication::exec();
    std::printf(
        "live: %d events in %d s; window %s; resident %.1f MiB\n", step, seconds, late.text().c_str(), residentMib());
}

// A run as a user would start it: the agent watches the ranks, the client stores their events, the window shows them.
int followRealRun(MainWindow& window, const test::Home& home, int seconds, int rate)
{
    const int steps = seconds * rate;
    RunRequest request
        = test::request(home, 2, {{"FAKE_STEPS", std::to_string(steps)}, {"FAKE_RATE", std::to_string(rate)}});
    request.history_file = home.path() / "data/fourfold/history.db";
    window.showPage(QStringLiteral("runs"));
    RunController& controller = window.controller();
    Lateness start, running, end;
    std::optional<Expected<RunResult>> outcome;
    QElapsedTimer wall;
    double lasted = 0;
    qint64 events = 0, shown = 0;
    QObject::connect(&controller, &RunController::eventsArrived, [&](const std::vector<Json>& batch, bool) {
        if (events == 0 && !batch.empty()) {
            start.stop();
            running.start();
            wall.start();
        }
        events += qint64(batch.size());
        shown = window.liveRun().run().step();
    });
    QObject::connect(&controller, &RunController::finished, [&](const Expected<RunResult>& result) {
        outcome = result;
        lasted = double(wall.elapsed()) / 1e3;
        running.stop();
        end.start();
        QTimer::singleShot(2000, qApp, &QApplication::quit);
    });
    start.start();
    window.liveRun().expect({}, steps, QStringLiteral("Bench"));
    controller.start(request);
    QApplication::exec();
    if (!*outcome || (*outcome)->state != RunState::ok) {
        std::printf("the run failed: %s\n",
            !*outcome                 ? outcome->error().line().c_str()
                : (*outcome)->problem ? (*outcome)->problem->line().c_str()
                                      : "");
        return 1;
    }
    const double resident = residentMib(); // before all of it is read back below
    const auto stored = HistoryStore::open(request.history_file)->show((*outcome)->id);
    std::printf("live: %lld events shown up to step %lld of %d in %.1f s (%.0f a second), %lld stored\n",
        static_cast<long long>(events), static_cast<long long>(shown), steps, lasted, double(events) / lasted,
        static_cast<long long>(stored ? stored->summary.steps : -1));
    std::printf("window before the first event: %s\nwindow while they come:        %s\nwindow in 2 s after the end:   "
                "%s\nresident %.1f MiB\n",
        start.text().c_str(), running.text().c_str(), end.text().c_str(), resident);
    return 0;
}

// Rows as a program would have left them, written by SQL: 1,000 steps a run.
void makeHistory(const std::filesystem::path& file)
{
    std::filesystem::create_directories(file.parent_path());
    {
        HistoryStore store = *HistoryStore::open(file);
        const Presets presets;
        const ResolvedPlan plan = *resolve(largePlan(), presets);
        NewRun run{"SEED", "Llama 3.1 405B", "cluster", "torchtitan", plan_hash(plan), layout_hash(plan),
            to_json(plan, PresetStyle::inlined), {{"tps_per_gpu", 400.0}, {"step_time_s", 2.0}, {"memory_gib", 60.0}},
            {}, {"node1"}, Json::object()};
        if (const auto created = store.create_run(run); !created)
            throw std::runtime_error(created.error().line());
    }
    SQLite::Database database(file, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA synchronous = OFF");
    database.exec("BEGIN");
    database.exec(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
        "INSERT INTO runs (id, name, target, stack, state, created, plan, prediction, environment, steps,"
        " first_loss, last_loss, measured_tps_per_gpu, measured_step_time_s, measured_memory_gib) "
        "SELECT printf('RUN%05d', i), 'Plan ' || (i % 37), 'cluster', 'torchtitan', 'ok',"
        " strftime('%Y-%m-%dT%H:%M:%S.000Z', 1700000000 + i * 600, 'unixepoch'), plan, prediction, '{}', 1000,"
        " 8.0, 2.5, 350 + i % 101, 2.1, 58.0 FROM n JOIN runs ON runs.id = 'SEED'");
    database.exec("DELETE FROM runs WHERE id = 'SEED'");
    database.exec(
        "WITH RECURSIVE s(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM s WHERE k < 1000) "
        "INSERT INTO steps (run, seq, step, time, loss, step_time_s, tps_per_gpu, memory_peak_gib) "
        "SELECT id, k, k, 1700000000 + k, 8.0 / k, 2.1, 350 + k % 11, 58 FROM runs CROSS JOIN s ORDER BY id, k");
    database.exec(
        "WITH RECURSIVE s(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM s WHERE k < 1000) "
        "INSERT INTO events (run, stream, seq, kind, line) SELECT id, 'events', k, 'step',"
        " '{\"seq\":' || k || ',\"event\":\"step\",\"step\":' || k || '}' FROM runs CROSS JOIN s ORDER BY id, k");
    database.exec("COMMIT");
}

void openHistory(const Presets& presets, const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / "history.db";
    if (!std::filesystem::exists(file))
        makeHistory(file);
    MainWindow::Options options;
    options.session = false;
    options.history = file;
    MainWindow window(presets, options);
    HistoryPage& page = window.historyPage();
    window.resize(1440, 900);
    window.showPage(QStringLiteral("history"));
    window.show();
    measure("history: 10,000 runs with 10,000,000 steps opened and painted", 10, [&](int) {
        page.hide();
        page.show();
        page.grab();
    });
    auto* table = page.findChild<QTableView*>(QStringLiteral("history"));
    measure("history: one step of scrolling, painted", 200, [&](int i) {
        table->verticalScrollBar()->setValue(i * 40);
        table->viewport()->repaint();
        QApplication::processEvents();
    });
    measure("history: another run selected and painted", 50, [&](int i) {
        table->selectRow(i * 150);
        page.repaint();
        QApplication::processEvents();
    });
}
} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // A real run has a history and a node of its own.
    const bool real = argc > 4 && std::string(argv[1]) == "--live" && std::string(argv[3]) == "--rate";
    std::optional<test::Home> home;
    if (real)
        home.emplace();
    QApplication application(argc, argv);
    prepareAppearance();
    const Presets presets;
    const QStringList arguments = QApplication::arguments();
    if (arguments.value(1) == QStringLiteral("--history")) {
        openHistory(presets, arguments.value(2).toStdString());
        return 0;
    }
    if (arguments.value(1) == QStringLiteral("--kernels")) {
        drawKernels(presets);
        return 0;
    }
    if (arguments.value(1) == QStringLiteral("--curves")) {
        layCurves();
        return 0;
    }
    QElapsedTimer timer;
    timer.start();
    MainWindow::Options options;
    options.session = false;
    MainWindow window(presets, options);
    window.resize(1440, 900);
    window.show();
    QApplication::processEvents();
    std::printf("window made and shown: %.0f ms\n", double(timer.nsecsElapsed()) / 1e6);
    if (real)
        return followRealRun(
            window, *home, std::max(3, arguments.value(2).toInt()), std::max(1, arguments.value(4).toInt()));
    if (arguments.value(1) == QStringLiteral("--live")) {
        followRun(window, std::max(3, arguments.value(2).toInt()), 10 * arguments.value(3).toInt());
        return 0;
    }
    editToAnswer(window);
    if (arguments.value(1) == QStringLiteral("--edit"))
        return 0;
    drawTimeline();
    sortResults();
    showHistory();
    return 0;
}
