// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_facts.h"

#include "app/models/shared/text.h"
#include "app/view/plan/facts.h"

namespace fourfold::ui {

QString parametersFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::parameters_fact(plan));
}

QString gpusFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::gpus_fact(plan));
}

QString nodesFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::nodes_fact(plan));
}

QString productFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::product_fact(plan));
}

QString tensorFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::tensor_fact(plan));
}

QString contextFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::context_fact(plan));
}

QString pipelineFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::pipeline_fact(plan));
}

QString dataFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::data_fact(plan));
}

QString expertFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::expert_fact(plan));
}

QString tokensFact(const ResolvedPlan& plan)
{
    return fromUtf8(view::tokens_fact(plan));
}

QString intraNodeFact(const Cluster& cluster)
{
    return fromUtf8(view::intra_node_fact(cluster));
}

QString interNodeFact(const Cluster& cluster)
{
    return fromUtf8(view::inter_node_fact(cluster));
}

QString gpuFact(const Gpu& gpu)
{
    return fromUtf8(view::gpu_fact(gpu));
}

QString batchChange(const Training& before, const Training& after)
{
    return fromUtf8(view::batch_change(before, after));
}

QString layoutLine(const Layout& layout)
{
    return fromUtf8(view::layout_line(layout));
}

} // namespace fourfold::ui
