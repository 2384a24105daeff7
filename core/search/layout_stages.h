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
        StageBytes bytes; // of one of them
        StepTerms step; // of one of them, from price() on
    };
    // `table`: set to the plan's layout. Reads degrees, stage_layers, schedule and sharding.
    void find(const ResolvedPlan& plan, const StageTermTable& table);
    // What takes time; most layouts of a search do not fit and need none. Nothing where it was done since find().
    void price(const ResolvedPlan& plan, StageTermTable& table);
    void forget_prices() { priced_ = false; }

    [[nodiscard]] std::span<const ChunkKind> kinds() const { return kinds_; }
    // What the job adds to chunks of kinds()[kind], from price() on.
    [[nodiscard]] const ChunkAdditions& additions(std::size_t kind) const { return additions_[kind]; }
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
    // fill(run, kinds of its chunks) for every run, or same(run, run before) where that one has the same chunks.
    template <typename Fill, typename Same>
    void for_each_stage(Fill&& fill, Same&& same);

    std::size_t virtual_stages_ = 1;
    std::vector<ChunkKind> kinds_;
    std::vector<ChunkAdditions> additions_;
    std::vector<int> kind_of_chunk_, run_chunks_;
    std::vector<Run> runs_;
    bool priced_ = false;
};

} // namespace fourfold
