// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/bound_fields.h"
#include "core/plan/gpu_precision.h"
#include "core/plan/resolve.h"

#include <algorithm>
#include <limits>

namespace fourfold {

namespace {
constexpr int kMaxDefaultSeqLen = 8192;
constexpr int kFallbackSeqLen = 2048; // models without a position limit (ALiBi)

// `over` wins; null means "as before".
Json merged(Json base, const Json& over)
{
    if (!over.is_object())
        return base;
    for (const auto& [key, value] : over.items()) {
        if (value.is_null())
            continue;
        const bool both = value.is_object() && base.contains(key) && base[key].is_object();
        base[key] = both ? merged(base[key], value) : value;
    }
    return base;
}

// A ramp-up is told as a whole or not at all.
Expected<void> check_ramp_up(const Json& json, const std::string& where)
{
    const Json& ramp = value_at(json, "ramp_up");
    if (ramp.is_null())
        return {};
    for (const char* key : {"start", "increment", "samples"}) {
        if (value_at(ramp, key).is_null())
            return Problem{ProblemCode::bad_input, std::string("missing, expected ") + key + " beside the others",
                "ramp_up is {start, increment, samples}", at_field(where, std::string("training.ramp_up.") + key)};
    }
    return {};
}

// global_batch and micro_batches follow from each other; both as written when both are.
Expected<void> read_batch(const Json& json, const Layout& layout, const std::string& where, Training& training)
{
    const Json& global = value_at(json, "global_batch");
    const Json& micros = value_at(json, "micro_batches");
    const double unit = double(training.micro_batch) * layout.dp;
    double global_batch = 0;
    if (!global.is_null())
        global_batch = global.get<double>();
    else if (!micros.is_null())
        global_batch = micros.get<double>() * unit;
    else
        global_batch = unit * std::max(1, layout.pp * layout.virtual_stages);
    if (global_batch > std::numeric_limits<int>::max())
        return Problem{ProblemCode::bad_input,
            "the global batch would be more than " + std::to_string(std::numeric_limits<int>::max()) + " sequences",
            "lower micro_batch or micro_batches", at_field(where, "training.global_batch")};
    training.global_batch = static_cast<int>(global_batch);
    if (micros.is_null())
        training.micro_batches = std::max(1, static_cast<int>(global_batch / unit));
    return {};
}
} // namespace

Expected<void> resolve_training(const Json& written, ResolvedPlan& plan)
{
    const Stack& stack = plan.stack;
    const std::string stack_where = "stack " + stack.id;
    FOURFOLD_CHECK(check_types(stack.training_defaults, "training", stack_where, "training_defaults", nullptr));
    FOURFOLD_CHECK(check_ranges(stack.training_defaults, "training", stack_where, "training_defaults"));
    const Json defaults = stack.training_defaults.is_object() ? stack.training_defaults : Json::object();
    const Json json = merged(defaults, written);
    const auto chosen = [&](const char* key) { return !value_at(written, key).is_null(); };
    Training& training = plan.training;
    plan.compile_chosen = chosen("compile");
    FOURFOLD_CHECK(check_ramp_up(json, plan.where));
    read_bound(bound_plan_fields(), "training.", json, plan);

    const int64_t limit = plan.model.max_positions;
    if (value_at(json, "seq_len").is_null())
        training.seq_len = static_cast<int>(limit > 0 ? std::min<int64_t>(limit, kMaxDefaultSeqLen) : kFallbackSeqLen);
    if (limit > 0 && training.seq_len > limit)
        plan.notes.push_back("seq_len " + std::to_string(training.seq_len) + " is beyond the " + std::to_string(limit)
            + " positions of " + plan.model.name);
    FOURFOLD_CHECK(read_batch(json, plan.layout, plan.where, training));
    // Virtual stages need a schedule that knows them; a stack's default may not.
    if (!chosen("schedule") && training.schedule != Schedule::csv && plan.layout.virtual_stages > 1)
        training.schedule = schedule_taking(training.schedule, plan.layout.virtual_stages);
    if (training.recompute_layers && training.recompute == Recompute::none)
        plan.notes.emplace_back("training.recompute_layers has no effect while training.recompute is none");
    if (training.recompute_every > 1 && training.recompute == Recompute::none)
        plan.notes.emplace_back("training.recompute_every has no effect while training.recompute is none");
    if (chosen("recompute_parts") && training.recompute != Recompute::selective)
        plan.notes.emplace_back("training.recompute_parts has no effect unless training.recompute is selective");
    if (training.offload_layers && training.offload != Offload::activations)
        plan.notes.emplace_back("training.offload_layers has no effect unless training.offload is activations");
    if (!chosen("precision")) {
        const Precision wanted = training.precision;
        training.precision = nearest_precision(plan.cluster.gpu, wanted);
        if (training.precision != wanted)
            plan.notes.push_back("precision " + to_text(training.precision) + ": " + plan.cluster.gpu.name + " has no "
                + to_text(wanted));
    }
    // A resolved plan names every recipe; only another than the default was somebody's wish.
    if (training.fp8_recipe != Training().fp8_recipe && training.precision != Precision::fp8)
        plan.notes.push_back(
            "training.fp8_recipe has no effect while training.precision is " + to_text(training.precision));
    if (training.fp8_scale_group != Training().fp8_scale_group && training.precision != Precision::fp8)
        plan.notes.push_back(
            "training.fp8_scale_group has no effect while training.precision is " + to_text(training.precision));
    if (training.mx_rounding != Training().mx_rounding
        && (training.precision != Precision::fp8 || training.fp8_recipe != Fp8Recipe::mxfp8))
        plan.notes.emplace_back("training.mx_rounding has no effect unless training.fp8_recipe is mxfp8, in fp8");
    const bool sharded = training.sharding == Sharding::parameters || training.sharding == Sharding::hybrid;
    if (training.fsdp.each_micro_batch && (plan.layout.pp == 1 || !sharded))
        plan.notes.emplace_back(
            "training.fsdp.each_micro_batch has no effect but in a pipeline whose training.sharding "
            "is parameters or hybrid");
    const ExpertSettings usual;
    const bool drops = training.experts.capacity > 0;
    if (!plan.model.experts && (drops || training.experts.balance != usual.balance))
        plan.notes.push_back("training.experts has no effect: " + plan.model.name + " has no experts");
    else if (training.experts.capacity_of != usual.capacity_of && !drops)
        plan.notes.emplace_back("training.experts.capacity_of has no effect while training.experts.capacity is 0");
    const auto better = stack.attention_by_generation.find(plan.cluster.gpu.generation);
    if (!chosen("attention") && better != stack.attention_by_generation.end())
        training.attention = better->second;
    // GPUs' kernels are what stacks are told with.
    const bool dense
        = training.attention == AttentionKernel::unfused || training.attention == AttentionKernel::fused_softmax;
    if (!chosen("attention") && plan.cluster.gpu.is_cpu() && !dense)
        training.attention = AttentionKernel::flash2;
    return {};
}

} // namespace fourfold
