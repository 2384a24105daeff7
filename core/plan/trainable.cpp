// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/trainable.h"

#include "core/base/text.h"
#include "core/model/family.h"
#include "core/plan/check_rules.h"
#include "core/plan/plan_schedule.h"

namespace fourfold {

namespace {
class Limits {
public:
    // `what` completes "fourfold-trainer does not run ... yet"; `nearest` is JSON text.
    void refuse_if(bool condition, const std::string& code, const char* field, const std::string& what,
        const std::string& nearest = "")
    {
        require(!condition, code, field, "fourfold-trainer does not run " + what + " yet", nearest);
    }
    void require(bool condition, const std::string& code, const char* field, const std::string& message,
        const std::string& nearest = "")
    {
        if (!condition)
            reasons_.add(
                ("trainer_" + code).c_str(), field, message, nearest.empty() ? Json(nullptr) : Json::parse(nearest));
    }
    std::vector<Reason> take() { return reasons_.take(); }

private:
    Reasons reasons_;
};

void model_limits(const ModelShape& model, Limits& limits)
{
    limits.refuse_if(model.experts.has_value(), "experts", "model", "mixtures of experts");
    limits.refuse_if(model.latent.has_value(), "latent_attention", "model", "multi-head latent attention");
    if (const auto family = check_trainer_family(model); !family && !model.experts && !model.latent)
        limits.require(false, "family", "model.model_type", family.error().message, "\"llama\"");
    const std::string& scaling = model.rope_scaling.type;
    limits.refuse_if(!scaling.empty() && scaling != "default" && scaling != "llama3" && scaling != "linear",
        "rope_scaling", "model.rope_scaling", "rotary scaling of type \"" + scaling + "\"", "\"llama3\"");
}

// Learned positions stop where the table ends.
void position_limits(const ResolvedPlan& plan, Limits& limits)
{
    const ModelShape& model = plan.model;
    limits.require(model.positions != Positions::learned || plan.training.seq_len <= model.max_positions, "positions",
        "training.seq_len",
        "seq_len " + std::to_string(plan.training.seq_len) + " is more than the " + std::to_string(model.max_positions)
            + " learned positions of the model",
        std::to_string(model.max_positions));
    limits.refuse_if(model.positions == Positions::alibi && plan.layout.cp > 1, "alibi_cp", "layout.cp",
        "attention with linear biases under context parallelism", "1");
}

void layout_limits(const Layout& layout, Limits& limits)
{
    limits.refuse_if(layout.ep > 1, "ep", "layout.ep", "expert parallelism", "1");
}

void training_limits(const ResolvedPlan& plan, Limits& limits)
{
    const Training& training = plan.training;
    const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
    limits.refuse_if(!traits_of(training.schedule).trainer_runs, "schedule", "training.schedule",
        "the schedule " + quoted(to_text(training.schedule)), quoted("1f1b"));
    limits.refuse_if(plan.layout.cp > 1 && training.cp_method == CpMethod::ulysses, "cp_method", "training.cp_method",
        "the context-parallel method " + quoted(to_text(training.cp_method)), quoted("ring"));
    limits.refuse_if(training.precision != Precision::fp32 && training.precision != Precision::bf16, "precision",
        "training.precision", "precision " + quoted(to_text(training.precision)), quoted("bf16"));
    limits.refuse_if(training.grad_dtype != Precision::fp32, "grad_dtype", "training.grad_dtype",
        "gradients in " + quoted(to_text(training.grad_dtype)), quoted("fp32"));
    limits.refuse_if(training.optimizer_state_dtype != Precision::fp32, "optimizer_state_dtype",
        "training.optimizer_state_dtype", "optimizer states in " + quoted(to_text(training.optimizer_state_dtype)),
        quoted("fp32"));
    limits.refuse_if(training.optimizer != Optimizer::adamw && training.optimizer != Optimizer::fused_adamw,
        "optimizer", "training.optimizer", "the optimizer " + quoted(to_text(training.optimizer)), quoted("adamw"));
    limits.refuse_if(training.offload != Offload::none, "offload", "training.offload",
        "offloading of " + to_text(training.offload), quoted("none"));
    limits.refuse_if(training.compile, "compile", "training.compile", "fused kernels and CUDA graphs", "false");
    limits.refuse_if(training.ramp_up.has_value(), "ramp_up", "training.ramp_up", "a batch-size ramp-up");
}

void run_limits(const RunSettings& run, Limits& limits)
{
    const std::string& load = run.checkpoint.load;
    limits.require(load.empty() || load.starts_with('/'), "checkpoint_load", "run.checkpoint.load",
        "the checkpoint to load must be an absolute path on the nodes, found \"" + load + "\"");
    limits.require(
        !run.data.empty(), "no_data", "run.data", "there is nothing to train on: name at least one token file");
    limits.require(run.log_every >= 1, "log_every", "run.log_every", "log_every must be at least 1", "1");
}
} // namespace

Expected<void> check_trainer_family(const ModelShape& model)
{
    const Family* family = find_family(model.model_type);
    if (family != nullptr && family->trainer_runs)
        return {};
    return Problem{ProblemCode::unsupported,
        "fourfold-trainer does not run models of the family " + in_quotes(model.model_type) + " yet", "",
        "model.model_type"};
}

std::vector<Reason> trainer_limits(const ResolvedPlan& plan)
{
    Limits limits;
    model_limits(plan.model, limits);
    position_limits(plan, limits);
    layout_limits(plan.layout, limits);
    training_limits(plan, limits);
    run_limits(plan.run, limits);
    auto reasons = limits.take();
    if (auto broken = broken_schedule_file(plan)) // it runs any other
        reasons.push_back(std::move(*broken));
    return reasons;
}

} // namespace fourfold
