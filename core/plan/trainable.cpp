// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/trainable.h"

#include "core/base/text.h"
#include "core/layout/batch_ramp.h"
#include "core/layout/mesh.h"
#include "core/model/family.h"
#include "core/model/layer.h"
#include "core/plan/check_rules.h"
#include "core/plan/fields.h"
#include "core/plan/plan_schedule.h"
#include "core/plan/presets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace fourfold {

namespace {
constexpr const char* kTrainer = "fourfold"; // the stack

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
    if (const auto family = check_trainer_family(model); !family)
        limits.require(false, "family", "model.model_type", family.error().message, "\"llama\"");
}

// A run that ends before its batch is full.
void ramp_up_limits(const ResolvedPlan& plan, Limits& limits)
{
    if (!plan.training.ramp_up)
        return;
    limits.refuse_if(plan.training.schedule == Schedule::csv, "ramp_up_schedule", "training.ramp_up",
        "a batch-size ramp-up with a schedule file, which is of one number of micro-batches");
    const int steps = total_steps(plan.training, plan.run), needed = ramp_up_steps(plan.training);
    limits.require(needed < steps, "ramp_up", "training.ramp_up.samples",
        "the batch is full only after " + std::to_string(needed) + " steps, and the run ends after "
            + std::to_string(steps) + ": ramp up over fewer samples or set run.steps to more");
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
}

// Which kernels LibTorch has, and what they can.
void attention_limits(const ResolvedPlan& plan, Limits& limits)
{
    using enum AttentionKernel;
    const AttentionKernel kernel = plan.training.attention;
    const bool cpu = plan.cluster.gpu.is_cpu(), dense = kernel == unfused || kernel == fused_softmax;
    const bool parts = plan.layout.cp > 1 && plan.training.cp_method != CpMethod::ulysses;
    const ModelShape& model = plan.model;
    const bool special = model.window.tokens > 0 || model.positions == Positions::alibi || plan.run.documents.mask;
    const auto refuse_if = [&](bool condition, const std::string& where) {
        limits.refuse_if(condition, "attention", "training.attention",
            "the attention kernel \"" + to_text(kernel) + "\"" + where, "\"flash2\"");
    };
    if (kernel == flash1 || kernel == flash3 || (kernel == cudnn && cpu))
        refuse_if(true, cpu ? " on CPUs" : "");
    else if (parts)
        refuse_if(dense || kernel == cudnn, " under context parallelism by " + to_text(plan.training.cp_method));
    else
        refuse_if(kernel == cudnn && special, " with windows, linear biases or masked documents");
}

// Without sequence parallelism all tp ranks hold the same tokens: their experts must be cut over the same ranks.
bool experts_are_cut_over_tp(const ResolvedPlan& plan)
{
    const DeviceMesh mesh(plan.layout, plan.model.kv_heads);
    for (int rank = 0; rank < plan.layout.gpus(); ++rank)
        if (mesh.group(rank, GroupKind::etp) != mesh.group(rank, GroupKind::tp))
            return false;
    return true;
}

void expert_limits(const ResolvedPlan& plan, Limits& limits)
{
    if (!plan.model.experts)
        return;
    limits.refuse_if(plan.layout.tp > 1 && !plan.training.sequence_parallel && !experts_are_cut_over_tp(plan), "etp",
        "layout.etp",
        "experts that are split over other ranks than tp " + std::to_string(plan.layout.tp)
            + " without sequence parallelism",
        std::to_string(plan.layout.tp));
}

