// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/fields.h"

#include "core/model/flops.h"
#include "core/predict/shape_rules.h"
#include "core/search/space.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {
namespace {

std::vector<std::array<Dimension, 4>> all_orders()
{
    std::vector<std::array<Dimension, 4>> orders;
    std::array<Dimension, 4> order = kDimensions;
    do
        orders.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return orders;
}

std::vector<std::string> order_spellings()
{
    std::vector<std::string> texts;
    for (const auto& order : all_orders())
        texts.push_back(order_text(order));
    return texts;
}

double order_index(const std::array<Dimension, 4>& order)
{
    static const auto kOrders = all_orders();
    return double(std::find(kOrders.begin(), kOrders.end(), order) - kOrders.begin());
}

std::vector<ExpressionField> plan_fields_list()
{
    using enum ValueKind;
    std::vector<std::string> schedules = spellings<Schedule>();
    schedules.emplace_back("csv");
    // In the order of PlanField.
    return {
        {"gpus", number, "", "GPUs of the job", {}, {}},
        {"nodes", number, "", "nodes that they fill", {}, {}},
        {"gpus_per_node", number, "", "GPUs of one node", {}, {}},
        {"tp", number, "", "tensor parallel degree", {}, {"layout.tp"}},
        {"cp", number, "", "context parallel degree", {}, {"layout.cp"}},
        {"pp", number, "", "pipeline parallel degree", {}, {"layout.pp"}},
        {"dp", number, "", "data parallel degree", {}, {"layout.dp"}},
        {"ep", number, "", "expert parallel degree", {}, {"layout.ep"}},
        {"etp", number, "", "expert tensor parallel degree", {}, {"layout.etp"}},
        {"virtual_stages", number, "", "model chunks per pipeline rank", {}, {"layout.virtual_stages", "vpp"}},
        {"dp_shard", number, "", "ranks that share one sharded copy", {}, {"layout.dp_shard"}},
        {"order", text, "", "dimensions of the mesh, innermost first", order_spellings(), {"layout.order"}},
        {"seq_len", number, "tokens", "sequence length", {}, {"training.seq_len"}},
        {"micro_batch", number, "sequences", "of one rank and pipeline slot", {}, {"training.micro_batch", "mbs"}},
        {"micro_batches", number, "", "per step and pipeline", {}, {"training.micro_batches"}},
        {"global_batch", number, "sequences", "of one step", {}, {"training.global_batch", "gbs"}},
        {"tokens_per_step", number, "tokens", "of one step", {}, {}},
        {"schedule", text, "", "pipeline schedule", schedules, {"training.schedule"}},
        {"sharding", text, "", "what data parallel ranks share out", spellings<Sharding>(), {"training.sharding"}},
        {"recompute", text, "", "activation recomputation", spellings<Recompute>(), {"training.recompute"}},
        {"precision", text, "", "of matrix products", spellings<Precision>(), {"training.precision"}},
        {"sequence_parallel", truth, "", "norms and residuals split over TP", {}, {"training.sequence_parallel"}},
        {"layers", number, "", "of the model", {}, {}},
        {"hidden", number, "", "hidden size", {}, {}},
        {"heads", number, "", "attention heads", {}, {}},
        {"kv_heads", number, "", "key and value heads", {}, {}},
        {"ffn", number, "", "hidden size of the MLP", {}, {}},
        {"vocab", number, "", "padded vocabulary", {}, {}},
        {"experts", number, "", "routed experts of a layer, 0 for a dense model", {}, {}},
        {"parameters", number, "", "of the model", {}, {}},
        {"fused_softmax", truth, "",
            "Megatron's fused softmax kernel takes the shape: heads / tp x micro_batch and seq_len / cp multiples of 4",
            {}, {}},
        {"step_time_s", number, "s", "predicted time of a step", {}, {"step_time"}},
        {"tps_per_gpu", number, "tokens/s", "predicted throughput of one GPU", {}, {}},
        {"tokens_per_second", number, "tokens/s", "predicted throughput of the job", {}, {}},
        {"tflops_per_gpu", number, "TFLOP/s", "as the plan's FLOP convention counts", {}, {}},
        {"mfu", number, "share", "model FLOPs utilisation, 0 to 1 (with fp8 and nvfp4: of the bf16 peak)", {}, {}},
        {"memory_gib", number, "GiB", "predicted memory as the stack reports it", {}, {"memory"}},
        {"memory_device_gib", number, "GiB", "predicted memory of the device, context included", {}, {}},
        {"memory_capacity_gib", number, "GiB", "usable memory of a GPU", {}, {}},
        {"fit", text, "", "whether the memory suffices", {"fits", "tight", "no"}, {}},
        {"days", number, "days", "to train the token budget", {}, {}},
        {"gpu_hours", number, "h", "of all GPUs, to train the token budget", {}, {}},
        {"cost", number, "money", "of the token budget at the given price of a GPU hour", {}, {}},
        {"energy_mwh", number, "MWh", "of the token budget, GPUs at their rated power or the one given", {}, {}},
        {"goodput", number, "share", "of the time that trains, with failures and checkpoints, 0 to 1", {}, {}},
        {"expected_days", number, "days", "to train the token budget, with failures and checkpoints", {}, {}},
        {"expected_cost", number, "money", "of the token budget, with failures and checkpoints", {}, {}},
    };
}

} // namespace

