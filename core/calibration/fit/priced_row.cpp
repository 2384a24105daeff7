// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fit/priced_row.h"
#include "core/predict/fit.h"
#include "core/predict/step_time.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

Constant constant_named(const std::string& name)
{
    for (const ConstantInfo& constant : kConstantTable) {
        if (constant.name == name)
            return constant.id;
    }
    return Constant::zero;
}

// Memory is at its peak once the pipeline is full: what follows repeats. Unless the schedule fills up to its last
// micro-batch.
int micro_batches_to_reach_the_peak(const ResolvedPlan& plan)
{
    const int all = micro_batches_to_simulate(plan);
    if (traits_of(plan.training.schedule).in_flight == InFlight::all)
        return all;
    return std::min(all, 4 * plan.layout.pp);
}

bool same_work(const StageProgram& a, const StageProgram& b)
{
    return a.step_operations == b.step_operations
        && std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(),
            [](const ChunkProgram& x, const ChunkProgram& y) { return x.operations == y.operations; });
}

} // namespace

PricedRow::PricedRow(const FitRow& row)
    : row_(row)
{
}

Expected<PricedRow> PricedRow::make(const FitRow& row, const Stack& base)
{
    const std::vector<Reason> reasons = check(row.plan);
    if (!reasons.empty())
        return Problem{ProblemCode::bad_input, reasons.front().message, "", row.label};
    PricedRow priced(row);
    priced.row_.plan.stack.constants = base.constants;
    priced.row_.plan.stack.gpu_constants = base.gpu_constants;
    priced.row_.plan.stack.measured = base.measured;
    // What was measured on the cluster itself holds for what the stack says only in general, see resolve().
    if (const auto& calibration = row.plan.cluster.calibration; calibration && calibration->stack == base.id)
        priced.row_.plan.stack.gpu_constants[row.plan.cluster.gpu.id].insert(
            calibration->constants.begin(), calibration->constants.end());
    const ResolvedPlan& plan = priced.row_.plan;
    FOURFOLD_TRY(priced.schedule_, plan_schedule(plan, micro_batches_to_simulate(plan)));
    if (!priced.schedule_.listed())
        return too_long_to_list(priced.schedule_.shape, row.label);
    priced.order_.emplace(priced.schedule_.actions, plan.layout.virtual_stages);
    FOURFOLD_TRY(priced.short_schedule_, plan_schedule(plan, micro_batches_to_reach_the_peak(plan)));
    priced.program_ = priced.build();
    priced.context_.emplace(plan);
    if (!(priced.context_->peak_flops > 0) || !(priced.context_->memory_bytes_s > 0))
        return Problem{ProblemCode::bad_input,
            "the GPU has no peak rate for precision " + to_text(plan.training.precision), "", row.label};
    return priced;
}

void PricedRow::try_constants(const std::vector<std::string>& names)
{
    names_ = names;
    ids_.clear();
    base_.clear();
    shaping_.clear();
    for (const std::string& name : names) {
        ids_.push_back(constant_named(name));
        base_.push_back(row_.plan.stack.constant(name, gpu(), info(ids_.back()).prior));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (shapes_operations(i))
            shaping_.push_back(i);
    }
    built_with_.clear();
    device_gib_ = 0;
    whole_context_ = false;
    const double quick = step_time_s(shifted());
    whole_context_ = true;
    whole_context_ = step_time_s(shifted()) != quick;
}

// Values that differ from those before the trial, to see what follows from them.
std::vector<double> PricedRow::shifted() const
{
    std::vector<double> values;
    for (double value : base_)
        values.push_back(value * 0.9 + 1e-6);
    return values;
}

std::vector<StageProgram> PricedRow::build() const
{
    return build_program(row_.plan, schedule_.stage_of_chunk);
}

void PricedRow::set_stack(const std::vector<double>& values)
{
    auto& own = row_.plan.stack.gpu_constants[gpu()];
    for (std::size_t i = 0; i < names_.size(); ++i)
        own[names_[i]] = values[i];
}

bool PricedRow::shapes_operations(std::size_t constant)
{
    std::vector<double> values = base_;
    set_stack(values);
    const std::vector<StageProgram> with = build();
    values[constant] = values[constant] * 1.25 + 0.01;
    set_stack(values);
    const std::vector<StageProgram> without = build();
    set_stack(base_);
    return !std::equal(with.begin(), with.end(), without.begin(), without.end(),
        [](const StageProgram& a, const StageProgram& b) { return same_work(a, b); });
}

double PricedRow::step_time_s(const std::vector<double>& values)
{
    bool rebuild = built_with_.size() != shaping_.size();
    for (std::size_t i = 0; i < shaping_.size() && !rebuild; ++i)
        rebuild = built_with_[i] != values[shaping_[i]];
    if (rebuild) {
        set_stack(values);
        program_ = build();
        built_with_.clear();
        for (std::size_t i : shaping_)
            built_with_.push_back(values[i]);
    }
    if (whole_context_) {
        set_stack(values);
        context_.emplace(row_.plan);
    } else {
        for (std::size_t i = 0; i < ids_.size(); ++i)
            context_->constants.set(ids_[i], values[i]);
    }
    // Memory constants are not under trial together with those of time: one look is enough.
    const double pressure = context_->constants[Constant::allocator_pressure];
    if (pressure > 0 && device_gib_ <= 0)
        device_gib_ = memory(values).device_gib;
    context_->pressure = pressure > 0 ? pressure * memory_pressure(device_gib_, capacity_gib()) : 0;
    const double seconds = step_time(row_.plan, program_, schedule_, *context_, &*order_).exposed.total();
    return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

PricedRow::Memory PricedRow::memory(const std::vector<double>& values)
{
    set_stack(values);
    program_ = build();
    built_with_.clear(); // for step_time_s, which may try other constants
    const MemoryAnswer answer = memory_answer(row_.plan, program_, short_schedule_);
    return {answer.published_gib, answer.device_gib};
}

} // namespace fourfold
