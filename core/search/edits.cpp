// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/edits.h"

#include "core/plan/derived.h"
#include "core/plan/gpu_precision.h"
#include "core/plan/stage_layers.h"
#include "core/plan/trainable.h"
#include "core/program/allocations.h"
#include "core/search/space.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace fourfold {
namespace {

// Values of the document that resolving works out again, unless the plan had its own before and may keep them.
constexpr std::array<std::string_view, 3> kDerived{"layout.dp_shard", "layout.stage_layers", "training.micro_batches"};

bool is_derived(const std::string& path)
{
    return std::find(kDerived.begin(), kDerived.end(), path) != kDerived.end();
}

void compare(const Json& from, const Json& to, const std::string& path, std::vector<PlanEdit::Field>& fields)
{
    if (from == to)
        return;
    if (!from.is_object() || !to.is_object()) {
        fields.push_back({path, is_derived(path) ? Json() : to});
        return;
    }
    for (const auto& [key, value] : to.items()) {
        const auto before = from.find(key);
        compare(before == from.end() ? Json() : *before, value, path.empty() ? key : path + "." + key, fields);
    }
    for (const auto& [key, value] : from.items()) {
        if (!to.contains(key))
            fields.push_back({path.empty() ? key : path + "." + key, nullptr});
    }
}

// What follows from degrees, batch and sharding.
void settle(const ResolvedPlan& before, ResolvedPlan& plan)
{
    Layout& layout = plan.layout;
    Training& training = plan.training;
    if (layout.pp == 1) {
        layout.virtual_stages = 1;
        if (!takes_chunks(training.schedule, 1) || traits_of(training.schedule).splits_backward)
            training.schedule = schedule_taking(training.schedule, 1);
    }
    const auto order = [](const Training& of) { return traits_of(of.schedule).order; };
    if (layout.pp * layout.virtual_stages != before.layout.pp * before.layout.virtual_stages
        || (plan.model.predicted_ahead > 0 && order(training) != order(before.training)))
        layout.stage_layers
            = default_stage_layers(plan.model, plan.stack, layout.pp, layout.virtual_stages, training.schedule);
    if (training.sharding != before.training.sharding || layout.dp != before.layout.dp || layout.cp != before.layout.cp)
        layout.dp_shard = default_dp_shard(plan);
    if (before.layout.etp == before.layout.tp)
        layout.etp = layout.tp;
    training.micro_batches = micro_batches_of(training.global_batch, training.micro_batch, layout.dp);
    if (training.recompute == Recompute::none)
        training.recompute_layers.reset();
    plan.padded_vocab = padded_vocabulary(plan);
}

int& degree_of(Layout& layout, Dimension dimension)
{
    switch (dimension) {
    case Dimension::tp:
        return layout.tp;
    case Dimension::cp:
        return layout.cp;
    case Dimension::pp:
        return layout.pp;
    case Dimension::dp:
        break;
    }
    return layout.dp;
}

// Prime factors of a degree, and 4 where it holds it: what one step moves.
std::vector<int> factors_of(int degree)
{
    std::vector<int> factors;
    int rest = degree;
    for (int prime = 2; prime <= rest; ++prime) {
        if (rest % prime != 0)
            continue;
        factors.push_back(prime);
        while (rest % prime == 0)
            rest /= prime;
    }
    if (degree % 4 == 0)
        factors.push_back(4);
    return factors;
}

class EditList {
public:
    explicit EditList(const ResolvedPlan& plan)
        : plan_(plan)
    {
    }
    // One change: `change` gets a copy of the plan to write into.
    void add(const char* kind, EditClass edit_class, const std::function<void(ResolvedPlan&)>& change)
    {
        PlanEdit edit{kind, edit_class, "", {}, plan_};
        change(edit.plan);
        settle(plan_, edit.plan);
        edit.fields = changed_fields(plan_, edit.plan);
        if (edit.fields.empty() || !check(edit.plan).empty())
            return;
        edit.summary = edit_summary(plan_, edit.plan);
        for (const PlanEdit& other : edits) {
            if (other.summary == edit.summary)
                return;
        }
        edits.push_back(std::move(edit));
    }
    template <typename Value>
    void set(const char* kind, EditClass edit_class, Value Training::*field, const std::vector<Value>& values)
    {
        for (const Value& value : values)
            add(kind, edit_class, [&](ResolvedPlan& plan) { plan.training.*field = value; });
    }
    [[nodiscard]] const ResolvedPlan& plan() const { return plan_; }

