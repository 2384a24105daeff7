// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_facts.h"

#include "app/models/shared/text.h"

#include <QStringList>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr QChar kTimes{0x00D7};
} // namespace

QString parametersFact(const ResolvedPlan& plan)
{
    return tr("%1 parameters").arg(compact(plan.model.parameters()));
}

QString gpusFact(const ResolvedPlan& plan)
{
    return plan.cluster.gpu.is_cpu() ? counted(plan.gpus, tr("CPU rank")) : counted(plan.gpus, tr("GPU"));
}

QString nodesFact(const ResolvedPlan& plan)
{
    return counted(plan.nodes(), tr("node"));
}

QString productFact(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    QStringList factors;
    for (const int degree : {layout.tp, layout.cp, layout.pp, layout.dp})
        factors << grouped(degree);
    const QString product = factors.join(QStringLiteral(" %1 ").arg(kTimes));
    const bool right = layout.gpus() == plan.gpus;
    return QStringLiteral("%1 %2 %3")
        .arg(product, right ? QStringLiteral("=") : QStringLiteral("\u2260"), grouped(plan.gpus));
}

QString tensorFact(const ResolvedPlan& plan)
{
    if (plan.layout.tp == 1)
        return tr("not split");
    const GroupSpan reach = span(plan.layout, {Dimension::tp}, plan.cluster.gpus_per_node);
    return reach.crosses_nodes() ? tr("across %1 nodes").arg(reach.nodes) : tr("inside one node");
}

QString contextFact(const ResolvedPlan& plan)
{
    if (plan.layout.cp == 1)
        return tr("whole sequences");
    return tr("%1 tokens per rank").arg(grouped(plan.training.seq_len / std::max(1, plan.layout.cp)));
}

QString pipelineFact(const ResolvedPlan& plan)
{
    const std::vector<int>& layers = plan.layout.stage_layers;
    if (layers.empty())
        return {};
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end());
    const QString unit = plan.layout.virtual_stages > 1 ? tr("per chunk") : tr("per stage");
    if (*least == *most)
        return QStringLiteral("%1 %2").arg(counted(*most, tr("layer")), unit);
    return tr("%1 to %2 layers %3").arg(*least).arg(*most).arg(unit);
}

QString dataFact(const ResolvedPlan& plan)
{
    return counted(plan.training.micro_batches, tr("micro-batch"), tr("micro-batches"));
}

QString expertFact(const ResolvedPlan& plan)
{
    if (!plan.model.experts)
        return {};
    if (plan.layout.ep == 1)
        return tr("all %1 on every rank").arg(grouped(plan.model.experts->count));
    return tr("%1 per rank").arg(counted(double(plan.model.experts->count / plan.layout.ep), tr("expert")));
}

QString tokensFact(const ResolvedPlan& plan)
{
    return tr("%1 tokens per step").arg(compact(plan.tokens_per_step()));
}

QString intraNodeFact(const Cluster& cluster)
{
    switch (cluster.intra_node.topology) {
    case IntraTopology::nvswitch:
        return tr("switch");
    case IntraTopology::pairs:
        return tr("pairs");
    case IntraTopology::torus:
        return tr("torus");
    }
    return {};
}

QString interNodeFact(const Cluster& cluster)
{
    const double nics = cluster.inter_node.nics_per_node;
    return nics > 0 ? counted(nics, tr("NIC")) : tr("%1 \u00b5s").arg(grouped(cluster.inter_node.latency_us));
}

QString gpuFact(const Gpu& gpu)
{
    const Precision precision = gpu.bf16_tflops ? Precision::bf16 : Precision::fp32;
    return tr("%1 GiB usable, %2 TFLOP/s %3")
        .arg(gib(gpu.memory_gib), compact(gpu.peak_flops(precision) / 1e12), fromUtf8(to_text(precision)).toUpper());
}

QString batchChange(const Training& before, const Training& after)
{
    QStringList changes;
    const auto add = [&](const QString& name, int from, int to) {
        if (from != to)
            changes << QStringLiteral("%1 %2 \u2192 %3").arg(name, grouped(from), grouped(to));
    };
    add(tr("sequence"), before.seq_len, after.seq_len);
    add(tr("micro-batch"), before.micro_batch, after.micro_batch);
    add(tr("global batch"), before.global_batch, after.global_batch);
    return changes.join(QStringLiteral(", "));
}

QString layoutLine(const Layout& layout)
{
    return QStringLiteral("TP %1  CP %2  PP %3  DP %4").arg(layout.tp).arg(layout.cp).arg(layout.pp).arg(layout.dp);
}

} // namespace fourfold::ui