const FieldSet& plan_field_set()
{
    static const FieldSet set(plan_fields_list());
    return set;
}

bool needs_only_layout(const Expression& expression)
{
    return expression.reads().empty() || expression.reads().back() < slot(PlanField::step_time_s);
}

bool reads_layout(const Expression& expression)
{
    return !expression.reads().empty() && expression.reads().front() < slot(PlanField::step_time_s);
}

void fill_layout(PlanValues& values, const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    const ModelShape& model = plan.model;
    const auto set = [&](PlanField field, double value) { values[slot(field)] = value; };
    set(PlanField::gpus, plan.gpus);
    set(PlanField::nodes, plan.nodes());
    set(PlanField::gpus_per_node, plan.cluster.gpus_per_node);
    set(PlanField::tp, layout.tp);
    set(PlanField::cp, layout.cp);
    set(PlanField::pp, layout.pp);
    set(PlanField::dp, layout.dp);
    set(PlanField::ep, layout.ep);
    set(PlanField::etp, layout.etp);
    set(PlanField::virtual_stages, layout.virtual_stages);
    set(PlanField::dp_shard, layout.dp_shard);
    set(PlanField::order, order_index(layout.order));
    set(PlanField::seq_len, training.seq_len);
    set(PlanField::micro_batch, training.micro_batch);
    set(PlanField::micro_batches, training.micro_batches);
    set(PlanField::global_batch, training.global_batch);
    set(PlanField::tokens_per_step, plan.tokens_per_step());
    set(PlanField::schedule, double(training.schedule));
    set(PlanField::sharding, double(training.sharding));
    set(PlanField::recompute, double(training.recompute));
    set(PlanField::precision, double(training.precision));
    set(PlanField::sequence_parallel, training.sequence_parallel ? 1 : 0);
    set(PlanField::layers, model.layers);
    set(PlanField::hidden, double(model.hidden));
    set(PlanField::heads, model.heads);
    set(PlanField::kv_heads, model.kv_heads);
    set(PlanField::ffn, double(model.ffn));
    set(PlanField::vocab, double(plan.padded_vocab));
    set(PlanField::experts, model.experts ? model.experts->count : 0);
    set(PlanField::parameters, model.parameters());
    set(PlanField::fused_softmax, fused_softmax_fits(plan) ? 1 : 0);
    std::fill(values.begin() + std::ptrdiff_t(slot(PlanField::step_time_s)), values.end(),
        std::numeric_limits<double>::quiet_NaN());
    set(PlanField::memory_capacity_gib, plan.cluster.gpu.memory_gib);
}

