// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/measure/measuring_plans.h"

#include "core/plan/trainable.h"

#include <algorithm>
#include <iterator>

namespace fourfold::trainer {

namespace {

constexpr int kMostLayers = 4; // of a deep model: its layers are alike

struct Variant {
    int tp = 1, cp = 1, pp = 1, dp = 1;
    int micro_batch = 1, micro_batches = 1; // sequences; of each replica
    int wider = 1; // hidden and feed-forward sizes and heads, times this
    int deeper = 1; // layers, times this
    int shorter = 1; // sequences, as a divisor of the plan's
    const char* sharding = "none";
    const char* recompute = "none";
};

// One rank: products against passes (width), attention (length), fixed costs (small and many micro-batches, many
// layers). Several: each dimension alone, on few and on many ranks, with small and large messages.
constexpr Variant kVariants[] = {
    {.micro_batch = 16},
    {.micro_batch = 1},
    {.micro_batch = 2, .micro_batches = 8},
    {.micro_batch = 8, .wider = 2},
    {.micro_batch = 16, .shorter = 4},
    {.micro_batch = 1, .micro_batches = 4, .deeper = 2, .shorter = 4},
    {.micro_batch = 1, .wider = 2},
    {.dp = 8, .micro_batch = 4},
    {.tp = 2, .micro_batch = 8},
    {.tp = 8, .micro_batch = 4},
    {.pp = 4, .micro_batch = 2, .micro_batches = 4},
    {.cp = 2, .micro_batch = 8},
    {.dp = 2, .micro_batch = 8},
    {.tp = 4, .micro_batch = 1},
    {.tp = 4, .micro_batch = 8},
    {.pp = 2, .micro_batch = 4, .micro_batches = 4},
    {.cp = 4, .micro_batch = 4},
    {.dp = 8, .micro_batch = 1, .wider = 2},
    {.pp = 4, .micro_batch = 1, .micro_batches = 4},
    {.tp = 2, .micro_batch = 1, .micro_batches = 4},
    {.dp = 4, .micro_batch = 2, .sharding = "parameters"},
    {.dp = 4, .micro_batch = 1, .wider = 2, .sharding = "optimizer"},
    {.tp = 2, .pp = 2, .dp = 2, .micro_batch = 4, .micro_batches = 2},
    {.micro_batch = 4, .recompute = "full"},
    {.cp = 8, .micro_batch = 1},
    {.dp = 2, .micro_batch = 1, .micro_batches = 4, .sharding = "parameters"},
    {.tp = 2, .cp = 2, .micro_batch = 2, .micro_batches = 2},
    {.dp = 2, .micro_batch = 1, .micro_batches = 4, .deeper = 2, .shorter = 2},
};

void multiply(Json& object, const char* key, int factor)
{
    if (object.contains(key) && object[key].is_number_integer())
        object[key] = object[key].get<int64_t>() * factor;
}

Expected<ResolvedPlan> variant_of(const Json& document, const std::string& where, const Variant& variant)
{
    Json out = document;
    const int replicas = variant.dp;
    out["gpus"] = variant.tp * variant.cp * variant.pp * variant.dp;
    Json& layout = out["layout"];
    layout = {{"tp", variant.tp}, {"cp", variant.cp}, {"pp", variant.pp}, {"dp", variant.dp},
        {"order", document["layout"]["order"]}};
    Json& model = out["model"];
    for (const char* key : {"hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "n_embd",
             "n_head", "n_inner"})
        multiply(model, key, variant.wider);
    for (const char* key : {"num_hidden_layers", "n_layer", "n_layers"})
        if (model.contains(key) && model[key].is_number_integer())
            model[key]
                = variant.deeper * std::min<int64_t>(model[key].get<int64_t>(), std::max(kMostLayers, variant.pp));
    Json& training = out["training"];
    for (const char* key : {"micro_batches", "ramp_up", "recompute_layers", "offload"})
        training.erase(key);
    training["seq_len"] = std::max<int64_t>(1, training["seq_len"].get<int64_t>() / variant.shorter);
    training["micro_batch"] = variant.micro_batch;
    training["global_batch"] = variant.micro_batch * variant.micro_batches * replicas;
    training["sharding"] = variant.sharding;
    training["recompute"] = variant.recompute;
    training["schedule"] = "1f1b";
    constexpr int kSteps = 100; // more than are measured
    Json& run = out["run"];
    for (const char* key : {"tokens", "eval", "checkpoint", "warmup_steps"})
        run.erase(key);
    run["steps"] = kSteps;
    return read_resolved(out, where);
}

} // namespace

std::vector<ResolvedPlan> measuring_plans(const ResolvedPlan& plan)
{
    const Json document = to_json(plan, PresetStyle::inlined);
    std::vector<ResolvedPlan> plans;
    for (const Variant& variant : kVariants) {
        auto made = variant_of(document, plan.where, variant);
        if (made && made->gpus <= plan.gpus && check(*made).empty() && trainer_limits(*made).empty())
            plans.push_back(std::move(*made));
    }
    return plans;
}

} // namespace fourfold::trainer