void training_limits(const ResolvedPlan& plan, Limits& limits)
{
    const Training& training = plan.training;
    const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
    limits.refuse_if(!traits_of(training.schedule).trainer_runs, "schedule", "training.schedule",
        "the schedule " + quoted(to_text(training.schedule)), quoted("1f1b"));
    limits.refuse_if(
        training.precision == Precision::nvfp4, "precision", "training.precision", "precision \"nvfp4\"", "\"bf16\"");
    const auto wide = [](Precision dtype) { return dtype == Precision::fp32 || dtype == Precision::bf16; };
    const bool halves = training.grad_dtype == Precision::fp16 && training.precision == Precision::fp16;
    limits.refuse_if(!wide(training.grad_dtype) && !halves, "grad_dtype", "training.grad_dtype",
        "gradients in " + quoted(to_text(training.grad_dtype)), quoted("fp32"));
    const WordSet<RecomputePart>& parts = training.recompute_parts;
    for (const RecomputePart part : {RecomputePart::mla_up_proj, RecomputePart::moe_act})
        limits.refuse_if(training.recompute == Recompute::selective && parts.contains(part), "recompute_parts",
            "training.recompute_parts", "recomputation of " + quoted(std::string(name(part))) + " alone",
            R"(["core-attention"])");
    limits.refuse_if(training.offload == Offload::activations && training.offload_layers, "offload_layers",
        "training.offload_layers", "layers whose activations stay beside others whose activations leave");
    limits.refuse_if(!wide(training.optimizer_state_dtype), "optimizer_state_dtype", "training.optimizer_state_dtype",
        "optimizer states in " + quoted(to_text(training.optimizer_state_dtype)), quoted("fp32"));
}

std::string digits(double value)
{
    return text_of("%.15g", value);
}

// The first matrix of a layer, routers apart, of which `holds` holds.
template <typename Holds>
std::optional<MatrixRow> first_of_layers(const ModelShape& model, Holds&& holds)
{
    for (const bool moe : {false, true}) {
        if (moe ? !model.experts : model.moe_layers() == model.layers)
            continue;
        for (const Row& row : layer_rows(model, moe)) {
            std::vector<MatrixRow> matrices;
            if (const auto* matrix = std::get_if<MatrixRow>(&row))
                matrices.push_back(*matrix);
            else if (const auto* experts = std::get_if<ExpertsRow>(&row))
                matrices = experts->each;
            for (const MatrixRow& matrix : matrices)
                if (matrix.kind != ParameterKind::router && holds(matrix))
                    return matrix;
        }
    }
    return std::nullopt;
}

// Whether blocks of 8-bit numbers in experts are of positions of a sequence whose rows tp ranks have in parts.
bool has_blocks_over_tp(const ResolvedPlan& plan)
{
    const Training& training = plan.training;
    const bool blocks = training.fp8_recipe == Fp8Recipe::blockwise || training.fp8_recipe == Fp8Recipe::mxfp8;
    return plan.model.experts && blocks && training.fp8_scale_group == Fp8ScaleGroup::micro_batch
        && !experts_are_cut_over_tp(plan);
}

// Whether there are weight gradients to which each tp rank's rows of a sequence give a part of their own: of what makes
// latents, and of experts that do not gather the rows of tp, where blocks are of positions.
bool rows_are_summed_over_tp(const ResolvedPlan& plan)
{
    return plan.training.sequence_parallel && (plan.model.latent || has_blocks_over_tp(plan));
}

// The sides of the matrices of 8 bits: those of the weights on a rank, and of its tokens, which weight gradients sum
// over.
void fp8_limits(const ResolvedPlan& plan, Limits& limits)
{
    const Training& training = plan.training;
    const ModelShape& model = plan.model;
    if (training.precision != Precision::fp8)
        return;
    const int whole = training.fp8_recipe == Fp8Recipe::blockwise ? 128
        : training.fp8_recipe == Fp8Recipe::mxfp8                 ? 32
                                                                  : 16;
    const auto takes = [&](double side) { return std::fmod(side, whole) == 0; };
    const std::string rule
        = "fp8 " + to_text(training.fp8_recipe) + " takes sides of multiples of " + std::to_string(whole) + ", found ";
    const double tp = plan.layout.tp;
    const Cut cut{tp, std::min(tp, double(std::max(1, model.kv_heads))), double(plan.layout.etp)};
    if (const auto matrix
        = first_of_layers(model, [&](const MatrixRow& row) { return !takes(cut.out(row)) || !takes(cut.in(row)); })) {
        const bool expert = matrix->kind == ParameterKind::expert;
        const int ranks = expert ? plan.layout.etp : plan.layout.tp;
        limits.require(false, "fp8_sides", "training.precision",
            rule + digits(cut.out(*matrix)) + " x " + digits(cut.in(*matrix)) + " of " + std::string(matrix->name)
                + (ranks > 1 ? (expert ? " after etp " : " after tp ") + std::to_string(ranks) : ""),
            "\"bf16\"");
    }
    limits.refuse_if(plan.layout.tp > 1 && has_blocks_over_tp(plan), "fp8_blocks", "layout.etp",
        "fp8 " + to_text(training.fp8_recipe) + " in experts that take the rows of tensor-parallel ranks one by one",
        std::to_string(plan.layout.tp));
    const bool zigzag = plan.layout.cp > 1 && training.cp_method != CpMethod::ulysses;
    const bool in_rows = rows_are_summed_over_tp(plan);
    const int pieces = std::lcm(zigzag ? 2 : 1, in_rows ? plan.layout.tp : 1);
    const double part = double(training.seq_len) / plan.layout.cp / pieces;
    const auto under = [&](const char* name, int degree) {
        return degree > 1 ? std::string(" under ") + name + ' ' + std::to_string(degree) : "";
    };
    limits.require(takes(part), "fp8_tokens", "training.seq_len",
        rule + digits(part) + " tokens of a sequence in one piece" + under("cp", plan.layout.cp)
            + (in_rows ? under("tp", plan.layout.tp) : ""),
        std::to_string(whole * plan.layout.cp * pieces));
}

