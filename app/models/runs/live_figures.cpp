// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/live_figures.h"

#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kShortId = 12; // as the command line takes it: any unique beginning

Tone toneOf(RunLogModel::Level level)
{
    switch (level) {
    case RunLogModel::Level::good:
        return Tone::good;
    case RunLogModel::Level::warning:
        return Tone::warning;
    case RunLogModel::Level::error:
        return Tone::bad;
    case RunLogModel::Level::info:
        break;
    }
    return Tone::neutral;
}

QString againstPrediction(std::optional<double> measured, std::optional<double> predicted, const QString& predictedText)
{
    if (!predicted)
        return {};
    if (!measured || *measured <= 0)
        return tr("predicted %1").arg(predictedText);
    return tr("%1 against the predicted %2").arg(signedPercent(*measured / *predicted - 1), predictedText);
}

Figure stateFigure(const LiveRun& run)
{
    Figure figure;
    figure.title = tr("State");
    figure.value = run.hasRun() ? stateLabel(run.state()) : tr("Ready");
    figure.basis = run.stateText();
    figure.confidence = run.id().isEmpty() ? QString() : tr("run %1").arg(run.id().left(kShortId));
    figure.tone = toneOf(stateLevel(run.state()));
    return figure;
}

Figure throughputFigure(const LiveRun& run)
{
    Figure figure = unknownThroughput();
    std::optional<double> measured = run.measuredThroughput();
    if (!measured && !run.throughput().isEmpty())
        measured = run.throughput().last().y();
    if (measured)
        figure.value = throughputText(*measured);
    const std::optional<double> predicted = run.expectation().tps_per_gpu;
    figure.basis = againstPrediction(measured, predicted, predicted ? throughputText(*predicted) : QString());
    figure.confidence = run.measuredThroughput() ? tr("median after warm-up") : measured ? tr("last step") : QString();
    return figure;
}

Figure lossFigure(const LiveRun& run)
{
    Figure figure = unknownFigure(tr("Loss"));
    if (!run.loss().isEmpty()) {
        figure.value = grouped(run.loss().last().y(), 3);
        figure.basis = tr("from %1 at the start").arg(grouped(run.loss().points().constFirst().y(), 3));
    }
    if (!run.evalLoss().isEmpty())
        figure.confidence = tr("held-out %1").arg(grouped(run.evalLoss().last().y(), 3));
    return figure;
}

Figure memoryFigure(const LiveRun& run)
{
    Figure figure = unknownFigure(tr("Peak memory"), tr("GiB"));
    std::optional<double> measured;
    if (!run.memory().isEmpty())
        measured = run.memory().maximum();
    if (measured)
        figure.value = gib(*measured);
    const std::optional<double> predicted = run.expectation().memory_gib;
    figure.basis = againstPrediction(measured, predicted, predicted ? gib(*predicted) : QString());
    const QString worst = run.rankName(run.memoryOverRanks().worstRank);
    figure.confidence = !measured ? QString()
        : worst.isEmpty()         ? tr("largest over ranks")
                                  : tr("most on %1").arg(worst);
    return figure;
}

Figure progressFigure(const LiveRun& run)
{
    Figure figure;
    figure.title = tr("Steps");
    figure.value = grouped(run.step());
    figure.unit = tr("of %1").arg(grouped(run.totalSteps()));
    if (run.totalSteps() <= 0) {
        figure.unit.clear();
        return figure;
    }
    figure.fraction = std::clamp(double(run.step()) / run.totalSteps(), 0.0, 1.0);
    const std::optional<double> predicted = run.expectation().step_time_s;
    figure.basis = run.stepTime() ? tr("%1 per step").arg(duration(*run.stepTime()))
        : predicted               ? tr("predicted %1 per step").arg(duration(*predicted))
                                  : QString();
    if (const std::optional<double> left = run.secondsLeft())
        figure.confidence = tr("about %1 left").arg(roughDuration(*left));
    return figure;
}
} // namespace

std::array<Figure, 5> liveFigures(const LiveRun& run)
{
    return {stateFigure(run), throughputFigure(run), lossFigure(run), memoryFigure(run), progressFigure(run)};
}

} // namespace fourfold::ui
