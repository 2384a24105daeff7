// SPDX-License-Identifier: GPL-3.0-or-later
// The stages of a layout's pipeline, told apart only where they differ, with all terms that do not depend on the
// micro-batch and on recomputation.
#pragma once

#include "core/search/stage_terms.h"

#include <span>
#include <vector>

namespace fourfold {

class LayoutStages {
public:
    // Neighbouring stages that hold the same kinds of chunks.
    struct Run {
        int first_stage = 0, stages = 1;
        int receives = 0; // hops of a micro-batch to one of these stages, both directions
        StageParameters parameters; // of one of them
        StageBytes bytes; // of one of them
    };
    // `table`: set to the plan's layout. Reads degrees, stage_layers, schedule and sharding.
    void find(const ResolvedPlan& plan, const StageTermTable& table);
    // What takes time; most layouts of a search do not fit and need none. Nothing where it was done since find() for
    // groups that lie on the nodes as the table's do now.
    void price(const ResolvedPlan& plan, StageTermTable& table);
    // The groups have moved: price() before the next use.
    void move() { now_ = kUnpriced; }

    [[nodiscard]] std::span<const ChunkKind> kinds() const { return kinds_; }
    // From price() on: what the job adds to chunks of kinds()[kind]; once a step, on a stage of runs()[run].
    [[nodiscard]] const ChunkAdditions& additions(std::size_t kind) const { return prices_[now_].additions[kind]; }
    [[nodiscard]] const std::vector<StepTerm>& step(std::size_t run) const { return prices_[now_].steps[run]; }
    [[nodiscard]] std::span<const Run> runs() const { return runs_; }
    // The kinds, as indices, of the chunks of each stage of runs()[run], in the order of the model.
    [[nodiscard]] std::span<const int> chunks_of(std::size_t run) const
    {
        return std::span(run_chunks_).subspan(run * virtual_stages_, virtual_stages_);
    }
    // The kind of each chunk of the model.
    [[nodiscard]] std::span<const int> kind_of_chunk() const { return kind_of_chunk_; }

private:
    void find_kinds(const ResolvedPlan& plan);
    void find_runs(const ResolvedPlan& plan);
    // Does a run have the same chunks as the one before it?
    [[nodiscard]] bool repeats(std::size_t run) const;

    struct Prices {
        StageTermTable::Places places{};
        std::vector<ChunkAdditions> additions; // by kind
        std::vector<std::vector<StepTerm>> steps; // by run
    };

    std::size_t virtual_stages_ = 1;
    std::vector<ChunkKind> kinds_;
    std::vector<StageParameters> parameters_; // by kind
    std::vector<int> kind_of_chunk_, run_chunks_;
    std::vector<Run> runs_;
    static constexpr auto kUnpriced = static_cast<std::size_t>(-1);
    std::vector<Prices> prices_; // one for each way in which the groups lie
    std::size_t now_ = kUnpriced; // index of the placed layout's
};

} // namespace fourfold
