// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a comparison.
#include "app/models/compare/compare_model.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "app/view/compare/comparison_bars.h"
#include "app/view/plan/choices.h"
#include "core/report/views/nearest_row.h"

#include <algorithm>
#include <map>

namespace fourfold::ui {

namespace {
using Value = CompareModel::Value;
using Metric = CompareModel::Metric;

Value known(const std::optional<double>& value)
{
    return value ? Value(*value) : Value();
}

QString whole(double value)
{
    return grouped(value);
}

QString share(double value)
{
    return QStringLiteral("%1 %").arg(percent(value));
}

// A figure of the plan, where there is one.
template <typename Get>
std::function<Value(const CompareEntry&)> ofPlan(Get get)
{
    return [get](const CompareEntry& entry) { return entry.plan() ? Value(get(*entry.plan())) : Value(); };
}

template <typename Get>
std::function<Value(const CompareEntry&)> ofPrediction(Get get)
{
    return [get](const CompareEntry& entry) { return entry.prediction ? known(get(*entry.prediction)) : Value(); };
}

void addPlan(std::vector<Metric>& metrics)
{
    const QString group = tr("Plan");
    const auto words = [&](const QString& name, const char* key, auto get) {
        metrics.push_back({group, name, key, ofPlan(get), whole});
        metrics.back().identifies = true;
    };
    words(tr("Model"), "model", [](const ResolvedPlan& p) { return fromUtf8(p.model.name); });
    words(tr("Cluster"), "cluster", [](const ResolvedPlan& p) { return fromUtf8(p.cluster.name); });
    words(tr("GPU"), "gpu", [](const ResolvedPlan& p) { return fromUtf8(p.cluster.gpu.name); });
    words(tr("GPUs"), "gpus", [](const ResolvedPlan& p) { return double(p.gpus); });
    words(tr("Software stack"), "stack", [](const ResolvedPlan& p) { return fromUtf8(p.stack.name); });
    words(tr("TP"), "tp", [](const ResolvedPlan& p) { return double(p.layout.tp); });
    words(tr("CP"), "cp", [](const ResolvedPlan& p) { return double(p.layout.cp); });
    words(tr("PP"), "pp", [](const ResolvedPlan& p) { return double(p.layout.pp); });
    words(tr("DP"), "dp", [](const ResolvedPlan& p) { return double(p.layout.dp); });
    words(tr("EP"), "ep", [](const ResolvedPlan& p) { return double(p.layout.ep); });
    words(
        tr("Virtual stages"), "virtual_stages", [](const ResolvedPlan& p) { return double(p.layout.virtual_stages); });
    words(tr("Micro-batch"), "micro_batch", [](const ResolvedPlan& p) { return double(p.training.micro_batch); });
    words(tr("Global batch"), "global_batch", [](const ResolvedPlan& p) { return double(p.training.global_batch); });
    words(tr("Sequence"), "seq_len", [](const ResolvedPlan& p) { return double(p.training.seq_len); });
    const auto choice = [&](const QString& name, const char* key, auto get) {
        words(name, key, [key = std::string("training.") + key, get](const ResolvedPlan& p) {
            return fromUtf8(view::choice_label(key, to_text(get(p.training))));
        });
    };
    choice(tr("Schedule"), "schedule", [](const Training& t) { return t.schedule; });
    choice(tr("Sharding"), "sharding", [](const Training& t) { return t.sharding; });
    choice(tr("Recompute"), "recompute", [](const Training& t) { return t.recompute; });
    choice(tr("Precision"), "precision", [](const Training& t) { return t.precision; });
}

void addAnswer(std::vector<Metric>& metrics)
{
    const QString speed = tr("Predicted");
    metrics.push_back({speed, tr("Tokens/s per GPU"), "predicted_tps_per_gpu",
        ofPrediction([](const Prediction& p) { return p.tps_per_gpu; }), throughputText, 1});
    metrics.push_back({speed, tr("Step time"), "predicted_step_time_s",
        ofPrediction([](const Prediction& p) { return p.step_time_s; }), duration, -1});
    metrics.push_back(
        {speed, tr("MFU"), "mfu", [](const CompareEntry& entry) { return known(entry.mfu()); }, share, 1});
    metrics.push_back({speed, tr("TFLOP/s per GPU as logged"), "tflops_per_gpu",
        ofPrediction([](const Prediction& p) { return p.tflops_per_gpu; }),
        [](double value) { return grouped(value, 1); }, 1});
    metrics.push_back({speed, tr("Pipeline bubble"), "bubble_fraction", ofPrediction([](const Prediction& p) {
                           return p.step_time_s ? std::optional<double>(p.bubble_fraction) : std::nullopt;
                       }),
        share, -1});
    metrics.push_back({speed, tr("Peak memory GiB"), "predicted_memory_gib",
        ofPrediction([](const Prediction& p) { return p.memory_gib; }), gib, -1});
    // How sure that is: words, so that no difference is taken of them.
    const auto sure = [&](const QString& name, const char* key, auto textOf) {
        metrics.push_back({speed, name, key,
            [textOf](const CompareEntry& entry) -> Value {
                if (!entry.prediction || !entry.prediction->step_time_s)
                    return {};
                return textOf(*entry.prediction);
            },
            whole});
    };
    const auto between = [&](const QString& name, const char* key, Range Interval::*range, auto numberOf) {
        sure(name, key, [range, numberOf](const Prediction& p) {
            if (!p.interval)
                return tr("unknown");
            const Range& ends = (*p.interval).*range;
            return tr("%1 to %2").arg(numberOf(ends.low), numberOf(ends.high));
        });
    };
    between(tr("90 %, tokens/s per GPU"), "interval_tps_per_gpu", &Interval::tps_per_gpu,
        [](double value) { return throughputText(value); });
    between(tr("90 %, peak memory GiB"), "interval_memory_gib", &Interval::memory_gib,
        [](double value) { return gib(value); });
    sure(tr("Confidence"), "evidence", [](const Prediction& p) { return fromUtf8(view::evidence_text(p.evidence)); });
    sure(tr("Nearest measured"), "nearest",
        [](const Prediction& p) { return p.nearest ? fromUtf8(nearest_row_text(*p.nearest)) : tr("none"); });
    sure(tr("Warnings"), "warnings", [](const Prediction& p) {
        return p.warnings.empty()
            ? tr("none")
            : fromUtf8(view::warning_lines(p.warnings)).simplified(); // a cell shows no second line
    });
}

void addMemory(std::vector<Metric>& metrics)
{
    const QString memory = tr("Memory of the fullest stage, GiB");
    metrics.push_back({memory, tr("On the device"), "memory_device_gib",
        ofPrediction([](const Prediction& p) { return p.memory_device_gib; }), gib, -1});
    metrics.push_back({memory, tr("Usable"), "memory_capacity_gib",
        ofPrediction([](const Prediction& p) { return std::optional<double>(p.memory_capacity_gib); }), gib, 0});
    const auto part = [&](const QString& name, const char* key, double StageMemory::*member) {
        metrics.push_back({memory, name, key, ofPrediction([member](const Prediction& p) {
                               const StageMemory* stage = view::fullest(p);
                               return stage ? std::optional<double>(stage->*member) : std::nullopt;
                           }),
            gib, -1});
    };
    part(tr("Weights"), "weights_gib", &StageMemory::weights);
    part(tr("Gradients"), "gradients_gib", &StageMemory::gradients);
    part(tr("Optimizer"), "optimizer_gib", &StageMemory::optimizer);
    part(tr("Activations"), "activations_gib", &StageMemory::activations);
    part(tr("Buffers"), "buffers_gib", &StageMemory::other);
}

void addTime(std::vector<Metric>& metrics)
{
    for (int index = 0; index < kParts; ++index) {
        const Part part = static_cast<Part>(index);
        metrics.push_back({tr("Exposed step time"), fromUtf8(view::part_label(part)), std::string(name(part)) + "_s",
            ofPrediction([part](const Prediction& p) {
                return p.step_time_s ? std::optional<double>(p.time_by_part[part]) : std::nullopt;
            }),
            duration, -1});
    }
}

void addMeasured(std::vector<Metric>& metrics)
{
    const QString group = tr("Measured");
    const auto add = [&](const QString& name, const char* key, std::optional<double> CompareEntry::*member,
                         std::function<QString(double)> text, int better) {
        metrics.push_back({group, name, key, [member](const CompareEntry& entry) { return known(entry.*member); },
            std::move(text), better});
    };
    add(tr("Tokens/s per GPU"), "measured_tps_per_gpu", &CompareEntry::tps_per_gpu, throughputText, 1);
    add(tr("Step time"), "measured_step_time_s", &CompareEntry::step_time_s, duration, -1);
    metrics.push_back({group, tr("MFU"), "measured_mfu",
        [](const CompareEntry& entry) { return known(entry.measuredMfu()); }, share, 1});
    add(tr("Memory GiB"), "measured_memory_gib", &CompareEntry::memory_gib, gib, -1);
    add(
        tr("Loss"), "loss", &CompareEntry::loss, [](double value) { return grouped(value, 4); }, -1);
    metrics.push_back({group, tr("Prediction error"), "tps_error",
        [](const CompareEntry& entry) -> Value {
            if (!entry.tps_per_gpu || !entry.prediction || !entry.prediction->tps_per_gpu)
                return {};
            return *entry.prediction->tps_per_gpu / *entry.tps_per_gpu - 1;
        },
        [](double value) { return signedPercent(value); }, 0});
}

// Predicted and measured have figures of one name, memory and time have parts of one name.
QString titleOf(const Metric& metric)
{
    QString title = metric.name;
    const bool isWord = title.size() > 1 && title[1].isLower();
    if ((metric.group == tr("Predicted") || metric.group == tr("Measured")) && metric.key != "tps_error")
        title = QStringLiteral("%1 %2").arg(metric.group, isWord ? title.left(1).toLower() + title.mid(1) : title);
    const QString key = fromUtf8(metric.key);
    if (key.endsWith(QLatin1String("_s")))
        title += QStringLiteral(" s");
    else if (key.endsWith(QLatin1String("_gib")) && !title.endsWith(QLatin1String("GiB")))
        title += QStringLiteral(" GiB");
    return title;
}
} // namespace

std::pair<std::string, QString> derivationOfMetric(const std::string& key)
{
    static const std::map<std::string, std::pair<std::string, QString>> derived = [] {
        const std::string stage = CompareModel::kStageMemory;
        std::map<std::string, std::pair<std::string, QString>> all{{"predicted_tps_per_gpu", {"tps_per_gpu", {}}},
            {"predicted_step_time_s", {"step_time_s", {}}}, {"mfu", {"mfu", {}}},
            {"tflops_per_gpu", {"tflops_per_gpu", {}}}, {"bubble_fraction", {"bubble_fraction", {}}},
            {"predicted_memory_gib", {"memory_gib", {}}}, {"memory_device_gib", {"memory_device_gib", {}}},
            {"weights_gib", {stage, QStringLiteral("weights")}},
            {"gradients_gib", {stage, QStringLiteral("gradients")}},
            {"optimizer_gib", {stage, QStringLiteral("optimizer")}},
            {"activations_gib", {stage, QStringLiteral("activations")}},
            {"buffers_gib", {stage, QStringLiteral("other")}}};
        for (const char* sure : {"interval_tps_per_gpu", "interval_memory_gib", "evidence", "nearest"})
            all[sure] = {"interval", {}};
        for (const view::PartWord& word : view::part_words())
            all[std::string(name(word.part)) + "_s"] = {"step_time_s", fromUtf8(std::string(name(word.part)))};
        return all;
    }();
    const auto found = derived.find(key);
    return found == derived.end() ? std::pair<std::string, QString>() : found->second;
}

// What comes out first, then what was asked, then what it is made of.
std::vector<CompareModel::Metric> compareMetrics()
{
    std::vector<Metric> metrics;
    addAnswer(metrics);
    addMeasured(metrics);
    addPlan(metrics);
    addMemory(metrics);
    addTime(metrics);
    for (Metric& metric : metrics)
        metric.title = titleOf(metric);
    return metrics;
}

} // namespace fourfold::ui