FigureFields::FigureFields(const ResolvedPlan& base, const TrainingBudget& budget)
    : budget_(budget)
{
    const Precision precision = is_of_products(base.training.precision) ? Precision::bf16 : base.training.precision;
    peak_flops_ = base.cluster.gpu.peak_flops(precision);
    model_flops_per_token_ = model_flops_per_token(base.model, base.training.seq_len);
}

void FigureFields::fill(PlanValues& values, const ResolvedPlan& plan, const LayoutFigures& figures)
{
    const auto set = [&](PlanField field, double value) { values[slot(field)] = value; };
    if (plan.padded_vocab != padded_vocab_) {
        padded_vocab_ = plan.padded_vocab;
        reported_flops_per_token_
            = reported_flops_per_token(plan.model, padded_vocab_, plan.training.seq_len, plan.training.flop_convention);
    }
    const double tokens_per_second = plan.tokens_per_step() / figures.step_time_s;
    const double tps = tokens_per_second / plan.gpus;
    const double hours = budget_.tokens / tokens_per_second / 3600;
    set(PlanField::step_time_s, figures.step_time_s);
    set(PlanField::tps_per_gpu, tps);
    set(PlanField::tokens_per_second, tokens_per_second);
    set(PlanField::tflops_per_gpu, tps * reported_flops_per_token_ / 1e12);
    set(PlanField::mfu, tps * model_flops_per_token_ / peak_flops_);
    set(PlanField::memory_gib, figures.memory_gib);
    set(PlanField::memory_device_gib, figures.memory_device_gib);
    set(PlanField::memory_capacity_gib, plan.cluster.gpu.memory_gib);
    set(PlanField::fit, double(figures.fit));
    set(PlanField::days, hours / 24);
    set(PlanField::gpu_hours, hours * plan.gpus);
    set(PlanField::cost, hours * plan.gpus * budget_.price_per_gpu_hour);
    set(PlanField::energy_mwh, energy_mwh(plan.cluster.gpu, hours * plan.gpus, budget_));
    const double goodput = goodput_of(plan, figures.step_time_s, budget_); // NaN where not known
    set(PlanField::goodput, goodput);
    set(PlanField::expected_days, hours / 24 / goodput);
    set(PlanField::expected_cost, hours * plan.gpus * budget_.price_per_gpu_hour / goodput);
}

void fill_ranges(PlanRanges& ranges, const PlanValues& values)
{
    using enum PlanField;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kRounding = 1e-9; // of a bound
    for (std::size_t i = 0; i < kPlanFields; ++i)
        ranges[i] = std::isnan(values[i]) ? ValueRange{kInfinity, -kInfinity, true} : ValueRange{values[i], values[i]};
    const auto widen = [&](std::initializer_list<PlanField> fields, double low, double high) {
        for (const PlanField field : fields) {
            if (ValueRange& range = ranges[slot(field)]; !range.is_empty())
                range = {std::min(low, range.low * (1 - kRounding)), std::max(high, range.high * (1 + kRounding))};
        }
    };
    widen({step_time_s, days, gpu_hours, cost, energy_mwh}, kInfinity, kInfinity);
    widen({tps_per_gpu, tokens_per_second, tflops_per_gpu, mfu}, 0, 0);
    // An interval between checkpoints is whole steps: longer ones may suit it better.
    for (const PlanField field : {goodput, expected_days, expected_cost})
        ranges[slot(field)] = {0, kInfinity, true};
}

void fill_figures(
    PlanValues& values, const ResolvedPlan& plan, const LayoutFigures& figures, const TrainingBudget& budget)
{
    FigureFields(plan, budget).fill(values, plan, figures);
}

} // namespace fourfold
