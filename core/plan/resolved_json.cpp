// SPDX-License-Identifier: GPL-3.0-or-later
// A resolved plan written as a plan file, every field explicit.
#include "core/plan/resolve.h"

namespace fourfold {

namespace {
Json data_json(const std::vector<DataSource>& sources)
{
    Json out = Json::array();
    for (const DataSource& source : sources) {
        Json entry = {{"path", source.path}, {"weight", source.weight}};
        if (!source.dtype.empty())
            entry["dtype"] = source.dtype;
        entry["range"] = Json::array({source.begin, source.end});
        out.push_back(std::move(entry));
    }
    return out;
}

Json layout_json(const Layout& layout)
{
    Json order = Json::array();
    for (const Dimension dimension : layout.order)
        order.push_back(std::string(name(dimension)));
    return {{"tp", layout.tp}, {"cp", layout.cp}, {"pp", layout.pp}, {"dp", layout.dp}, {"ep", layout.ep},
        {"etp", layout.etp}, {"virtual_stages", layout.virtual_stages}, {"dp_shard", layout.dp_shard},
        {"stage_layers", layout.stage_layers}, {"order", std::move(order)}};
}

Json run_json(const RunSettings& run)
{
    Json out = Json::object();
    if (run.steps)
        out["steps"] = *run.steps;
    if (run.tokens)
        out["tokens"] = *run.tokens;
    out["seed"] = run.seed;
    out["data"] = data_json(run.data);
    out["lr"] = run.lr;
    out["min_lr"] = run.min_lr;
    out["lr_schedule"] = to_text(run.lr_schedule);
    out["warmup_steps"] = run.warmup_steps;
    out["betas"] = Json::array({run.beta1, run.beta2});
    out["eps"] = run.eps;
    out["weight_decay"] = run.weight_decay;
    out["clip_norm"] = run.clip_norm;
    out["eval"] = {{"every", run.eval.every}, {"batches", run.eval.batches}, {"data", data_json(run.eval.data)}};
    out["checkpoint"] = {{"every", run.checkpoint.every}, {"keep", run.checkpoint.keep}, {"path", run.checkpoint.path},
        {"load", run.checkpoint.load}};
    if (run.checkpoint.from_last_good) // not a word in plans of before it was there: their hash is that of their text
        out["checkpoint"]["from_last_good"] = true;
    out["log_every"] = run.log_every;
    if (run.read_at)
        out["read_at"] = *run.read_at;
    out["deterministic"] = run.deterministic;
    out["environment"] = Json::object();
    for (const auto& [name, value] : run.environment)
        out["environment"][name] = value;
    return out;
}
} // namespace

Json to_json(const Training& training)
{
    Json out = {{"seq_len", training.seq_len}, {"micro_batch", training.micro_batch},
        {"global_batch", training.global_batch}, {"micro_batches", training.micro_batches}};
    if (training.ramp_up)
        out["ramp_up"] = {{"start", training.ramp_up->start}, {"increment", training.ramp_up->increment},
            {"samples", training.ramp_up->samples}};
    out["schedule"] = schedule_name(training);
    out["sharding"] = to_text(training.sharding);
    out["recompute"] = to_text(training.recompute);
    if (training.recompute_layers)
        out["recompute_layers"] = *training.recompute_layers;
    out["precision"] = to_text(training.precision);
    out["grad_dtype"] = to_text(training.grad_dtype);
    out["optimizer_state_dtype"] = to_text(training.optimizer_state_dtype);
    out["optimizer"] = to_text(training.optimizer);
    out["offload"] = to_text(training.offload);
    out["sequence_parallel"] = training.sequence_parallel;
    out["compile"] = training.compile;
    out["async_tp"] = training.async_tp;
    out["attention"] = to_text(training.attention);
    out["fp8_recipe"] = to_text(training.fp8_recipe);
    out["cp_method"] = to_text(training.cp_method);
    out["fsdp"] = {{"layers_per_unit", training.fsdp.layers_per_unit},
        {"reshard_after_forward", training.fsdp.reshard_after_forward}, {"prefetch", training.fsdp.prefetch}};
    out["overlap"] = {{"grad_reduce", training.overlap.grad_reduce}, {"param_gather", training.overlap.param_gather},
        {"p2p", training.overlap.p2p}, {"expert_exchange", training.overlap.expert_exchange}};
    out["flop_convention"] = to_text(training.flop_convention);
    return out;
}

Json conventions_json(const Stack& stack)
{
    Json out = to_json(stack);
    for (const char* key : {"training_defaults", "constants", "gpu_constants", "fit"})
        out.erase(key);
    return out;
}

Json to_json(const ResolvedPlan& plan, PresetStyle style)
{
    const bool ids = style == PresetStyle::ids;
    Json out = {{"fourfold_plan", 1}, {"name", plan.name}};
    out["model"] = ids && !plan.model.id.empty() ? Json(plan.model.id) : config_from_model(plan.model);
    out["cluster"] = ids && !plan.cluster.id.empty() ? Json(plan.cluster.id) : to_json(plan.cluster);
    out["gpus"] = plan.gpus;
    if (ids)
        out["stack"] = plan.own_stack ? to_json(plan.stack) : Json(plan.stack.id);
    else
        out["stack"] = conventions_json(plan.stack);
    out["layout"] = layout_json(plan.layout);
    out["training"] = to_json(plan.training);
    out["run"] = run_json(plan.run);
    return out;
}

Expected<ResolvedPlan> read_resolved(const Json& document, const std::string& where)
{
    FOURFOLD_TRY(const Plan plan, plan_from_json(document, where));
    for (const char* key : {"model", "cluster", "stack"}) {
        if (!member(document, key).is_object())
            return Problem{ProblemCode::bad_input, std::string("expected the ") + key + " as an object",
                "this file is read without presets; write it with every preset inlined", where + ": " + key};
    }
    return resolve_with(plan, Presets(std::vector<std::filesystem::path>{}), IdPolicy::trust);
}

} // namespace fourfold
