// SPDX-License-Identifier: GPL-3.0-or-later
// The documented names over which constraints, filters and objectives of plans are written, and their values.
#pragma once

#include "core/expression/expression.h"
#include "core/predict/prediction.h"
#include "core/search/economics.h"

#include <array>

namespace fourfold {

// Slots of plan_field_set(), in its order. Those before `step_time_s` are known without a prediction.
enum class PlanField {
    gpus,
    nodes,
    gpus_per_node,
    tp,
    cp,
    pp,
    dp,
    ep,
    etp,
    virtual_stages,
    dp_shard,
    order,
    seq_len,
    micro_batch,
    micro_batches,
    global_batch,
    tokens_per_step,
    schedule,
    sharding,
    recompute,
    precision,
    sequence_parallel,
    layers,
    hidden,
    heads,
    kv_heads,
    ffn,
    vocab,
    experts,
    parameters,
    fused_softmax,
    step_time_s, // from here on: figures of the prediction
    tps_per_gpu,
    tokens_per_second,
    tflops_per_gpu,
    mfu,
    memory_gib,
    memory_device_gib,
    memory_capacity_gib,
    fit,
    days,
    gpu_hours,
    cost,
    energy_mwh,
    goodput,
    expected_days,
    expected_cost,
    count,
};
inline constexpr std::size_t kPlanFields = static_cast<std::size_t>(PlanField::count);
using PlanValues = std::array<double, kPlanFields>;

const FieldSet& plan_field_set();
inline std::size_t slot(PlanField field)
{
    return static_cast<std::size_t>(field);
}
// True where an expression can be judged before a layout is evaluated.
bool needs_only_layout(const Expression& expression);
// True where an expression reads fields of the layout.
bool reads_layout(const Expression& expression);

// What a search knows of an evaluated layout. Not known: NaN.
struct LayoutFigures {
    double step_time_s = 0, memory_gib = 0, memory_device_gib = 0;
    Fit fit = Fit::no;
};

void fill_layout(PlanValues& values, const ResolvedPlan& plan); // figures not known: NaN
void fill_figures(
    PlanValues& values, const ResolvedPlan& plan, const LayoutFigures& figures, const TrainingBudget& budget);

using PlanRanges = std::array<ValueRange, kPlanFields>;
// What is certain of a layout of which `values` are filled with a lower bound of its step time.
void fill_ranges(PlanRanges& ranges, const PlanValues& values);

// fill_figures for many layouts of one model, GPU and sequence length: what they share is worked out once.
class FigureFields {
public:
    FigureFields(const ResolvedPlan& base, const TrainingBudget& budget);
    void fill(PlanValues& values, const ResolvedPlan& plan, const LayoutFigures& figures);

private:
    TrainingBudget budget_;
    double peak_flops_ = 0, model_flops_per_token_ = 0;
    double reported_flops_per_token_ = 0; // for padded_vocab_
    int64_t padded_vocab_ = -1;
};

} // namespace fourfold
