// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/answer.h"

#include "app/models/shared/text.h"
#include "core/report/views/nearest_row.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
QString rangeText(const Interval& interval, const QString& low, const QString& high, const QString& unit)
{
    return tr("%1 %: %2 to %3 %4").arg(percent(interval.confidence, 0), low, high, unit).trimmed();
}

Figure memoryFigure(const Prediction& p)
{
    Figure figure = unknownFigure(tr("Peak memory per GPU"), tr("GiB"));
    if (!p.memory_gib)
        return figure;
    figure.value = gib(*p.memory_gib);
    const double device = p.memory_device_gib.value_or(*p.memory_gib);
    if (p.memory_capacity_gib > 0) {
        figure.fraction = std::clamp(device / p.memory_capacity_gib, 0.0, 1.0);
        figure.basis = tr("%1 of %2 usable (%3 %)")
                           .arg(gib(device), gib(p.memory_capacity_gib), percent(device / p.memory_capacity_gib, 0));
    }
    figure.detail = tr("The number is %1's own memory figure; reserved memory with context and communicators decides "
                       "whether it fits")
                        .arg(fromUtf8(p.plan.stack.name));
    figure.tone = p.fit == Fit::fits ? Tone::neutral : p.fit == Fit::tight ? Tone::warning : Tone::bad;
    if (p.interval) {
        figure.confidence
            = rangeText(*p.interval, gib(p.interval->memory_gib.low), gib(p.interval->memory_gib.high), {});
    }
    return figure;
}

Figure throughputFigure(const Prediction& p)
{
    Figure figure = unknownThroughput();
    if (!p.tps_per_gpu)
        return figure;
    figure.value = throughputText(*p.tps_per_gpu);
    figure.basis = tr("%1/s over %2").arg(compact(*p.tps_per_gpu * p.plan.gpus), counted(p.plan.gpus, tr("GPU")));
    if (p.interval) {
        const Range& range = p.interval->tps_per_gpu;
        figure.confidence = rangeText(*p.interval, throughputText(range.low), throughputText(range.high), {});
    }
    if (p.nearest)
        figure.detail = tr("Nearest measured: %1").arg(fromUtf8(nearest_row_text(*p.nearest)));
    return figure;
}

Figure utilisationFigure(const Prediction& p)
{
    Figure figure = unknownFigure(tr("MFU"), tr("%"));
    const bool againstBf16 = !p.mfu && p.mfu_bf16_peak;
    const std::optional<double> mfu = p.mfu ? p.mfu : p.mfu_bf16_peak;
    if (!mfu)
        return figure;
    figure.value = percent(*mfu);
    figure.fraction = std::clamp(*mfu, 0.0, 1.0);
    const Precision against = againstBf16 ? Precision::bf16 : p.plan.training.precision;
    figure.basis
        = tr("of %1 TFLOP/s %2 peak")
              .arg(compact(p.plan.cluster.gpu.peak_flops(against) / 1e12), fromUtf8(to_text(against)).toUpper());
    if (p.tflops_per_gpu) {
        figure.confidence = tr("%1 TFLOP/s as logged").arg(compact(*p.tflops_per_gpu));
        figure.detail = tr("The stack's log counts FLOPs as %1; MFU counts 6 N + attention")
                            .arg(fromUtf8(to_text(p.plan.training.flop_convention)));
        if (p.mfu_causal)
            figure.detail
                += tr(" (%1 % with half of the attention, as causal masks leave)").arg(percent(*p.mfu_causal));
    }
    return figure;
}

Figure stepFigure(const Prediction& p)
{
    Figure figure = unknownFigure(tr("Step time"));
    if (!p.step_time_s)
        return figure;
    figure.detail = tr("The constants behind it are %1").arg(evidenceText(p.evidence));
    if (p.least.step_s > 0) {
        const QString limits[]{tr("compute"), tr("memory"), tr("links within a node"), tr("the network")};
        figure.detail += tr("; the roofline, which no software beats, is %1 (%2)")
                             .arg(duration(p.least.step_s), limits[static_cast<int>(p.least.limit)]);
        if (p.at_least)
            figure.detail += tr(", and that is the answer");
    }
    const Quantity parts = durationParts(*p.step_time_s);
    figure.value = parts.value;
    figure.unit = parts.unit;
    figure.basis = tr("for %1 tokens").arg(compact(p.plan.tokens_per_step()));
    if (p.interval) {
        const Range& range = p.interval->step_time_s;
        figure.confidence
            = tr("%1 %: %2 to %3").arg(percent(p.interval->confidence, 0), duration(range.low), duration(range.high));
    }
    return figure;
}

