// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/live_figures.h"

#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kShortId = 12; // as the command line takes it: any unique beginning

QString againstPrediction(std::optional<double> measured, std::optional<double> predicted, const QString& predictedText)
{
    if (!predicted)
        return {};
    if (!measured || *measured <= 0)
        return tr("predicted %1").arg(predictedText);
    return tr("%1 against the predicted %2").arg(signedPercent(*measured / *predicted - 1), predictedText);
}

view::Figure stateFigure(const LiveRun& run)
{
    view::Figure figure;
    figure.title = (tr("State")).toStdString();
    figure.value = (run.hasRun() ? stateLabel(run.state()) : tr("Ready")).toStdString();
    figure.basis = (run.stateText()).toStdString();
    figure.confidence = (run.id().isEmpty() ? QString() : tr("run %1").arg(run.id().left(kShortId))).toStdString();
    figure.tone = stateTone(run.state());
    return figure;
}

view::Figure throughputFigure(const LiveRun& run)
{
    view::Figure figure = view::unknown_throughput();
    std::optional<double> measured = run.measuredThroughput();
    if (!measured && !run.throughput().isEmpty())
        measured = run.throughput().last().y();
    if (measured)
        figure.value = (throughputText(*measured)).toStdString();
    const std::optional<double> predicted = run.expectation().tps_per_gpu;
    figure.basis
        = (againstPrediction(measured, predicted, predicted ? throughputText(*predicted) : QString())).toStdString();
    figure.confidence = (run.measuredThroughput() ? tr("median after warm-up")
            : measured                            ? tr("last step")
                                                  : QString())
                            .toStdString();
    return figure;
}

view::Figure lossFigure(const LiveRun& run)
{
    view::Figure figure = view::unknown_figure("Loss");
    if (!run.loss().isEmpty()) {
        figure.value = (grouped(run.loss().last().y(), 3)).toStdString();
        figure.basis = (tr("from %1 at the start").arg(grouped(run.loss().points().constFirst().y(), 3))).toStdString();
    }
    if (!run.evalLoss().isEmpty())
        figure.confidence = (tr("held-out %1").arg(grouped(run.evalLoss().last().y(), 3))).toStdString();
    return figure;
}

view::Figure memoryFigure(const LiveRun& run)
{
    view::Figure figure = view::unknown_figure("Peak memory", "GiB");
    std::optional<double> measured;
    if (!run.memory().isEmpty())
        measured = run.memory().maximum();
    if (measured)
        figure.value = (gib(*measured)).toStdString();
    const std::optional<double> predicted = run.expectation().memory_gib;
    figure.basis = (againstPrediction(measured, predicted, predicted ? gib(*predicted) : QString())).toStdString();
    const QString worst = run.rankName(run.memoryOverRanks().worstRank);
    figure.confidence = (!measured ? QString()
            : worst.isEmpty()      ? tr("largest over ranks")
                                   : tr("most on %1").arg(worst))
                            .toStdString();
    return figure;
}

view::Figure progressFigure(const LiveRun& run)
{
    view::Figure figure;
    figure.title = (tr("Steps")).toStdString();
    figure.value = (grouped(run.step())).toStdString();
    figure.unit = (tr("of %1").arg(grouped(run.totalSteps()))).toStdString();
    if (run.totalSteps() <= 0) {
        figure.unit.clear();
        return figure;
    }
    figure.fraction = std::clamp(double(run.step()) / run.totalSteps(), 0.0, 1.0);
    const std::optional<double> predicted = run.expectation().step_time_s;
    figure.basis = (run.stepTime() ? tr("%1 per step").arg(duration(*run.stepTime()))
            : predicted            ? tr("predicted %1 per step").arg(duration(*predicted))
                                   : QString())
                       .toStdString();
    if (const std::optional<double> left = run.secondsLeft())
        figure.confidence = (tr("about %1 left").arg(roughDuration(*left))).toStdString();
    return figure;
}
} // namespace

std::array<view::Figure, 5> liveFigures(const LiveRun& run)
{
    return {stateFigure(run), throughputFigure(run), lossFigure(run), memoryFigure(run), progressFigure(run)};
}

} // namespace fourfold::ui
