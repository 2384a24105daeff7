// SPDX-License-Identifier: GPL-3.0-or-later
// Time and memory of one layout of a search.
#pragma once

#include "core/schedule/pipeline_ends.h"
#include "core/schedule/schedule_order.h"
#include "core/search/fields.h"
#include "core/search/space.h"
#include "core/search/stage_terms.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class LayoutOutcome { evaluated, bounded, broken_rule, does_not_fit };

struct Evaluation {
    LayoutOutcome outcome = LayoutOutcome::broken_rule;
    LayoutFigures figures; // memory from does_not_fit on; the step time of evaluated, a lower bound of it of bounded
    std::string code; // of the first broken rule; check() has its message
};

// The reference: the whole operation list and the event simulator, as predict() does.
Evaluation evaluate_by_simulation(const ResolvedPlan& plan);

// Evaluates layouts of one space one after the other, and keeps the terms that they share: the stages that differ are
// built and priced once, pipelines take core/schedule/pipeline_ends.h, memory the largest number of micro-batches in
// flight. Equal to evaluate_by_simulation, which it calls for what has no such form (virtual stages, zero bubble, fewer
// micro-batches than stages, batches too long to be simulated whole). One per thread. Fast where neighbours in the
// order of for_each_candidate follow each other.
class LayoutEvaluator {
public:
    LayoutEvaluator(const ResolvedPlan& base, const SearchSpace& space);
    // The plan of a candidate, ready for evaluate(); valid until the next call.
    const ResolvedPlan& set(const Candidate& candidate);
    const Evaluation& evaluate();
    // The same, but where a step time has no formula, `worth` is asked first whether a layout with these figures, of
    // which the step time is a lower bound, could matter: if not, it is not timed.
    const Evaluation& evaluate(const std::function<bool(const LayoutFigures&)>& worth);

    // Layouts by the way that they took.
    struct Ways {
        std::int64_t formula = 0, timed = 0, reference = 0;
    };
    [[nodiscard]] const Ways& ways() const { return ways_; }

private:
    // Stages in a row that do the same. With virtual stages every stage is a run of its own.
    struct Run {
        std::vector<ChunkShape> shapes; // of its first stage
        int first_stage = 0, stages = 1;
        std::shared_ptr<const StepTerms> step; // shared by runs of the same shapes
    };
    // The action lists of a pipeline and an order to time them in.
    struct Actions {
        Schedule schedule = Schedule::one_f_one_b;
        int stages = 0, virtual_stages = 0, micro_batches = 0;
        std::vector<std::vector<Action>> lists;
        std::optional<ScheduleOrder> order;
    };
    void find_runs();
    [[nodiscard]] bool is_simulated_whole() const;
    // The first rule that the layout breaks, or nullptr.
    const Evaluation* broken_rule();
    [[nodiscard]] bool has_closed_form() const;
    const Actions& actions();
    void collect_terms();
    [[nodiscard]] double peak_of(const Run& run, std::size_t index);
    void fill_memory();
    void fill_times();
    [[nodiscard]] double bound() const;
    void fill_step_time();

    const ResolvedPlan& base_;
    const SearchSpace& space_;
    ResolvedPlan plan_;
    std::optional<Candidate> placed_; // the candidate that plan_ holds
    StageTermTable terms_;
    double fragmentation_ = 1;

    std::vector<Run> runs_;
    std::vector<const ChunkTerms*> chunks_; // of each run's shapes, one run after the other
    double pressure_ = 0;
    std::vector<StageRun> times_; // of the runs, both passes of all chunks
    std::optional<Actions> actions_;
    // Rules before and after those of the batch, of the stages that plan_ holds; code empty: kept.
    std::optional<Evaluation> before_batch_, after_batch_;
    Schedule judged_schedule_ = Schedule::one_f_one_b; // for which they were judged
    std::array<Evaluation, 5> broken_batch_; // by BatchRule
    Evaluation evaluation_;
    Ways ways_;
};

} // namespace fourfold