Figure bubbleFigure(const Prediction& p)
{
    Figure figure = unknownFigure(tr("Pipeline bubble"), tr("%"));
    if (!p.step_time_s)
        return figure;
    figure.value = percent(p.bubble_fraction);
    figure.fraction = std::clamp(p.bubble_fraction, 0.0, 1.0);
    figure.basis = p.plan.layout.pp == 1 ? tr("one stage never waits") : tr("of the pipelined part");
    figure.confidence = tr("%1 of %2")
                            .arg(counted(p.plan.training.micro_batches, tr("micro-batch"), tr("micro-batches")),
                                grouped(p.plan.training.micro_batch));
    return figure;
}
} // namespace

Figure unknownFigure(const QString& title, const QString& unit, const QString& shortUnit)
{
    Figure figure;
    figure.title = title;
    figure.value = unknownText();
    figure.unit = unit;
    figure.shortUnit = shortUnit;
    return figure;
}

Figure unknownThroughput()
{
    return unknownFigure(tr("Throughput"), tr("tokens/s per GPU"), tr("TPS/GPU"));
}

std::array<Figure, 5> answerFigures(const Prediction& prediction)
{
    return {memoryFigure(prediction), throughputFigure(prediction), utilisationFigure(prediction),
        stepFigure(prediction), bubbleFigure(prediction)};
}

const std::array<const char*, 5>& answerKeys()
{
    static const std::array<const char*, 5> keys{"memory_gib", "tps_per_gpu", "mfu", "step_time_s", "bubble_fraction"};
    return keys;
}

Verdict verdictOf(const Prediction& prediction)
{
    if (!prediction.memory_device_gib || prediction.memory_capacity_gib <= 0)
        return {tr("Fit unknown."), tr("The memory of this GPU is not known"), Tone::warning};
    const double spare = prediction.memory_capacity_gib - *prediction.memory_device_gib;
    switch (prediction.fit) {
    case Fit::fits:
        return {tr("Fits."), tr("%1 GiB spare on the fullest GPU").arg(gib(spare)), Tone::good};
    case Fit::tight:
        return {tr("Tight."), tr("Only %1 GiB spare on the fullest GPU").arg(gib(std::max(0.0, spare))), Tone::warning};
    case Fit::no:
        break;
    }
    return {tr("Does not fit."), tr("%1 GiB too much on the fullest GPU").arg(gib(std::max(0.0, -spare))), Tone::bad};
}

Verdict invalidVerdict(std::size_t fields)
{
    if (fields == 0)
        return {tr("Not valid."), tr("See the message below"), Tone::bad};
    return {tr("Not valid."), tr("%1 marked in red").arg(counted(double(fields), tr("field"))), Tone::bad};
}

QString warningLines(const std::vector<std::string>& warnings)
{
    QString lines;
    for (const std::string& warning : warnings)
        lines += QLatin1Char('\n') + tr("Warning: %1").arg(fromUtf8(warning));
    return lines;
}

QString evidenceText(Evidence evidence)
{
    switch (evidence) {
    case Evidence::measured:
        return tr("measured nearby");
    case Evidence::calibrated:
        return tr("calibrated on this hardware");
    case Evidence::extrapolated:
        return tr("extrapolated");
    }
    return {};
}

std::span<const PartWord> partWords()
{
    static constexpr PartWord words[]{{Part::compute, QT_TRANSLATE_NOOP("Fourfold", "Compute")},
        {Part::recompute, QT_TRANSLATE_NOOP("Fourfold", "Recomputation")},
        {Part::bubble, QT_TRANSLATE_NOOP("Fourfold", "Pipeline bubble")},
        {Part::tp, QT_TRANSLATE_NOOP("Fourfold", "TP collectives")},
        {Part::cp, QT_TRANSLATE_NOOP("Fourfold", "CP exchange")},
        {Part::pp, QT_TRANSLATE_NOOP("Fourfold", "PP send / receive")},
        {Part::dp, QT_TRANSLATE_NOOP("Fourfold", "DP collectives")},
        {Part::ep, QT_TRANSLATE_NOOP("Fourfold", "EP all-to-all")},
        {Part::optimizer, QT_TRANSLATE_NOOP("Fourfold", "Optimizer")},
        {Part::other, QT_TRANSLATE_NOOP("Fourfold", "Other")}};
    static_assert(std::size(words) == kParts);
    return words;
}

QString partLabel(Part part)
{
    const auto words = partWords();
    return tr(std::find_if(words.begin(), words.end(), [part](const PartWord& at) { return at.part == part; })->label);
}

} // namespace fourfold::ui
