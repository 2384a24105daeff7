// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of the pipeline, the batch, and the other training settings.
#include "core/base/text.h"
#include "core/plan/check_rules.h"
#include "core/plan/fields.h"
#include "core/plan/gpu_precision.h"
#include "core/plan/stage_layers.h"
#include "core/schedule/schedules.h"

#include <algorithm>
#include <numeric>

namespace fourfold {

namespace {
// What the global batch must be a multiple of.
int64_t batch_unit(const ResolvedPlan& plan)
{
    return int64_t(plan.training.micro_batch) * plan.layout.dp
        * micro_batch_rounds(plan.training.schedule, plan.layout.pp);
}

struct Neighbours {
    int64_t lower, higher; // multiples around the value; lower may be 0
    // null when the only multiple is beyond what a plan may hold.
    [[nodiscard]] Json nearest(int64_t value) const
    {
        const bool too_high = higher > kMaxBatch;
        if (lower == 0 && too_high)
            return nullptr;
        return lower > 0 && (too_high || value - lower <= higher - value) ? lower : higher;
    }
    [[nodiscard]] std::string text() const { return (lower > 0 ? number(lower) + " or " : "") + number(higher); }
};
Neighbours multiples_around(int64_t value, int64_t unit)
{
    return {value / unit * unit, value / unit * unit + unit};
}

// nanotron's own split may give a stage no layer but the head or the loss: such a job runs. The first chunk that must
// have a layer is then the first without any block.
std::ptrdiff_t stages_that_may_be_empty(const ResolvedPlan& plan)
{
    const auto& stages = plan.layout.stage_layers;
    const int chunks = static_cast<int>(stages.size());
    if (plan.stack.stage_split != StageSplit::cost || stages != cost_based_stage_layers(plan.model, chunks))
        return 0;
    return cost_based_stages(plan.model, chunks);
}

// Stacks that count the embedding and the loss as layers run with a first and a last chunk that hold nothing else.
bool first_may_be_empty(const ResolvedPlan& plan)
{
    return plan.stack.stage_split == StageSplit::equal && plan.layout.pp > 1;
}
bool last_may_be_empty(const ResolvedPlan& plan)
{
    return first_may_be_empty(plan)
        || (plan.layout.pp > 1 && last_chunk_may_hold_modules_alone(plan.model, plan.stack));
}

void check_stage_layers(const ResolvedPlan& plan, Reasons& reasons)
{
    const Layout& layout = plan.layout;
    const int chunks = layout.pp * layout.virtual_stages;
    const auto& stages = layout.stage_layers;
    const auto even = [&]() -> Json { return even_stage_layers(plan.model.layers, chunks); };
    const int64_t sum = std::accumulate(stages.begin(), stages.end(), int64_t(0));
    if (stages.size() != static_cast<std::size_t>(chunks))
        reasons.add("stage_layers_count", "layout.stage_layers",
            "stage_layers has " + number(static_cast<int64_t>(stages.size())) + " entries, pp x virtual_stages is "
                + number(chunks),
            even());
    else if (sum != plan.model.layers)
        reasons.add("stage_layers_sum", "layout.stage_layers",
            "stage_layers adds up to " + number(sum) + ", the model has " + number(plan.model.layers) + " layers",
            even());
    else if (const auto empty = std::find(
                 stages.begin() + std::max<std::ptrdiff_t>(stages_that_may_be_empty(plan), first_may_be_empty(plan)),
                 stages.end(), 0);
             empty != stages.end() && !(last_may_be_empty(plan) && empty + 1 == stages.end()))
        reasons.add("stage_without_layers", "layout.stage_layers",
            "chunk " + number(empty - stages.begin()) + " of the pipeline has no layer", even());
}

void check_virtual_stages(const ResolvedPlan& plan, Reasons& reasons)
{
    const Layout& layout = plan.layout;
    const Schedule schedule = plan.training.schedule;
    const std::string stages = "virtual_stages " + number(layout.virtual_stages);
    if (layout.pp == 1) {
        if (layout.virtual_stages > 1)
            reasons.add("virtual_stages_without_pipeline", "layout.virtual_stages",
                stages + " needs pipeline parallelism, pp is 1", 1);
        return;
    }
    if (takes_chunks(schedule, layout.virtual_stages))
        return;
    const ScheduleTraits& traits = traits_of(schedule);
    if (traits.most_chunks == 1) {
        std::vector<std::string> others;
        for (const ScheduleTraits& other : schedules()) {
            if (other.generator != nullptr && other.most_chunks > 1)
                others.emplace_back(other.name);
        }
        reasons.add("virtual_stages_without_schedule", "training.schedule",
            stages + " needs schedule " + joined(others, " or ") + ", found " + traits.name,
            to_text(schedule_taking(schedule, layout.virtual_stages)));
        return;
    }
    const std::string needs = std::string("schedule ") + traits.name + " needs "
        + (traits.most_chunks == traits.least_chunks ? "exactly " : "at least ") + number(traits.least_chunks)
        + " virtual_stages";
    if (int64_t(traits.least_chunks) * layout.pp <= plan.model.layers)
        reasons.add("schedule_needs_virtual_stages", "layout.virtual_stages", needs, traits.least_chunks);
    else
        reasons.add("schedule_needs_virtual_stages", "training.schedule",
            needs + ", which " + number(plan.model.layers) + " layers on " + number(layout.pp) + " stages do not allow",
            to_text(schedule_taking(schedule, layout.virtual_stages)));
}

bool ramp_up_starts(const Training& training, int64_t unit)
{
    return training.ramp_up->start <= training.global_batch && training.ramp_up->start % unit == 0;
}

void check_ramp_up(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    if (!training.ramp_up)
        return;
    const int64_t unit = batch_unit(plan);
    const std::string multiple = " is not a multiple of micro_batch x dp = " + number(unit);
    const int64_t start = training.ramp_up->start, increment = training.ramp_up->increment;
    if (!ramp_up_starts(training, unit)) {
        const int64_t most = training.global_batch / unit * unit;
        const Neighbours around = multiples_around(start, unit);
        const Json nearest = most == 0 ? Json() : start > most ? Json(most) : around.nearest(start);
        reasons.add(code_of(BatchRule::ramp_up_start), "training.ramp_up.start",
            "ramp_up.start " + number(start)
                + (start > training.global_batch ? " is above the global batch of " + number(training.global_batch)
                                                 : multiple),
            nearest);
    }
    if (increment % unit != 0)
        reasons.add(code_of(BatchRule::ramp_up_increment), "training.ramp_up.increment",
            "ramp_up.increment " + number(increment) + multiple, multiples_around(increment, unit).nearest(increment));
}
} // namespace

void check_pipeline(const ResolvedPlan& plan, Reasons& reasons)
{
    const Layout& layout = plan.layout;
    const int layers = plan.model.layers;
    const int chunks = layout.pp * layout.virtual_stages;
    if (chunks > layers + int(first_may_be_empty(plan)) + int(last_may_be_empty(plan))) {
        const std::string rule = "pp " + number(layout.pp) + " x virtual_stages " + number(layout.virtual_stages)
            + " = " + number(chunks) + " is more than the model's " + number(layers) + " layers";
        if (layout.pp <= layers)
            reasons.add("more_stages_than_layers", "layout.virtual_stages", rule, layers / layout.pp);
        else
            reasons.add("more_stages_than_layers", "layout.pp", rule,
                nearest_value(
                    layout.pp, std::max(1, layers / layout.virtual_stages), [](int) { return true; },
                    [&](int pp) { return int64_t(plan.gpus) % (int64_t(layout.tp) * layout.cp * pp) == 0; }));
    } else {
        check_stage_layers(plan, reasons);
    }
    check_virtual_stages(plan, reasons);
}

BatchRule broken_batch_rule(const ResolvedPlan& plan)
{
    const Training& training = plan.training;
    const int64_t per_step = int64_t(training.micro_batch) * plan.layout.dp;
    if (training.global_batch % per_step != 0)
        return BatchRule::global_batch_not_divisible;
    if (training.global_batch / per_step != training.micro_batches)
        return BatchRule::batch_contradiction;
    const int pp = plan.layout.pp;
    if (training.micro_batches % micro_batch_rounds(training.schedule, pp) != 0)
        return BatchRule::micro_batches_not_divisible;
    // A warm-up that takes pp - 1 - rank micro-batches without asking how many there are.
    if (training.micro_batches < pp - 1 && plan.stack.pipeline_rules.fill_warm_up)
        return BatchRule::too_few_micro_batches;
    if (training.ramp_up) {
        const int64_t unit = batch_unit(plan);
        if (!ramp_up_starts(training, unit))
            return BatchRule::ramp_up_start;
        if (training.ramp_up->increment % unit != 0)
            return BatchRule::ramp_up_increment;
    }
    return BatchRule::none;
}

const char* code_of(BatchRule rule)
{
    switch (rule) {
    case BatchRule::none:
        break;
    case BatchRule::global_batch_not_divisible:
        return "global_batch_not_divisible";
    case BatchRule::batch_contradiction:
        return "batch_contradiction";
    case BatchRule::micro_batches_not_divisible:
        return "micro_batches_not_divisible";
    case BatchRule::too_few_micro_batches:
        return "too_few_micro_batches";
    case BatchRule::ramp_up_start:
        return "ramp_up_start";
    case BatchRule::ramp_up_increment:
        return "ramp_up_increment";
    }
    return "";
}

void check_batch(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    const int64_t per_step = int64_t(training.micro_batch) * layout.dp;
    const BatchRule broken = broken_batch_rule(plan);
    const auto add = [&](const char* field, const std::string& rule, const Json& nearest) {
        reasons.add(code_of(broken), field, rule, nearest);
    };
    const Neighbours around = multiples_around(training.global_batch, batch_unit(plan));
    switch (broken) {
    case BatchRule::none:
    case BatchRule::ramp_up_start: // check_ramp_up tells
    case BatchRule::ramp_up_increment:
        break;
    case BatchRule::global_batch_not_divisible:
        add("training.global_batch",
            "global_batch " + number(training.global_batch) + " is not a multiple of micro_batch "
                + number(training.micro_batch) + " x dp " + number(layout.dp) + " = " + number(per_step)
                + " (nearest: " + around.text() + ")",
            around.nearest(training.global_batch));
        break;
    case BatchRule::batch_contradiction:
        add("training.micro_batches",
            "micro_batches " + number(training.micro_batches) + " x micro_batch " + number(training.micro_batch)
                + " x dp " + number(layout.dp) + " is not the global_batch " + number(training.global_batch),
            training.global_batch / per_step);
        break;
    case BatchRule::micro_batches_not_divisible:
        add("training.global_batch",
            "schedule " + to_text(training.schedule) + " needs pp " + number(layout.pp) + " to divide the "
                + number(training.micro_batches) + " micro-batches (global_batch nearest: " + around.text() + ")",
            around.nearest(training.global_batch));
        break;
    case BatchRule::too_few_micro_batches:
        add("training.global_batch",
            plan.stack.id + " crashes with fewer than pp - 1 = " + number(layout.pp - 1) + " micro-batches, found "
                + number(training.micro_batches),
            per_step * (layout.pp - 1));
        break;
    }
    check_ramp_up(plan, reasons);
}

std::vector<int64_t> layers_of_stages(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    std::vector<int64_t> layers(static_cast<std::size_t>(layout.pp), 0);
    for (std::size_t chunk = 0; chunk < layout.stage_layers.size(); ++chunk)
        layers[static_cast<std::size_t>(stage_of_chunk(plan.training.schedule, layout.pp, int(chunk)))]
            += layout.stage_layers[chunk];
    return layers;
}

// Parts that the layers do not have would repeat nothing.
static void check_recompute_parts(const ResolvedPlan& plan, Reasons& reasons)
{
    using enum RecomputePart;
    const WordSet<RecomputePart>& parts = plan.training.recompute_parts;
    const auto refuse_if = [&](bool condition, const std::string& message, const Json& nearest) {
        if (condition)
            reasons.add("recompute_parts", "training.recompute_parts", message, nearest);
    };
    refuse_if(parts.empty(), "recompute_parts names nothing to compute again", Json::array({"core-attention"}));
    refuse_if(parts.contains(operations) && parts.values().size() > 1,
        "recompute_parts \"operations\" stands alone: it chooses among all operations of a layer",
        Json::array({"operations"}));
    const bool all_routed = plan.model.experts && plan.model.moe_layers() == plan.model.layers;
    refuse_if(parts.contains(moe) && !plan.model.experts,
        "recompute_parts \"moe\" repeats mixtures of experts, and " + plan.model.name + " has none",
        Json::array({"mlp"}));
    refuse_if(parts.contains(moe_act) && !plan.model.experts,
        "recompute_parts \"moe-act\" repeats the activation of routed experts, and " + plan.model.name + " has none",
        Json::array({"mlp"}));
    refuse_if(parts.contains(mla_up_proj) && !plan.model.latent,
        "recompute_parts \"mla-up-proj\" repeats what latent attention makes of its latents, and " + plan.model.name
            + " has none",
        Json::array({"core-attention"}));
    refuse_if(parts.contains(mlp) && all_routed,
        "recompute_parts \"mlp\" repeats dense MLPs, and every layer of " + plan.model.name
            + " has a mixture of experts",
        Json::array({"moe"}));
}

void check_training(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    const Gpu& gpu = plan.cluster.gpu;
    if (!has_precision(gpu, training.precision))
        reasons.add("precision_unsupported", "training.precision", gpu.name + " has no " + to_text(training.precision),
            to_text(nearest_precision(gpu, training.precision)));
    if (training.precision == Precision::fp8 && training.fp8_recipe == Fp8Recipe::mxfp8 && !has_block_scales(gpu))
        reasons.add("fp8_recipe_unsupported", "training.fp8_recipe",
            gpu.name + " has no matrix units that take a scale with each 32 elements (Blackwell and CDNA 4 do)",
            "tensorwise");
    if (is_of_products(training.grad_dtype))
        reasons.add("grad_dtype_unsupported", "training.grad_dtype",
            "gradients cannot be accumulated in " + to_text(training.grad_dtype), "bf16");
    if (training.optimizer_state_dtype == Precision::nvfp4)
        reasons.add("optimizer_state_dtype_unsupported", "training.optimizer_state_dtype",
            "optimizer states cannot be kept in nvfp4", "bf16");
    if (training.recompute != Recompute::none && (training.recompute_layers || training.recompute_every > 1)) {
        const std::vector<int64_t> per_rank = layers_of_stages(plan);
        const int64_t most = *std::max_element(per_rank.begin(), per_rank.end());
        const auto refuse_above = [&](const char* code, const std::string& key, int layers, int64_t limit) {
            if (layers > limit && most > 0)
                reasons.add(code, ("training." + key).c_str(),
                    key + " " + number(layers) + " is more than the " + number(limit) + " layers of a stage"
                        + (limit < most ? " that recompute_every leaves" : ""),
                    limit);
        };
        refuse_above("too_rare_recompute_layers", "recompute_every", training.recompute_every, most);
        if (training.recompute_layers && training.recompute_every <= most)
            refuse_above("too_many_recompute_layers", "recompute_layers", *training.recompute_layers,
                most / training.recompute_every);
    }
    if (training.recompute == Recompute::selective)
        check_recompute_parts(plan, reasons);
    if (training.fsdp.layers_per_unit > plan.model.layers)
        reasons.add("fsdp_unit_too_large", "training.fsdp.layers_per_unit",
            "layers_per_unit " + number(training.fsdp.layers_per_unit) + " is more than the model's "
                + number(plan.model.layers) + " layers",
            plan.model.layers);
    // DeepSpeed refuses to partition gradients or parameters under its pipeline engine.
    const bool beyond_optimizer = training.sharding == Sharding::gradients || training.sharding == Sharding::parameters
        || training.sharding == Sharding::hybrid;
    if (plan.stack.pipeline_rules.shard_only_optimizer && layout.pp > 1 && beyond_optimizer)
        reasons.add("sharding_with_pipeline", "training.sharding",
            plan.stack.id + " shards only the optimizer when pp is above 1, found sharding "
                + to_text(training.sharding),
            "optimizer");
}

} // namespace fourfold
