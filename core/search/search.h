// SPDX-License-Identifier: GPL-3.0-or-later
// Every layout of a space, evaluated on every core: the best by an objective, the Pareto front, and why the others were
// left out. The result does not depend on the number of threads, but for how many layouts a bound spared from being
// timed.
#pragma once

#include "core/search/objective.h"
#include "core/search/space.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

namespace fourfold {

// Step time of a layout over the model's (or over a lower bound of it), by what is known of the layout beside the
// model.
using StepStretch = std::function<double(const ResolvedPlan& plan, double step_time_s)>;

struct SearchRequest {
    ResolvedPlan plan; // model, cluster, stack, batch, precision: all that the axes do not vary
    SearchSpace space;
    std::vector<Expression> constraints; // of plan_field_set(); all must hold. Each is judged, and named, by itself
    Objective objective;
    TrainingBudget budget;
    // Order by what is expected of a pick given how well its kind was measured; else by the bare objective.
    bool expected = false;
    int top = 10; // how many of the best to keep
    int threads = 0; // 0: one a core
    // Time every layout that fits, also where a lower bound keeps it out of the best and the Pareto front.
    bool every = false;
    // Leave out what fits, but makes the plan's software stop (core/search/refused.h); it is counted.
    bool hides_refused = false;
    // Makes what each thread asks of every layout, as use_own_runs() does (core/calibration/user/evidence.h); null: the
    // model's times hold.
    std::function<StepStretch()> stretch;

    // `condition` (of plan_field_set()) must hold as well: what it joins by `and` becomes one constraint each.
    void require(const Expression& condition);
};

// Refuses an objective or a constraint that reads a figure which is not known: it orders nothing and holds for
// nothing, and an answer would be one by chance. `option`: what stands before their names, "--" on a command line.
Expected<void> check_known(const SearchRequest& request, const std::string& option = "");

struct FoundLayout {
    Candidate candidate{};
    LayoutFigures figures{}; // stretched
    double stretch = 1; // of the step time, over the model's
    double seconds_per_sequence = 0; // step time over the global batch: what compares rounded batches
    double objective = 0; // in its own unit
    double risk = 0; // of not fitting, 0 to 1
    double weighed = 0; // the objective as it ranks: of a layout that may well not fit, what it is expected to bring
    int place = 0; // among the best, from 1; ties share one
    double may_beat_first = 0; // share by which it may be better than the first, with 90 % confidence
};

// Layouts, each counted once, under the first thing that keeps it from being a result.
struct SearchCounts {
    std::int64_t enumerated = 0; // all below together
    std::int64_t broken_rules = 0; // of core/plan/check_rules.h
    std::int64_t constrained = 0; // by a constraint
    std::int64_t does_not_fit = 0; // memory
    std::int64_t refused = 0; // fits, and the software would stop; 0 unless SearchRequest::hides_refused
    std::int64_t bounded = 0; // kept out of the best by a lower bound of their step time, which was not simulated
    std::int64_t evaluated = 0; // step time and memory known
    SearchCounts& operator+=(const SearchCounts& other);
    friend SearchCounts operator+(SearchCounts a, const SearchCounts& b) { return a += b; }
    bool operator==(const SearchCounts&) const = default;
};

// Why layouts were left out: a rule's code, "memory", kStackStops, or the text of a constraint.
struct Rejection {
    std::string code;
    std::string example; // what was said of the first of them; empty for memory and constraints
    std::int64_t count = 0;
};

// How a constraint fared over the layouts that keep the rules (and, where it reads figures, that fit).
struct ConstraintOutcome {
    std::string text;
    std::int64_t judged = 0, held = 0;
    double nearest_miss = 0; // smallest distance from holding, in the constraint's own unit; 0 where some held it
    std::optional<Candidate> nearest; // the layout that came this near, where none held it
};

struct SearchResult {
    // Best first (core/search/ranking.h); of ties the one with less memory.
    std::vector<FoundLayout> best;
    // No other layout is at least as good in tokens/s, memory of a GPU and number of GPUs, and better in one. Sorted by
    // GPUs, then memory.
    std::vector<FoundLayout> pareto;
    SearchCounts counts;
    std::vector<Rejection> rejections; // most frequent first
    std::vector<ConstraintOutcome> constraints; // as in the request
    // Where layouts do not fit: the one that needs the least memory (objective and time not known).
    std::optional<FoundLayout> smallest_unfit;
    bool cancelled = false;
    double seconds = 0;
};

// Called from worker threads, one call at a time. `found`: layouts as they are evaluated, in no particular order.
struct SearchObserver {
    std::function<void(std::span<const FoundLayout>)> found;
    std::function<void(double share, const SearchCounts& counts)> progress; // share of the space, 0 to 1
};

// Runs until the space is searched or `stop` is requested; what was found until then is in the result.
SearchResult search(const SearchRequest& request, const SearchObserver& observer = {}, std::stop_token stop = {});

// The plan of a found layout, as predict() takes it.
ResolvedPlan plan_of(const FoundLayout& found, const SearchRequest& request);

} // namespace fourfold
