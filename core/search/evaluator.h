// SPDX-License-Identifier: GPL-3.0-or-later
// Time and memory of one layout of a search.
#pragma once

#include "core/schedule/pipeline_ends.h"
#include "core/search/fields.h"
#include "core/search/space.h"
#include "core/search/stage_terms.h"

#include <optional>
#include <string>

namespace fourfold {

enum class Outcome { evaluated, broken_rule, does_not_fit };

struct Evaluation {
    Outcome outcome = Outcome::broken_rule;
    LayoutFigures figures; // memory from does_not_fit on, all of evaluated
    std::string code, message; // of the broken rule
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

    [[nodiscard]] std::int64_t simulated() const { return simulated_; } // layouts that took the reference's way

private:
    struct Run {
        ChunkShape shape; // of its first stage
        int first_stage = 0, stages = 1;
        std::optional<StepTerms> step;
    };
    void find_runs();
    bool keeps_rules();
    [[nodiscard]] bool has_closed_form() const;
    void fill_memory();
    void fill_time();
    const StepTerms& step_of(Run& run);
    const ChunkTerms& chunk_of(Run& run);

    const ResolvedPlan& base_;
    const SearchSpace& space_;
    ResolvedPlan plan_;
    std::optional<Candidate> placed_; // the candidate that plan_ holds
    StageTermTable terms_;
    double fragmentation_ = 1;
    bool caches_rules_ = true;

    std::vector<Run> runs_; // stages of the plan's mesh that do the same, in a row
    std::vector<const ChunkTerms*> chunks_; // of the runs, for the candidate
    std::vector<StageRun> times_;
    std::optional<Candidate> judged_; // whose rules `evaluation_` tells; recomputation does not matter
    bool rules_hold_ = false;
    Evaluation evaluation_;
    std::int64_t simulated_ = 0;
};

} // namespace fourfold
