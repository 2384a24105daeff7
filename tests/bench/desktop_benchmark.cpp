// SPDX-License-Identifier: GPL-3.0-or-later
// What the desktop must do within a frame (16 ms) or a blink: an edit's answer on the page, the timeline's picture, the
// search results' table, the history's list. Offscreen; wall clock.
#include "app/desktop/appearance.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/plan_page.h"
#include "app/desktop/widgets/timeline_raster.h"
#include "app/models/history_model.h"
#include "app/models/results_model.h"
#include "core/plan/presets.h"

#include <QApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>
#include <random>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
template <typename Work>
void measure(const char* what, int times, Work work)
{
    std::vector<double> milliseconds;
    for (int i = 0; i < times; ++i) {
        QElapsedTimer timer;
        timer.start();
        work(i);
        milliseconds.push_back(double(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto at = [&](double share) {
        return milliseconds[std::min(milliseconds.size() - 1, std::size_t(share * double(milliseconds.size())))];
    };
    std::printf("%-58s %4d times  median %8.2f ms  p95 %8.2f ms  most %8.2f ms\n", what, times, at(0.5), at(0.95),
        milliseconds.back());
}

Plan largePlan()
{
    return *parse_plan(R"({"fourfold_plan": 1, "name": "Llama 3.1 405B on 16,384 H100", "model": "llama-3.1-405b",
        "cluster": "grand-teton-h100", "gpus": 16384, "stack": "torchtitan",
        "layout": {"tp": 8, "cp": 1, "pp": 16, "dp": 128},
        "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 2048, "schedule": "1f1b",
                     "sharding": "parameters", "recompute": "none"}})",
        "");
}

void editToAnswer(MainWindow& window)
{
    window.document().reset(largePlan());
    measure("edit to new answer, 405B on 16,384 GPUs, page painted", 200, [&](int i) {
        window.document().setValue("layout.tp", i % 2 ? 8 : 4, QStringLiteral("Change"));
        while (!window.document().isAnswered())
            QApplication::processEvents(QEventLoop::AllEvents, 1);
        window.planPage().repaint();
        QApplication::processEvents();
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
        runs[i].state = "ok";
        runs[i].measured_tps_per_gpu = double((i * 7919) % 10'000);
    }
    HistoryModel model;
    measure("history: show 10,000 runs", 20, [&](int) { model.show(runs); });
    measure("history: filter 10,000 runs", 20,
        [&](int i) { model.setFilter(i % 2 ? QString() : QStringLiteral("plan 12")); });
}
} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    prepareAppearance();
    const Presets presets;
    QElapsedTimer timer;
    timer.start();
    MainWindow::Options options;
    options.session = false;
    MainWindow window(presets, options);
    window.resize(1440, 900);
    window.show();
    QApplication::processEvents();
    std::printf("window made and shown: %.0f ms\n", double(timer.nsecsElapsed()) / 1e6);
    editToAnswer(window);
    drawTimeline();
    sortResults();
    showHistory();
    return 0;
}
