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

// Whether two operation lists ask for the same work.
bool same_work(const Operation& a, const Operation& b)
{
    return a.kind == b.kind && a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch && a.bytes == b.bytes
        && a.repeat == b.repeat && a.blocks == b.blocks && a.collective == b.collective && a.window == b.window;
}
bool same_work(const std::vector<Operation>& a, const std::vector<Operation>& b)
{
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const Operation& x, const Operation& y) { return same_work(x, y); });
}
bool same_work(const StageProgram& a, const StageProgram& b)
{
    return same_work(a.step_operations, b.step_operations)
        && std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(),
            [](const ChunkProgram& x, const ChunkProgram& y) { return same_work(x.operations, y.operations); });
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
    const ResolvedPlan& plan = priced.row_.plan;
    FOURFOLD_TRY(priced.actions_,
        make_schedule(
            plan.training.schedule, plan.layout.pp, plan.layout.virtual_stages, micro_batches_to_simulate(plan)));
    priced.program_ = build_program(plan);
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
    const std::vector<StageProgram> with = build_program(row_.plan);
    values[constant] = values[constant] * 1.25 + 0.01;
    set_stack(values);
    const std::vector<StageProgram> without = build_program(row_.plan);
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
        program_ = build_program(row_.plan);
        built_with_.clear();
        for (std::size_t i : shaping_)
            built_with_.push_back(values[i]);
    }
    if (row_.plan.cluster.gpu.is_cpu()) { // shared cores change several constants at once
        set_stack(values);
        context_.emplace(row_.plan);
    } else {
        for (std::size_t i = 0; i < ids_.size(); ++i)
            context_->constants.set(ids_[i], values[i]);
    }
    const double seconds = step_time(row_.plan, program_, actions_, *context_).exposed.total();
    return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

PricedRow::Memory PricedRow::memory(const std::vector<double>& values)
{
    set_stack(values);
    program_ = build_program(row_.plan);
    built_with_.clear();
    const MemoryAnswer answer = memory_answer(row_.plan, program_, actions_);
    return {answer.published_gib, answer.device_gib};
}

} // namespace fourfold
