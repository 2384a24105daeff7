// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/economics.h"

#include "core/program/muon.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

constexpr double kHour = 3600, kDay = 24 * kHour;

// The checkpoint interval of whole steps nearest to Daly's, at least one.
double steps_between(double step_time_s, double write_s, double mtbf_s)
{
    return std::max(1.0, std::round(daly_interval_s(write_s, mtbf_s) / step_time_s));
}

double write_seconds(const ResolvedPlan& plan, const TrainingBudget& budget)
{
    return checkpoint_bytes(plan) / (budget.storage_gb_s * 1e9);
}

double mtbf_seconds(const ResolvedPlan& plan, const TrainingBudget& budget)
{
    return kHour / budget.failures_per_hour(plan);
}

Json known(double value)
{
    return std::isfinite(value) ? Json(value) : Json();
}

} // namespace

double chinchilla_tokens(const ModelShape& model)
{
    return kTokensPerParameter * model.parameters();
}

bool TrainingBudget::knows_failures() const
{
    return !std::isnan(failures_per_gpu_hour) || !std::isnan(failures_per_node_hour);
}

double TrainingBudget::failures_per_hour(const ResolvedPlan& plan) const
{
    const auto of = [](double rate, double count) { return std::isnan(rate) ? 0 : rate * count; };
    return knows_failures() ? of(failures_per_gpu_hour, plan.gpus) + of(failures_per_node_hour, plan.nodes())
                            : kUnknown;
}

double TrainingBudget::power_w(const Gpu& gpu) const
{
    return !std::isnan(gpu_power_w) ? gpu_power_w : gpu.power_w > 0 ? gpu.power_w : kUnknown;
}

double checkpoint_bytes_per_parameter(const ResolvedPlan& plan)
{
    const Training& training = plan.training;
    // Weights that compute in fp8 are kept in bf16.
    const double weights = std::max(2.0, bytes_per_element(training.precision));
    const double masters = weights < 4 ? 4 : 0;
    return weights + masters + states_per_parameter(plan) * bytes_per_element(training.optimizer_state_dtype);
}

double checkpoint_bytes(const ResolvedPlan& plan)
{
    return plan.model.parameters() * checkpoint_bytes_per_parameter(plan);
}

double young_interval_s(double write_s, double mtbf_s)
{
    return std::sqrt(2 * write_s * mtbf_s);
}

double daly_interval_s(double write_s, double mtbf_s)
{
    if (write_s >= 2 * mtbf_s)
        return mtbf_s;
    const double share = write_s / (2 * mtbf_s);
    return young_interval_s(write_s, mtbf_s) * (1 + std::sqrt(share) / 3 + share / 9) - write_s;
}

double expected_stretch(double interval_s, double write_s, double restart_s, double mtbf_s)
{
    return mtbf_s / interval_s * std::exp(restart_s / mtbf_s) * std::expm1((interval_s + write_s) / mtbf_s);
}

double goodput_of(const ResolvedPlan& plan, double step_time_s, const TrainingBudget& budget)
{
    if (!budget.knows_failures() || std::isnan(budget.storage_gb_s))
        return TrainingBudget::kUnknown;
    if (budget.failures_per_hour(plan) <= 0)
        return 1;
    const double write = write_seconds(plan, budget), mtbf = mtbf_seconds(plan, budget);
    const double interval = steps_between(step_time_s, write, mtbf) * step_time_s;
    return 1 / expected_stretch(interval, write, budget.restart_s, mtbf);
}

double energy_mwh(const Gpu& gpu, double gpu_hours, const TrainingBudget& budget)
{
    return gpu_hours * budget.power_w(gpu) * budget.facility_factor / 1e6;
}

Economics economics_of(const ResolvedPlan& plan, double step_time_s, const TrainingBudget& budget)
{
    Economics out;
    out.tokens = budget.tokens;
    out.tokens_from = budget.tokens_from;
    out.steps = std::ceil(budget.tokens / plan.tokens_per_step());
    const double seconds = budget.tokens / plan.tokens_per_step() * step_time_s;
    out.days = seconds / kDay;
    out.gpu_hours = seconds / kHour * plan.gpus;
    out.energy_mwh = energy_mwh(plan.cluster.gpu, out.gpu_hours, budget);
    out.cost = out.gpu_hours * budget.price_per_gpu_hour;
    out.checkpoint_bytes = checkpoint_bytes(plan);
    out.checkpoint_s = write_seconds(plan, budget);
    out.mtbf_hours = mtbf_seconds(plan, budget) / kHour;
    const double mtbf = out.mtbf_hours * kHour;
    out.young_s = young_interval_s(out.checkpoint_s, mtbf);
    out.interval_steps = steps_between(step_time_s, out.checkpoint_s, mtbf);
    if (std::isnan(out.checkpoint_s) || std::isnan(mtbf))
        out.interval_steps = TrainingBudget::kUnknown; // std::max drops NaN
    out.interval_s = out.interval_steps * step_time_s;
    out.goodput = goodput_of(plan, step_time_s, budget);
    out.expected_days = out.days / out.goodput;
    out.expected_gpu_hours = out.gpu_hours / out.goodput;
    out.expected_energy_mwh = out.energy_mwh / out.goodput;
    out.expected_cost = out.cost / out.goodput;
    out.failures = out.expected_days * kDay / mtbf;
    return out;
}

Json to_json(const Economics& economics)
{
    return {{"tokens", economics.tokens}, {"tokens_from", to_text(economics.tokens_from)}, {"steps", economics.steps},
        {"days", economics.days}, {"gpu_hours", economics.gpu_hours}, {"energy_mwh", known(economics.energy_mwh)},
        {"cost", known(economics.cost)}, {"checkpoint_bytes", economics.checkpoint_bytes},
        {"checkpoint_s", known(economics.checkpoint_s)}, {"mtbf_hours", known(economics.mtbf_hours)},
        {"young_interval_s", known(economics.young_s)}, {"checkpoint_interval_s", known(economics.interval_s)},
        {"checkpoint_interval_steps", known(economics.interval_steps)}, {"failures", known(economics.failures)},
        {"goodput", known(economics.goodput)}, {"expected_days", known(economics.expected_days)},
        {"expected_gpu_hours", known(economics.expected_gpu_hours)},
        {"expected_energy_mwh", known(economics.expected_energy_mwh)},
        {"expected_cost", known(economics.expected_cost)}};
}

Json to_json(const TrainingBudget& budget)
{
    return {{"tokens", budget.tokens}, {"tokens_from", to_text(budget.tokens_from)},
        {"price_per_gpu_hour", known(budget.price_per_gpu_hour)},
        {"gpu_mtbf_hours", known(1 / budget.failures_per_gpu_hour)},
        {"node_mtbf_hours", known(1 / budget.failures_per_node_hour)}, {"storage_gb_s", known(budget.storage_gb_s)},
        {"restart_s", budget.restart_s}, {"gpu_power_w", known(budget.gpu_power_w)},
        {"facility_factor", budget.facility_factor}};
}

} // namespace fourfold
