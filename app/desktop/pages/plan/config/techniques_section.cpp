// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels, optimizer, and what runs behind something else: what advice can change beside layout and batch.
#include "app/desktop/pages/plan/config/form_section.h"
#include "app/desktop/pages/plan/config/sections.h"
#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
// A row that not every plan needs; what is set all the same is shown.
void onlyWhere(
    FormSection& section, const FormSection::Row& row, const std::function<bool(const ResolvedPlan&)>& needed)
{
    section.follow([row, needed](const ResolvedPlan& plan) { FormSection::showRow(row, needed(plan)); });
}

template <auto Member>
std::string word(const ResolvedPlan& plan)
{
    return to_text(plan.training.*Member);
}
template <auto Member>
bool isOn(const ResolvedPlan& plan)
{
    return plan.training.*Member;
}
template <bool OverlapSettings::*Member>
bool overlaps(const ResolvedPlan& plan)
{
    return plan.training.overlap.*Member;
}
bool isFullySharded(const ResolvedPlan& plan)
{
    return plan.training.sharding == Sharding::parameters || plan.training.sharding == Sharding::hybrid;
}
} // namespace

FormSection* makeTechniquesSection(PlanDocument& document)
{
    auto* section = new FormSection(tr("Techniques"), document, [](const ResolvedPlan&) { return QString(); });
    section->addChoice(tr("Attention"), "training.attention", tr("attention kernel"), word<&Training::attention>);
    onlyWhere(*section,
        section->addChoice(tr("Context parallel"), "training.cp_method", tr("exchange of keys and values"),
            word<&Training::cp_method>),
        [](const ResolvedPlan& plan) { return plan.layout.cp > 1; });
    onlyWhere(*section,
        section->addChoice(tr("FP8 scales"), "training.fp8_recipe", tr("FP8 recipe"), word<&Training::fp8_recipe>),
        [](const ResolvedPlan& plan) { return plan.training.precision == Precision::fp8; });
    section->addChoice(tr("Optimizer"), "training.optimizer", tr("optimizer"), word<&Training::optimizer>);
    section->addToggle(tr("Updates"), tr("in the backward"), "training.optimizer_in_backward",
        tr("optimizer in the backward"), isOn<&Training::optimizer_in_backward>);
    section->addChoice(tr("Gradients in"), "training.grad_dtype", tr("type of gradients"), word<&Training::grad_dtype>);
    section->addChoice(tr("Moments in"), "training.optimizer_state_dtype", tr("type of the optimizer's moments"),
        word<&Training::optimizer_state_dtype>);
    section->addChoice(tr("Offload"), "training.offload", tr("what the host keeps"), word<&Training::offload>);
    section->addToggle(
        tr("Kernels"), tr("compiled or fused"), "training.compile", tr("compiled kernels"), isOn<&Training::compile>);
    onlyWhere(*section,
        section->addToggle(tr("Async. TP"), tr("collectives behind products"), "training.async_tp",
            tr("asynchronous tensor parallel"), isOn<&Training::async_tp>),
        [](const ResolvedPlan& plan) { return plan.layout.tp > 1; });
    const auto severalReplicas = [](const ResolvedPlan& plan) { return plan.layout.dp > 1; };
    onlyWhere(*section,
        section->addToggle(tr("Gradients"), tr("reduced behind the backward"), "training.overlap.grad_reduce",
            tr("overlap of the gradient reduction"), overlaps<&OverlapSettings::grad_reduce>),
        severalReplicas);
    onlyWhere(*section,
        section->addToggle(tr("Parameters"), tr("gathered behind the forward"), "training.overlap.param_gather",
            tr("overlap of the parameter gather"), overlaps<&OverlapSettings::param_gather>),
        severalReplicas);
    onlyWhere(*section,
        section->addToggle(tr("Pipeline"), tr("sends behind the work"), "training.overlap.p2p",
            tr("overlap of sends between stages"), overlaps<&OverlapSettings::p2p>),
        [](const ResolvedPlan& plan) { return plan.layout.pp > 1; });
    onlyWhere(*section,
        section->addToggle(tr("FSDP"), tr("freed after the forward"), "training.fsdp.reshard_after_forward",
            tr("reshard after the forward"),
            [](const ResolvedPlan& plan) { return plan.training.fsdp.reshard_after_forward; }),
        isFullySharded);
    onlyWhere(*section,
        section->addToggle(tr("FSDP units"), tr("gathered ahead"), "training.fsdp.prefetch", tr("FSDP prefetch"),
            [](const ResolvedPlan& plan) { return plan.training.fsdp.prefetch; }),
        isFullySharded);
    onlyWhere(*section,
        section->addToggle(tr("FSDP in a pipeline"), tr("each micro-batch"), "training.fsdp.each_micro_batch",
            tr("FSDP for each micro-batch"),
            [](const ResolvedPlan& plan) { return plan.training.fsdp.each_micro_batch; }),
        [](const ResolvedPlan& plan) { return plan.layout.pp > 1 && isFullySharded(plan); });
    return section;
}

} // namespace fourfold::ui