void document_limits(const ResolvedPlan& plan, Limits& limits)
{
    const DocumentSettings& documents = plan.run.documents;
    limits.require(documents.mask || !documents.restart_positions, "documents", "run.documents.restart_positions",
        "positions that begin anew in each document need run.documents.mask", "false");
    const auto end = documents.end.value_or(0);
    limits.require(end >= 0 && end < plan.model.vocab, "document_end", "run.documents.end",
        "the id " + std::to_string(end) + " is outside the model's vocabulary of " + std::to_string(plan.model.vocab));
}

void run_limits(const RunSettings& run, Limits& limits)
{
    const std::string& load = run.checkpoint.load;
    limits.require(load.empty() || load.starts_with('/'), "checkpoint_load", "run.checkpoint.load",
        "the checkpoint to load must be an absolute path on the nodes, found \"" + load + "\"");
    const std::string& path = run.checkpoint.path;
    limits.require(path != "~" && !path.starts_with("~/"), "checkpoint_path", "run.checkpoint.path",
        "no shell reads it, so that ~ would be a folder of that name in the run's: write the absolute path on the "
        "nodes, found "
            + in_quotes(path));
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
    const std::string& name = model.decoder ? model.decoder->family : model.model_type;
    const Family* without = find_family(name); // what keeps a family that it runs from being one
    const bool by_modules = model.predicted_ahead > 0 && without != nullptr && without->trainer_runs;
    return Problem{ProblemCode::unsupported,
        "fourfold-trainer does not run models of the family " + in_quotes(name)
            + (by_modules ? " with modules of multi-token prediction yet" : " yet"),
        "", "model.model_type"};
}

bool is_of_trainer(const ResolvedPlan& plan)
{
    return plan.stack.id == kTrainer || (plan.stack.base && plan.stack.base->id == kTrainer);
}

namespace {
void limits_of_prediction(const ResolvedPlan& plan, Limits& limits)
{
    model_limits(plan.model, limits);
    position_limits(plan, limits);
    expert_limits(plan, limits);
    training_limits(plan, limits);
    fp8_limits(plan, limits);
    attention_limits(plan, limits);
}
} // namespace

Expected<void> hand_to_trainer(ResolvedPlan& plan, const Presets& presets)
{
    if (plan.stack.id == kTrainer)
        return {};
    FOURFOLD_TRY(plan.stack, presets.stack(kTrainer));
    if (!plan.compile_chosen)
        plan.training.compile = value_at(plan.stack.training_defaults, "compile") == Json(true);
    return {};
}

std::vector<Reason> trainer_limits(const ResolvedPlan& plan)
{
    Limits limits;
    limits_of_prediction(plan, limits);
    ramp_up_limits(plan, limits);
    run_limits(plan.run, limits);
    document_limits(plan, limits);
    auto reasons = limits.take();
    if (auto broken = broken_schedule_file(plan)) // it runs any other
        reasons.push_back(std::move(*broken));
    return reasons;
}

std::vector<Reason> trainer_limits_of_prediction(const ResolvedPlan& plan)
{
    if (!is_of_trainer(plan))
        return {};
    Limits limits;
    limits_of_prediction(plan, limits);
    return limits.take();
}

} // namespace fourfold
