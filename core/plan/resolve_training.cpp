// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"
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

// Reads the keys of `training`; spellings have been checked, so an error here is a stack preset's.
class Reader {
public:
    Reader(const Json& json, const std::string& where)
        : json_(json)
        , where_(where)
    {
    }
    template <typename Enum>
    Expected<void> choice(const char* key, Enum& value) const
    {
        const Json& found = member(json_, key);
        if (found.is_null())
            return {};
        FOURFOLD_TRY(
            value, from_text<Enum>(found.get<std::string>(), at_field(where_, std::string("training.") + key)));
        return {};
    }

private:
    const Json& json_;
    const std::string& where_;
};

void read_schedule(const Json& written, const Json& json, const Layout& layout, Training& training)
{
    const std::string text = member_or<std::string>(json, "schedule", "1f1b");
    if (text.ends_with(".csv")) {
        training.schedule = Schedule::csv;
        training.schedule_csv = text;
        return;
    }
    training.schedule = *from_text<Schedule>(text, "");
    // Virtual stages need a schedule that knows them; a stack's default may not.
    const bool chosen = !member(written, "schedule").is_null();
    if (!chosen && layout.virtual_stages > 1)
        training.schedule = schedule_taking(training.schedule, layout.virtual_stages);
}

Expected<void> read_ramp_up(const Json& json, const std::string& where, Training& training)
{
    const Json& ramp = member(json, "ramp_up");
    if (ramp.is_null())
        return {};
    for (const char* key : {"start", "increment", "samples"}) {
        if (member(ramp, key).is_null())
            return Problem{ProblemCode::bad_input, std::string("missing, expected ") + key + " beside the others",
                "ramp_up is {start, increment, samples}", at_field(where, std::string("training.ramp_up.") + key)};
    }
    training.ramp_up = RampUp{ramp["start"].get<int>(), ramp["increment"].get<int>(), ramp["samples"].get<double>()};
    return {};
}

// global_batch and micro_batches follow from each other; both as written when both are.
Expected<void> read_batch(const Json& json, const Layout& layout, const std::string& where, Training& training)
{
    training.micro_batch = member_or(json, "micro_batch", 1);
    const Json& global = member(json, "global_batch");
    const Json& micros = member(json, "micro_batches");
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
    training.micro_batches = micros.is_null() ? std::max(1, static_cast<int>(global_batch / unit)) : micros.get<int>();
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
    const Reader reader(json, plan.where);
    Training& training = plan.training;

    const int64_t limit = plan.model.max_positions;
    const int64_t usual = limit > 0 ? std::min<int64_t>(limit, kMaxDefaultSeqLen) : kFallbackSeqLen;
    training.seq_len = member_or(json, "seq_len", static_cast<int>(usual));
    if (limit > 0 && training.seq_len > limit)
        plan.notes.push_back("seq_len " + std::to_string(training.seq_len) + " is beyond the " + std::to_string(limit)
            + " positions of " + plan.model.name);
    FOURFOLD_CHECK(read_batch(json, plan.layout, plan.where, training));
    FOURFOLD_CHECK(read_ramp_up(json, plan.where, training));
    read_schedule(written, json, plan.layout, training);
    FOURFOLD_CHECK(reader.choice("sharding", training.sharding));
    FOURFOLD_CHECK(reader.choice("recompute", training.recompute));
    if (const Json& layers = member(json, "recompute_layers"); !layers.is_null())
        training.recompute_layers = layers.get<int>();
    if (training.recompute_layers && training.recompute == Recompute::none)
        plan.notes.emplace_back("training.recompute_layers has no effect while training.recompute is none");
    FOURFOLD_CHECK(reader.choice("precision", training.precision));
    if (member(written, "precision").is_null()) {
        const Precision wanted = training.precision;
        training.precision = nearest_precision(plan.cluster.gpu, wanted);
        if (training.precision != wanted)
            plan.notes.push_back("precision " + to_text(training.precision) + ": " + plan.cluster.gpu.name + " has no "
                + to_text(wanted));
    }
    FOURFOLD_CHECK(reader.choice("grad_dtype", training.grad_dtype));
    FOURFOLD_CHECK(reader.choice("optimizer_state_dtype", training.optimizer_state_dtype));
    FOURFOLD_CHECK(reader.choice("optimizer", training.optimizer));
    FOURFOLD_CHECK(reader.choice("offload", training.offload));
    training.sequence_parallel = member_or(json, "sequence_parallel", training.sequence_parallel);
    training.compile = member_or(json, "compile", training.compile);
    training.async_tp = member_or(json, "async_tp", training.async_tp);
    FOURFOLD_CHECK(reader.choice("attention", training.attention));
    const auto better = stack.attention_by_generation.find(plan.cluster.gpu.generation);
    if (member(written, "attention").is_null() && better != stack.attention_by_generation.end())
        training.attention = better->second;
    FOURFOLD_CHECK(reader.choice("fp8_recipe", training.fp8_recipe));
    FOURFOLD_CHECK(reader.choice("cp_method", training.cp_method));
    const Json& fsdp = member(json, "fsdp");
    training.fsdp.layers_per_unit = member_or(fsdp, "layers_per_unit", training.fsdp.layers_per_unit);
    training.fsdp.reshard_after_forward = member_or(fsdp, "reshard_after_forward", training.fsdp.reshard_after_forward);
    training.fsdp.prefetch = member_or(fsdp, "prefetch", training.fsdp.prefetch);
    const Json& overlap = member(json, "overlap");
    training.overlap.grad_reduce = member_or(overlap, "grad_reduce", training.overlap.grad_reduce);
    training.overlap.expert_exchange = member_or(overlap, "expert_exchange", training.overlap.expert_exchange);
    training.overlap.param_gather = member_or(overlap, "param_gather", training.overlap.param_gather);
    training.overlap.p2p = member_or(overlap, "p2p", training.overlap.p2p);
    FOURFOLD_CHECK(reader.choice("flop_convention", training.flop_convention));
    return {};
}

} // namespace fourfold
