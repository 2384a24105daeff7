// SPDX-License-Identifier: GPL-3.0-or-later
// What training a token budget takes: time, energy, money, and how much of the time failures and checkpoints leave.
#pragma once

#include "core/plan/plan.h"

#include <limits>
#include <string>

namespace fourfold {

// Who said how many tokens a training has.
enum class TokensFrom { person, plan, parameters };
template <>
inline constexpr auto kWords<TokensFrom> = std::to_array<std::string_view>({"person", "plan", "parameters"});

// What a person says about the job as a whole; NaN: not known, and with it all that would follow from it.
struct TrainingBudget {
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    double tokens = 0; // in total
    double price_per_gpu_hour = kUnknown; // in any currency
    // Interruptions of one GPU and hour, whatever their cause, for the job as a whole independent of each other.
    // Llama 3 405B saw 419 unexpected ones on 16,384 GPUs in 54 days (arXiv:2407.21783, section 3.3.4): 2.0e-5.
    double failures_per_gpu_hour = kUnknown;
    double storage_gb_s = kUnknown; // 10^9 bytes/s that the whole job writes while it saves a checkpoint
    double restart_s = 600; // from an interruption to the first step again: noticed, restarted, checkpoint loaded
    double facility_factor = 1; // energy of the site over that of its GPUs (hosts, network, cooling)
    double failures_per_node_hour = kUnknown; // beside those of its GPUs, or instead of them
    double gpu_power_w = kUnknown; // that a GPU draws on average; not known: its rated power
    TokensFrom tokens_from = TokensFrom::person;

    // Of either kind. A job then has failures_per_hour(); not known: NaN.
    [[nodiscard]] bool knows_failures() const;
    [[nodiscard]] double failures_per_hour(const ResolvedPlan& plan) const;
    [[nodiscard]] double power_w(const Gpu& gpu) const; // NaN where neither is known
};

// 20 tokens a parameter (Hoffmann et al. 2022, arXiv:2203.15556, table 3).
inline constexpr double kTokensPerParameter = 20;
double chinchilla_tokens(const ModelShape& model);

// Bytes of one checkpoint from which training goes on exactly: weights as they compute, fp32 masters where they differ,
// two optimizer states (Muon: one of its matrices). 14 bytes a parameter for bf16 with Adam.
double checkpoint_bytes(const ResolvedPlan& plan);
double checkpoint_bytes_per_parameter(const ResolvedPlan& plan);

// Time between two checkpoints, in seconds of training, for a write time and the mean time between interruptions.
// Young 1974 (doi:10.1145/361147.361115), equation for the optimum: sqrt(2 write mtbf).
double young_interval_s(double write_s, double mtbf_s);
// Daly 2006 (doi:10.1016/j.future.2004.11.016), equation 37: the same to higher order; mtbf where write >= 2 mtbf.
double daly_interval_s(double write_s, double mtbf_s);
// Daly 2006, equation 20: wall time over training time, with interruptions at any moment, restarts and writes included.
// interval_s: training between two checkpoints. Infinite where a checkpoint can hardly ever be reached.
double expected_stretch(double interval_s, double write_s, double restart_s, double mtbf_s);

struct Economics {
    double tokens = 0, steps = 0;
    TokensFrom tokens_from = TokensFrom::person;
    double days = 0, gpu_hours = 0, energy_mwh = 0, cost = 0; // nothing ever fails, nothing is saved
    // With interruptions; NaN where the failure rate or the storage is not known.
    double checkpoint_bytes = 0, checkpoint_s = 0; // size, time to write
    double mtbf_hours = 0; // of the whole job
    double young_s = 0, interval_s = 0; // Young's; Daly's, which the figures below take, rounded to whole steps
    double interval_steps = 0;
    double failures = 0; // expected over the whole training
    double goodput = 0; // share of the wall time that trains, 0 to 1
    double expected_days = 0, expected_gpu_hours = 0, expected_energy_mwh = 0, expected_cost = 0;
};

// `step_time_s`: of a full batch. A batch ramp-up is not counted: its smaller steps train the same tokens.
Economics economics_of(const ResolvedPlan& plan, double step_time_s, const TrainingBudget& budget);
// Only the goodput: what a search asks for each layout.
double goodput_of(const ResolvedPlan& plan, double step_time_s, const TrainingBudget& budget);

// Of the site, for so many hours of one GPU; TrainingBudget::kUnknown where its power is not known.
double energy_mwh(const Gpu& gpu, double gpu_hours, const TrainingBudget& budget);

Json to_json(const Economics& economics); // NaN as null
Json to_json(const TrainingBudget& budget); // by the names of the plan's `budget`; what is not known: null

} // namespace fourfold
