// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of the optimizer: when it updates. And of what lies in the host's memory: its states, or activations.
#include "core/plan/check_rules.h"

#include <algorithm>

namespace fourfold {

namespace {
// An update in the backward pass comes before the gradient of the whole step is known: whatever takes that is refused.
void check_optimizer_in_backward(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    const RunSettings& run = plan.run;
    const auto refuse_if
        = [&](bool condition, const char* code, const char* field, const std::string& why, const Json& nearest) {
              if (condition)
                  reasons.add(code, field, "optimizer_in_backward updates before " + why, nearest);
          };
    refuse_if(training.precision == Precision::fp16, "optimizer_in_backward_fp16", "training.precision",
        "it is known whether the loss scale of fp16 was too large and the step has to be left out, found fp16", "bf16");
    refuse_if(training.optimizer == Optimizer::muon, "optimizer_in_backward_of_muon", "training.optimizer",
        "the gradients of all matrices are there, which muon deals to the ranks together, found muon", "fused-adamw");
    refuse_if(training.offload == Offload::optimizer, "optimizer_in_backward_offload", "training.offload",
        "the backward pass has ended, after which the host updates what is offloaded, found offload optimizer", "none");
    refuse_if(run.clip_norm > 0, "optimizer_in_backward_clip", "run.clip_norm",
        "the norm of all gradients is known, by which they are clipped, found clip_norm " + Json(run.clip_norm).dump(),
        0);
    refuse_if(run.watch.not_finite == NotFiniteAction::skip, "optimizer_in_backward_watch", "run.watch.not_finite",
        "it is known whether the loss and all gradients are finite, found not_finite skip", "stop");
    refuse_if(run.watch.spike == SpikeAction::skip, "optimizer_in_backward_spike", "run.watch.spike",
        "it is known whether the step's loss and gradient norm stand out, found spike skip", "warn");
    refuse_if(run.documents.mask, "optimizer_in_backward_documents", "run.documents.mask",
        "it is known how many tokens of the step have a label, of which masked documents leave some out", false);
    // The trainer's own variable (runner/trainer/start_up.h).
    refuse_if(run.environment.contains("FOURFOLD_PADDING"), "optimizer_in_backward_padding", "run.environment",
        "it is known how many tokens of the step have a label, of which FOURFOLD_PADDING leaves some out",
        Json::object());
}
} // namespace

void check_optimizer(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    if (training.offload != Offload::none && plan.cluster.gpu.is_cpu())
        reasons.add("offload_on_cpu", "training.offload",
            "offload " + to_text(training.offload) + " moves data to the memory of the CPU, where it is already",
            "none");
    if (training.offload == Offload::activations && training.offload_layers) {
        const std::vector<int64_t> layers = layers_of_stages(plan);
        const int64_t most = *std::max_element(layers.begin(), layers.end());
        if (*training.offload_layers > most && most > 0)
            reasons.add("too_many_offload_layers", "training.offload_layers",
                "offload_layers " + std::to_string(*training.offload_layers) + " is more than the "
                    + std::to_string(most) + " layers of a stage",
                most);
    }
    if (training.optimizer_in_backward)
        check_optimizer_in_backward(plan, reasons);
}

} // namespace fourfold