    std::vector<PlanEdit> edits;

private:
    const ResolvedPlan& plan_;
};

template <typename Enum>
std::vector<Enum> every()
{
    std::vector<Enum> values;
    for (const std::string& text : spellings<Enum>())
        values.push_back(*from_text<Enum>(text, ""));
    return values;
}

void add_batch(EditList& list)
{
    list.set<int>("micro_batch", EditClass::execution, &Training::micro_batch, {1, 2, 4, 8, 16});
}

void add_recompute(EditList& list)
{
    const ResolvedPlan& plan = list.plan();
    list.set("recompute", EditClass::execution, &Training::recompute, every<Recompute>());
    // All layers of a stage is what recomputation does by itself; some of them cost less.
    const int of_stage = (plan.model.layers + plan.layout.pp - 1) / plan.layout.pp;
    for (const int quarters : {1, 2, 3}) {
        const int layers = of_stage * quarters / 4;
        if (layers < 1)
            continue;
        list.add("recompute", EditClass::execution, [&](ResolvedPlan& changed) {
            if (changed.training.recompute == Recompute::none)
                changed.training.recompute = Recompute::full;
            changed.training.recompute_layers = layers;
        });
    }
}

void add_degrees(EditList& list)
{
    for (const Dimension from : kDimensions) {
        for (const int factor : factors_of(list.plan().layout.degree(from))) {
            for (const Dimension to : kDimensions) {
                if (to == from)
                    continue;
                list.add("degrees", EditClass::execution, [&](ResolvedPlan& plan) {
                    degree_of(plan.layout, from) /= factor;
                    degree_of(plan.layout, to) *= factor;
                });
            }
        }
    }
}

void add_schedule(EditList& list)
{
    if (list.plan().layout.pp == 1)
        return;
    const auto add = [&](const ScheduleTraits& traits, int virtual_stages) {
        list.add("schedule", EditClass::execution, [&](ResolvedPlan& plan) {
            plan.training.schedule = traits.schedule;
            plan.layout.virtual_stages = virtual_stages;
        });
    };
    for (const ScheduleTraits& traits : schedules()) {
        if (traits.advised && traits.least_chunks == traits.most_chunks)
            add(traits, traits.least_chunks);
    }
    for (const ScheduleTraits& traits : schedules()) {
        for (const int virtual_stages : {2, 3, 4, 5, 6, 8}) {
            if (traits.advised && traits.least_chunks < traits.most_chunks
                && takes_chunks(traits.schedule, virtual_stages))
                add(traits, virtual_stages);
        }
    }
}

void add_order(EditList& list)
{
    for (std::size_t first = 0; first < 4; ++first) {
        for (std::size_t second = first + 1; second < 4; ++second) {
            auto order = list.plan().layout.order;
            // Dimensions of one rank lie anywhere.
            if (list.plan().layout.degree(order[first]) == 1 || list.plan().layout.degree(order[second]) == 1)
                continue;
            std::swap(order[first], order[second]);
            list.add("order", EditClass::execution, [&](ResolvedPlan& plan) { plan.layout.order = order; });
        }
    }
}

// Attention by another kernel, where this one and that were measured on the GPU, and the bundled trainer takes it
// wherever it takes the plan as it is.
void add_attention(EditList& list)
{
    const ResolvedPlan& plan = list.plan();
    const auto measured = plan.stack.measured.find(plan.cluster.gpu.id);
    if (measured == plan.stack.measured.end() || !measured->second.kernels.contains(plan.training.attention))
        return;
    std::vector<AttentionKernel> others;
    for (const AttentionKernel kernel : measured->second.kernels) {
        ResolvedPlan changed = plan;
        changed.training.attention = kernel;
        if (kernel != plan.training.attention && trainer_limits(changed).size() <= trainer_limits(plan).size())
            others.push_back(kernel);
    }
    list.set<AttentionKernel>("kernels", EditClass::execution, &Training::attention, others);
}

void add_execution(EditList& list)
{
    const ResolvedPlan& plan = list.plan();
    const auto run = EditClass::execution;
    std::vector<Sharding> shardings = every<Sharding>();
    if (plan.gpus <= plan.cluster.gpus_per_node)
        std::erase(shardings, Sharding::hybrid); // the same as parameters within one node
    list.set("sharding", run, &Training::sharding, shardings);
    list.set<Offload>("offload", run, &Training::offload, {Offload::none, Offload::activations, Offload::optimizer});
    if (plan.layout.tp > 1) {
        list.set<bool>("kernels", run, &Training::sequence_parallel, {true});
        list.set<bool>("kernels", run, &Training::async_tp, {true});
        if (plan.training.async_tp && is_our_trainer(Constants(plan.stack, plan.cluster.gpu.id)))
            list.add("overlap", run, [](ResolvedPlan& changed) { changed.training.overlap.tensor_parallel = true; });
    }
    // Compiled and eager code are told apart only by stacks that have both, and by the bundled trainer.
    if (plan.stack.constants.contains("elementwise_efficiency_compiled")
        || is_our_trainer(Constants(plan.stack, plan.cluster.gpu.id)))
        list.set<bool>("kernels", run, &Training::compile, {true});
    if (plan.training.attention == AttentionKernel::unfused
        || plan.training.attention == AttentionKernel::fused_softmax)
        list.set<AttentionKernel>("kernels", run, &Training::attention, {AttentionKernel::flash2});
    add_attention(list);
    if (plan.training.optimizer == Optimizer::adam)
        list.set<Optimizer>("optimizer", run, &Training::optimizer, {Optimizer::fused_adam});
    if (plan.training.optimizer == Optimizer::adamw)
        list.set<Optimizer>("optimizer", run, &Training::optimizer, {Optimizer::fused_adamw});
    list.set<bool>("optimizer", run, &Training::optimizer_in_backward, {true});
    for (bool OverlapSettings::*overlap :
        {&OverlapSettings::grad_reduce, &OverlapSettings::param_gather, &OverlapSettings::p2p})
        list.add("overlap", run, [&](ResolvedPlan& changed) { changed.training.overlap.*overlap = true; });
    if (plan.training.sharding == Sharding::parameters || plan.training.sharding == Sharding::hybrid) {
        list.add("fsdp", run, [](ResolvedPlan& changed) {
            bool& reshard = changed.training.fsdp.reshard_after_forward;
            reshard = !reshard;
        });
        list.add("fsdp", run, [](ResolvedPlan& changed) { changed.training.fsdp.prefetch = true; });
        if (plan.layout.pp > 1)
            list.add("fsdp", run, [](ResolvedPlan& changed) {
                bool& each = changed.training.fsdp.each_micro_batch;
                each = !each;
            });
    }
}

void add_experts(EditList& list)
{
    if (!list.plan().model.experts)
        return;
    for (const int factor : {2, 4}) {
        list.add("experts", EditClass::execution, [&](ResolvedPlan& plan) { plan.layout.ep *= factor; });
        if (list.plan().layout.ep % factor == 0)
            list.add("experts", EditClass::execution, [&](ResolvedPlan& plan) { plan.layout.ep /= factor; });
    }
}

void add_gpus(EditList& list)
{
    for (const int factor : {2, 4}) {
        for (const Dimension dimension : kDimensions) {
            list.add("gpus", EditClass::gpus, [&](ResolvedPlan& plan) {
                plan.gpus *= factor;
                degree_of(plan.layout, dimension) *= factor;
            });
            if (list.plan().layout.degree(dimension) % factor != 0)
                continue;
            list.add("gpus", EditClass::gpus, [&](ResolvedPlan& plan) {
                plan.gpus /= factor;
                degree_of(plan.layout, dimension) /= factor;
            });
        }
    }
}

void add_numerics(EditList& list)
{
    const Gpu& gpu = list.plan().cluster.gpu;
    for (const Precision precision : {Precision::bf16, Precision::fp8}) {
        if (!has_precision(gpu, precision))
            continue;
        // Products of more bits are no gain.
        if (bytes_per_element(precision) < bytes_per_element(list.plan().training.precision))
            list.set<Precision>("precision", EditClass::numerics, &Training::precision, {precision});
    }
    if (list.plan().training.grad_dtype == Precision::fp32)
        list.set<Precision>("precision", EditClass::numerics, &Training::grad_dtype, {Precision::bf16});
    if (list.plan().training.optimizer_state_dtype == Precision::fp32)
        list.set<Precision>("precision", EditClass::numerics, &Training::optimizer_state_dtype, {Precision::bf16});
}

std::string shown_value(const Json& document, const std::string& path)
{
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const Json::json_pointer at(pointer);
    if (!document.contains(at))
        return "all";
    const Json& value = document.at(at);
    if (value.is_array()) {
        std::string text;
        for (const Json& entry : value) {
            if (!text.empty())
                text += '-';
            text += entry.is_string() ? entry.get<std::string>() : entry.dump();
        }
        return text;
    }
    if (value.is_boolean())
        return value.get<bool>() ? "on" : "off";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// Where a combined edit starts from is not what its fields were compared with: the second's values are set anew.
void overlay(const ResolvedPlan& base, const ResolvedPlan& changed, ResolvedPlan& target)
{
    const auto take = [](const auto& before, const auto& after, auto& into) {
        if (before != after)
            into = after;
    };
    target.gpus = changed.gpus != base.gpus ? changed.gpus : target.gpus;
    const Layout &a = base.layout, &b = changed.layout;
    Layout& layout = target.layout;
    for (int Layout::*degree :
        {&Layout::tp, &Layout::cp, &Layout::pp, &Layout::dp, &Layout::ep, &Layout::etp, &Layout::virtual_stages})
        take(a.*degree, b.*degree, layout.*degree);
    take(a.order, b.order, layout.order);
    const Training &before = base.training, &after = changed.training;
    Training& training = target.training;
    take(before.micro_batch, after.micro_batch, training.micro_batch);
    take(before.schedule, after.schedule, training.schedule);
    take(before.sharding, after.sharding, training.sharding);
    take(before.recompute, after.recompute, training.recompute);
    take(before.recompute_layers, after.recompute_layers, training.recompute_layers);
    take(before.precision, after.precision, training.precision);
    take(before.grad_dtype, after.grad_dtype, training.grad_dtype);
    take(before.optimizer_state_dtype, after.optimizer_state_dtype, training.optimizer_state_dtype);
    take(before.optimizer, after.optimizer, training.optimizer);
    take(before.optimizer_in_backward, after.optimizer_in_backward, training.optimizer_in_backward);
    take(before.offload, after.offload, training.offload);
    take(before.offload_layers, after.offload_layers, training.offload_layers);
    take(before.sequence_parallel, after.sequence_parallel, training.sequence_parallel);
    take(before.compile, after.compile, training.compile);
    take(before.async_tp, after.async_tp, training.async_tp);
    take(before.attention, after.attention, training.attention);
    for (bool OverlapSettings::*overlap : {&OverlapSettings::grad_reduce, &OverlapSettings::param_gather,
             &OverlapSettings::p2p, &OverlapSettings::tensor_parallel})
        take(before.overlap.*overlap, after.overlap.*overlap, training.overlap.*overlap);
    take(before.fsdp.reshard_after_forward, after.fsdp.reshard_after_forward, training.fsdp.reshard_after_forward);
    take(before.fsdp.prefetch, after.fsdp.prefetch, training.fsdp.prefetch);
    take(before.fsdp.each_micro_batch, after.fsdp.each_micro_batch, training.fsdp.each_micro_batch);
}

} // namespace

std::vector<PlanEdit::Field> changed_fields(const ResolvedPlan& from, const ResolvedPlan& to)
{
    const Json before = to_json(from, PresetStyle::ids), after = to_json(to, PresetStyle::ids);
    std::vector<PlanEdit::Field> fields;
    for (const char* key : {"gpus", "layout", "training"})
        compare(before[key], after[key], key, fields);
    return fields;
}

std::string edit_summary(const ResolvedPlan& from, const ResolvedPlan& to)
{
    const Json before = to_json(from, PresetStyle::ids), after = to_json(to, PresetStyle::ids);
    std::string text;
    for (const PlanEdit::Field& field : changed_fields(from, to)) {
        // The experts' degree that goes along with tp is no news.
        if (is_derived(field.path) || (field.path == "layout.etp" && from.layout.etp == from.layout.tp))
            continue;
        std::string short_name = field.path;
        for (const std::string prefix : {"layout.", "training."}) {
            if (short_name.starts_with(prefix))
                short_name.erase(0, prefix.size());
        }
        text += (text.empty() ? "" : ", ") + short_name + " " + shown_value(before, field.path) + " -> "
            + shown_value(after, field.path);
    }
    return text;
}

std::vector<PlanEdit> single_edits(const ResolvedPlan& plan)
{
    EditList list(plan);
    add_batch(list);
    add_recompute(list);
    add_degrees(list);
    add_schedule(list);
    add_order(list);
    add_execution(list);
    add_experts(list);
    add_gpus(list);
    add_numerics(list);
    return std::move(list.edits);
}

PlanEdit combined_edits(const ResolvedPlan& base, const PlanEdit& first, const PlanEdit& second)
{
    PlanEdit both{first.kind + "+" + second.kind, std::max(first.edit_class, second.edit_class), "", {}, first.plan};
    overlay(base, second.plan, both.plan);
    settle(base, both.plan);
    both.fields = changed_fields(base, both.plan);
    both.summary = edit_summary(base, both.plan);
    return both;
}

} // namespace fourfold
