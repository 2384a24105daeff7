// SPDX-License-Identifier: GPL-3.0-or-later
// Time and memory of one layout of a search.
#pragma once

#include "core/memory/interleaved_peak.h"
#include "core/schedule/pipeline_bound.h"
#include "core/schedule/pipeline_ends.h"
#include "core/schedule/schedule_order.h"
#include "core/search/fields.h"
#include "core/search/layout_rules.h"
#include "core/search/layout_stages.h"
#include "core/search/space.h"

#include <list>
#include <optional>
#include <string_view>
#include <vector>

namespace fourfold {

enum class LayoutOutcome { evaluated, bounded, broken_rule, does_not_fit };

struct Evaluation {
    LayoutOutcome outcome = LayoutOutcome::broken_rule;
    LayoutFigures figures; // memory from does_not_fit on; the step time of evaluated, a lower bound of it of bounded
    std::string_view code; // of the first broken rule; check() has its message
};

// What a prediction says of a layout; what it does not know is 0.
LayoutFigures figures_of(const Prediction& prediction);

// The reference: the whole operation list and the event simulator, as predict() does. `code` of the evaluation: kept in
// `codes`.
Evaluation evaluate_by_simulation(const ResolvedPlan& plan, std::set<std::string>& codes);

// Evaluates layouts of one space one after the other, and keeps the terms that they share: layers are built and priced
// once for all that cut them alike, stages once for all micro-batches; memory is the largest number of micro-batches in
// flight, step time core/schedule/pipeline_ends.h. Equal to evaluate_by_simulation, which it calls only for partial
// recomputation, schedule files and GPUs without a peak rate. One per thread. Fast where neighbours in the order of
// for_each_candidate follow each other.
class LayoutEvaluator {
public:
    LayoutEvaluator(const ResolvedPlan& base, const SearchSpace& space);
    // The plan of a candidate, ready for estimate() and evaluate(); valid until the next call.
    const ResolvedPlan& set(const Candidate& candidate);
    // Rules, memory, and the step time where it has a formula; elsewhere (virtual stages, zero bubble) the outcome is
    // `bounded` and the step time a lower bound, close to it.
    const Evaluation& estimate() { return evaluate(false); }
    // The same, and where a step time has no formula the schedule's actions are timed one by one.
    const Evaluation& evaluate() { return evaluate(true); }

    // Layouts by the way that they took.
    struct Ways {
        std::int64_t formula = 0, timed = 0, reference = 0;
    };
    [[nodiscard]] const Ways& ways() const { return ways_; }

private:
    // The action lists of a pipeline and an order to time them in. Layouts that are sharded, placed or recomputed
    // in other ways share them.
    struct Actions {
        Schedule schedule = kPlainSchedule;
        int stages = 0, virtual_stages = 0, micro_batches = 0;
        std::vector<std::vector<Action>> lists;
        ScheduleOrder order;
    };
    [[nodiscard]] bool has_formula() const; // of its step time
    [[nodiscard]] bool composes() const;
    const Evaluation& evaluate(bool exactly);
    void find_stages();
    const Actions& actions();
    [[nodiscard]] double peak_of(std::size_t run, int stage);
    [[nodiscard]] double replayed_peak(std::size_t run, int stage);
    void fill_memory();
    void fill_times();
    [[nodiscard]] double hop();
    // When the runs end their last action; `length_without_hops`: if not null, the length were hops to take no time.
    std::span<const double> formula_ends(double hop, double* length_without_hops);
    std::span<const double> timed_ends(double hop, double* length_without_hops);
    std::span<const double> least_ends(double hop);
    [[nodiscard]] double busiest_period() const;
    [[nodiscard]] double least_step_time();
    using PipelineEndsOf = std::span<const double> (LayoutEvaluator::*)(double hop, double* length_without_hops);
    double exact_step_time(PipelineEndsOf ends);

    const ResolvedPlan& base_;
    const SearchSpace& space_;
    ResolvedPlan plan_;
    std::optional<Candidate> placed_; // the candidate that plan_ holds
    LayoutRules rules_;
    StageTermTable terms_;
    double fragmentation_ = 1;

    // Stages of the placed degrees, whatever their order.
    struct KnownStages {
        Sharding sharding = Sharding::none;
        int virtual_stages = 1;
        Schedule schedule = kPlainSchedule;
        LayoutStages stages;
    };
    std::vector<KnownStages> known_stages_;
    // Of the placed layout's stages.
    LayoutStages* stages_ = nullptr; // null: not looked for
    double overhead_gib_ = 0;
    std::vector<std::pair<std::pair<int, bool>, double>> hops_; // by micro-batch size, with virtual stages or without

    // Of its micro-batch and recomputation, by kind of chunk.
    int simulated_ = 1; // micro-batches of which the schedule consists; the rest repeats its steady state
    std::vector<ChunkBytes> bytes_;
    std::vector<ComposedPass> forwards_, backwards_;
    std::vector<double> weight_products_;
    std::vector<StageRun> times_; // of the runs, both passes of all chunks
    std::vector<StageLoad> loads_; // of a stage of the runs
    std::vector<StageUsage> usage_; // of the runs

    // Kept for their memory.
    std::vector<ChunkBytes> rank_bytes_;
    std::vector<BoundRun> bounds_;
    PipelineEnds pipeline_ends_;
    std::vector<double> ends_;
    std::list<Actions> known_actions_; // the last one used first
    std::size_t known_steps_ = 0; // of all of them
    ScheduleTimes schedule_times_;
    ScheduleOrder::Workspace order_workspace_;
    ScheduleOrder::Ends order_ends_;
    Evaluation evaluation_;
    std::set<std::string> codes_;
    Ways ways_;
};

} // namespace fourfold
