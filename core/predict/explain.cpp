// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/explain.h"

#include "core/cost/context.h"
#include "core/model/flops.h"
#include "core/predict/explain_parts.h"
#include "core/predict/interval.h"

#include <cmath>

namespace fourfold {
namespace {

Explanation input(std::string label, double value, std::string unit, std::string source)
{
    Explanation node;
    node.label = std::move(label);
    node.value = value;
    node.unit = std::move(unit);
    node.source = std::move(source);
    return node;
}

Explanation tokens_of_a_step(const ResolvedPlan& plan)
{
    Explanation node = input("tokens of a step", plan.tokens_per_step(), "tokens", "plan");
    node.formula = text_of("global batch %d sequences * %d tokens", plan.training.global_batch, plan.training.seq_len);
    return node;
}

Explanation throughput(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    Explanation node = input("throughput", 0, "tokens/s", "definition");
    node.value = prediction.tps_per_gpu;
    if (!prediction.tps_per_gpu)
        return node;
    node.formula = text_of("tokens of a step / (step time * GPUs) = %.0f / (%.4g s * %d)", plan.tokens_per_step(),
        *prediction.step_time_s, plan.gpus);
    node.children = {tokens_of_a_step(plan), input("GPUs", plan.gpus, "", "plan"), explain_step_time(prediction)};
    return node;
}

Explanation utilisation(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    const bool narrow = is_of_products(plan.training.precision);
    Explanation node = input("MFU", 0, "ratio", "definition of MFU: PaLM, arXiv:2204.02311, appendix B");
    node.value = narrow ? prediction.mfu_bf16_peak : prediction.mfu;
    if (narrow)
        node.label = "MFU over the bf16 peak";
    if (!node.value)
        return node;
    const double flops = model_flops_per_token(plan.model, plan.training.seq_len);
    const double peak = plan.cluster.gpu.peak_flops(narrow ? Precision::bf16 : plan.training.precision);
    node.formula
        = text_of("throughput * FLOPs per token / peak = %.4g * %.4g / %.4g", *prediction.tps_per_gpu, flops, peak);
    Explanation per_token = input("model FLOPs per token", flops, "FLOP", "PaLM, arXiv:2204.02311, appendix B");
    per_token.formula = text_of("6 * %.4g active matmul parameters + 12 * %d layers * %d heads * %d * %d tokens",
        plan.model.active_matmul_parameters(), int(plan.model.layers), int(plan.model.heads), int(plan.model.head_dim),
        plan.training.seq_len);
    node.children = {throughput(prediction), std::move(per_token),
        input("dense peak of a GPU", peak, "FLOP/s", "data sheet of " + plan.cluster.gpu.name)};
    return node;
}

Explanation flop_rate(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    Explanation node = input("FLOP rate", 0, "TFLOP/s", "convention " + to_text(plan.training.flop_convention));
    node.value = prediction.tflops_per_gpu;
    if (!node.value)
        return node;
    const double flops
        = reported_flops_per_token(plan.model, plan.padded_vocab, plan.training.seq_len, plan.training.flop_convention);
    node.formula = text_of("throughput * FLOPs per token = %.4g * %.4g", *prediction.tps_per_gpu, flops);
    node.children = {throughput(prediction),
        input("reported FLOPs per token", flops, "FLOP", "convention " + to_text(plan.training.flop_convention))};
    return node;
}

Explanation bubble(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    Explanation node = input("idle share of the pipeline", 0, "ratio", "event simulation of the schedule");
    if (!prediction.step_time_s) {
        node.value.reset();
        return node;
    }
    node.value = prediction.bubble_fraction;
    const int pp = plan.layout.pp, chunks = plan.layout.virtual_stages, micro = plan.training.micro_batches;
    // Forwards, input and weight gradients that take equally long, where the form depends on it.
    const bool whole = !traits_of(plan.training.schedule).splits_backward;
    const auto equal = closed_form_idle_share(plan.training.schedule, pp, chunks, micro, {1, 2, 1});
    node.formula = pp == 1 ? "one stage: nothing to wait for" : "simulated with the stages' own times";
    if (pp > 1 && equal)
        node.formula += text_of("; equal stages would wait %s%.3f (p = %d stages, v = %d chunks, m = %d micro-batches)",
            whole ? "(p - 1) / (v m + p - 1) = " : "", *equal, pp, chunks, micro);
    node.children = {input("stages", pp, "", "plan"), input("chunks per stage", chunks, "", "plan"),
        input("micro-batches", micro, "", "plan"),
        input("idle seconds of the busiest stage", prediction.time_by_part[Part::bubble], "s", "event simulation")};
    return node;
}

// What was measured that the answer rests on: runs of the constants, the nearest published one, the user's own.
void add_measurements(Explanation& node, const Prediction& prediction)
{
    const Stack& stack = prediction.plan.stack;
    const std::string& gpu = prediction.plan.cluster.gpu.id;
    Explanation fitted = input("runs that the constants were fitted to", 0, "runs", "stack " + stack.id);
    if (const auto domain = stack.measured.find(gpu); domain != stack.measured.end()) {
        fitted.value = domain->second.runs;
        fitted.formula = text_of("on up to %d GPUs of this kind", domain->second.gpus);
    } else {
        fitted.formula = "none on this GPU: middle values of others";
    }
    node.children.push_back(std::move(fitted));
    if (const std::optional<NearestMeasured>& nearest = prediction.nearest) {
        Explanation row;
        row.label = "nearest published measurement";
        row.unit = "ratio";
        row.formula = nearest->same ? "this layout"
                                    : text_of("tp %d, cp %d, pp %d, dp %d, micro-batch %d", nearest->tp, nearest->cp,
                                        nearest->pp, nearest->dp, nearest->micro_batch);
        if (nearest->error) {
            row.value = std::expm1(*nearest->error);
            row.formula += nearest->inside ? "; predicted speed / measured - 1"
                                           : "; predicted speed / measured - 1, outside its range";
        }
        row.source = nearest->source + " row " + nearest->row;
        node.children.push_back(std::move(row));
    }
    if (const std::optional<OwnShift>& own = prediction.own_shift) {
        Explanation runs = input("your own runs near this layout", own->runs, "runs", "history");
        runs.formula
            = text_of("all times of the model x %.4g: %.0f %% of their mean error", own->factor, 100 * own->share);
        node.children.push_back(std::move(runs));
    }
}

Explanation band(const Prediction& prediction)
{
    Explanation node;
    node.label = "half-width of the 90 % interval of the step time";
    node.unit = "ln";
    node.source = "errors of left-out measurements, by number of GPUs";
    add_measurements(node, prediction);
    if (!prediction.interval || !prediction.step_time_s || !(prediction.interval->step_time_s.low > 0)) {
        node.formula = "no band: " + std::string(name(prediction.evidence));
        return node;
    }
    const Interval& interval = *prediction.interval;
    node.value = std::log(*prediction.step_time_s / interval.step_time_s.low);
    node.formula = text_of("step time * exp(-/+ %.3f) = %.4g .. %.4g s; evidence: %s", *node.value,
        interval.step_time_s.low, interval.step_time_s.high, std::string(name(prediction.evidence)).c_str());
    if (prediction.memory_gib && interval.memory_gib.low > 0) {
        Explanation memory = input("half-width of the 90 % interval of memory",
            std::log(*prediction.memory_gib / interval.memory_gib.low), "ln", "errors of left-out measurements");
        memory.formula = text_of("%.4g .. %.4g GiB", interval.memory_gib.low, interval.memory_gib.high);
        node.children.push_back(std::move(memory));
    }
    return node;
}

struct Figure {
    std::string key;
    Explanation (*explain)(const Prediction&);
};

const std::vector<Figure>& figures()
{
    static const std::vector<Figure> list{{"step_time_s", explain_step_time}, {"tps_per_gpu", throughput},
        {"mfu", utilisation}, {"tflops_per_gpu", flop_rate}, {"memory_gib", explain_memory},
        {"memory_device_gib", explain_device_memory}, {"bubble_fraction", bubble}, {"interval", band}};
    return list;
}

} // namespace

const std::vector<std::string>& explained_figures()
{
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> list;
        for (const Figure& figure : figures())
            list.push_back(figure.key);
        return list;
    }();
    return keys;
}

Expected<Explanation> explain(const Prediction& prediction, const std::string& figure)
{
    std::string known;
    for (const Figure& one : figures()) {
        if (one.key == figure)
            return one.explain(prediction);
        known += (known.empty() ? "" : ", ") + one.key;
    }
    return Problem{ProblemCode::bad_input, "there is no figure of this name, expected one of " + known, "", figure};
}

Json to_json(const Explanation& explanation)
{
    const auto& value = explanation.value;
    Json json{{"label", explanation.label}, {"value", value && std::isfinite(*value) ? Json(*value) : Json(nullptr)},
        {"unit", explanation.unit}, {"formula", explanation.formula}, {"source", explanation.source},
        {"children", Json::array()}};
    for (const Explanation& child : explanation.children)
        json["children"].push_back(to_json(child));
    return json;
}

Json explanation_json(const Prediction& prediction)
{
    Json json = Json::object();
    for (const Figure& figure : figures())
        json[figure.key] = to_json(figure.explain(prediction));
    return json;
}

} // namespace fourfold
