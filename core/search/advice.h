// SPDX-License-Identifier: GPL-3.0-or-later
// What would make a plan fit, and what would make it faster: single changes, each predicted, ranked, with their price.
#pragma once

#include "core/predict/prediction.h"
#include "core/search/edits.h"

#include <functional>
#include <memory>
#include <stop_token>

namespace fourfold {

struct Advice {
    PlanEdit edit;
    Fit fit = Fit::no;
    Evidence evidence = Evidence::extrapolated;
    double step_time_s = 0, tps_per_gpu = 0;
    double memory_gib = 0, memory_device_gib = 0;
    // Its price and its gain against the plan as it is.
    double speed_change = 0; // tokens/s of one GPU: -0.2 = a fifth slower
    double job_speed_change = 0; // tokens/s of the whole job
    double memory_change_gib = 0; // of the device, of the largest stage
    int gpus_change = 0;
    bool meets = false; // what the request asks for
};

struct AdviceRequest {
    ResolvedPlan plan; // keeps the rules (check())
    int most = 8; // entries of each list; one of each kind and class of change
    int threads = 0; // 0: one a core
    bool to_fit = true, faster = true;
    // What a plan must do besides fitting into memory, where there is more (constraints of a search).
    std::function<bool(const Prediction&)> also{};
    // The answer to the plan, where the user's own runs moved it: they move every change alike. Null: predict().
    std::shared_ptr<const Prediction> now{};
};

struct AdviceReport {
    Prediction now; // of the plan as it is
    // Where the plan does not fit (or not do what `also` asks): changes that make it so, the cheapest first: those that
    // leave GPUs and numerics as they are, then more GPUs, then other numerics; of each the fastest first. Where no
    // single change is enough, pairs of the changes that save the most. Empty where the plan fits.
    std::vector<Advice> to_fit;
    bool pairs = false; // to_fit holds pairs
    // Changes that fit and raise tokens/s of the job by kWorthwhile or more, in the same order. A change of GPUs counts
    // only where it lowers tokens/s of one GPU by no more than kMostLossOfMoreGpus.
    std::vector<Advice> faster;
    std::int64_t tried = 0;
    bool cancelled = false;
};

inline constexpr double kWorthwhile = 0.01; // share of speed below which a change is not worth naming
inline constexpr double kMostLossOfMoreGpus = 0.2;

// One change, predicted; nothing where it or the plan as it is has no figures. `meets` is left false.
std::optional<Advice> judge(const PlanEdit& edit, const Prediction& now);

// Broken rules: to_fit and faster are empty, `now` has the reasons.
AdviceReport advise(const AdviceRequest& request, std::stop_token stop = {});

// {"tried", "pairs", "to_fit": [...], "faster": [...]}: the key `advice` of `predict --json --advice`.
Json to_json(const AdviceReport& report);

} // namespace fourfold
