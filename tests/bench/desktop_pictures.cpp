// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of far more than a screen has room for: long curves, and the kernels of a trace.
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/view/trace/trace_study.h"
#include "core/predict/prediction.h"
#include "tests/bench/desktop_bench.h"

#include <QPixmap>
#include <QTemporaryDir>

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

namespace fourfold::bench {

using namespace fourfold::ui;

// The losses of long runs, noisy as they are, in one chart as wide as the window.
void layCurves()
{
    constexpr int kRuns = 20, kSteps = 100'000;
    view::RunCurves curves;
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.2);
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < kRuns; ++i) {
        view::CurveRun run;
        run.id = run.name = "run " + std::to_string(i);
        run.plan = "one";
        run.training.global_batch = 512;
        run.training.seq_len = 8192;
        for (int step = 1; step <= kSteps; ++step) {
            StepValues values;
            values.loss = 2 + 9 / std::sqrt(1 + step / 50.0) + 0.05 * i + noise(random);
            values.tps_per_gpu = 400 + 5 * noise(random);
            run.append(step, 2.0 * step, values);
        }
        curves.add(std::move(run));
    }
    std::printf("%d runs of %d steps taken in: %.0f ms\n", kRuns, kSteps, double(timer.elapsed()));
    CurvesChart chart(curves, view::CurveMetric::loss);
    chart.resize(1200, 500);
    QPixmap picture(chart.size());
    const auto draw = [&] {
        chart.refresh();
        chart.render(&picture);
    };
    measure("curves: 20 runs x 100,000 steps, drawn", 50, [&](int) { draw(); });
    measure("curves: the same smoothed anew and drawn over the raw ones", 50, [&](int i) {
        curves.set_smoothing(i % 2 ? 0.9 : 0.95);
        draw();
    });
    measure("curves: smoothed, another part of the axis", 50, [&](int i) {
        curves.set_range(view::CurveRange{1000.0 * i, 1000.0 * i + 50'000});
        draw();
    });
    curves.set_range({});
    curves.set_groups(view::CurveGroups::plan);
    measure("curves: as one group with its band", 20, [&](int) { draw(); });
    curves.set_groups(view::CurveGroups::none);
    draw();
    measure("curves: the cursor moved", 50, [&](int i) {
        chart.setCursor(1000.0 * i + 500);
        chart.render(&picture);
    });
}

namespace {
// As PyTorch's profiler would have written a step: ranks of three streams with a million kernels and their launches.
std::filesystem::path writeKernels(const std::filesystem::path& folder, int kernels)
{
    const std::filesystem::path file = folder / "kernels.json";
    std::ofstream out(file);
    out << R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 8}, "traceEvents": [)"
        << R"({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":0,"dur":)"
        << kernels / 2 * 10 << "}";
    constexpr std::array kNames{"nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNN", "void flash_fwd_kernel<128>",
        "void at::native::vectorized_elementwise_kernel<4, silu>"};
    for (int i = 0; i < kernels; ++i) {
        const bool sends = i % 2 == 1;
        const int start = i / 2 * 10;
        out << R"(,{"ph":"X","cat":"kernel","name":")"
            << (sends ? "ncclDevKernel_AllGather_RING_LL" : kNames[std::size_t(i / 2 % 3)])
            << R"(","pid":0,"tid":7,"ts":)" << start << R"(,"dur":)" << 3 + i % 6 << R"(,"args":{"stream":)"
            << (sends ? 20 : 7) << R"(,"correlation":)" << i + 1 << "}}";
        out << R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" << start
            << R"(,"dur":2,"args":{"correlation":)" << i + 1 << "}}";
    }
    out << "]}";
    return file;
}
} // namespace

void drawKernels(const Presets& presets)
{
    constexpr int kKernels = 1'000'000;
    const QTemporaryDir folder;
    const std::filesystem::path file = writeKernels(folder.path().toStdString(), kKernels);
    std::printf("trace of %.0f MB\n", double(std::filesystem::file_size(file)) / 1e6);
    QElapsedTimer timer;
    timer.start();
    auto trace = read_step_trace(file);
    if (!trace)
        throw std::runtime_error(trace.error().line());
    std::printf("read: %.2f s\n", double(timer.restart()) / 1e3);
    const view::Traces traces{std::make_shared<const StepTrace>(*std::move(trace))};
    const auto plan = std::make_shared<const Prediction>(predict(*resolve(largePlan(), presets)));
    timer.restart();
    auto study = view::study_traces(traces, {"plan", plan, {}});
    std::printf("laid beside a plan: %.2f s, %zu kernels measured, %zu predicted; resident %.0f MiB\n",
        double(timer.elapsed()) / 1e3, study->measured.barCount(), study->predicted.barCount(), residentMib());
    TimelineView view;
    view.resize(1300, 400);
    view.showTimeline(std::move(study->measured), QStringLiteral("bench"), study->length_s);
    QPixmap picture(view.size());
    const double length = view.scene().length();
    const double all = view.window().length();
    for (const double share : {1.0, 0.3, 0.05, 0.001}) {
        char what[96];
        std::snprintf(what, sizeof what, "a million kernels, %g %% of them on show, painted", share * 100);
        TimelineView part;
        part.resize(view.size());
        part.showTimeline(view.scene(), QStringLiteral("bench"), all);
        view.linkWindow(part);
        measure(what, 100, [&](int i) {
            const double begin = length * (1 - share) * i / 100;
            emit view.windowMoved(begin, begin + length * share);
            part.render(&picture);
        });
    }
    measure("a million kernels, the next of a name found", 20, [&](int) { view.find(QStringLiteral("flash"), true); });
}

} // namespace fourfold::bench
