// SPDX-License-Identifier: GPL-3.0-or-later
// How the size of an allocation follows from the plan, in words and with its numbers.
#pragma once

#include "core/predict/explain.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

#include <map>
#include <string_view>

namespace fourfold {

struct AllocationFormula {
    std::string text; // "4 bytes * 6.64 B parameters / 8 shards"
    double bytes = 0; // what the text comes to, worked out here a second time
    std::string source; // paper, stack constants
    std::vector<Explanation> inputs; // what the text names and does not take apart: one layer's activations
};

// Of one stage's allocations (core/program/allocations.h, core/program/weight_gradient_memory.h).
class AllocationFormulas {
public:
    // `plan` and `stage` outlive it; `stage`: of build_program(plan).
    AllocationFormulas(const ResolvedPlan& plan, const StageProgram& stage);
    // `chunk`: index of the model's chunk that holds it; -1: the stage. One of a name that is not known is 0 bytes.
    [[nodiscard]] AllocationFormula of(const Allocation& allocation, int chunk) const;

private:
    struct Chunk {
        int dense = 0, moe = 0; // layers
        double again = 0; // of them, those whose activations are recomputed
        bool embedding = false, head = false;
    };
    [[nodiscard]] AllocationFormula of_stage(std::string_view name) const;
    [[nodiscard]] AllocationFormula of_units() const;
    [[nodiscard]] AllocationFormula of_chunk(std::string_view name, const Chunk& chunk) const;
    [[nodiscard]] AllocationFormula kept_activations(const Chunk& chunk) const;
    [[nodiscard]] AllocationFormula recomputed(std::string_view name, const Chunk& chunk) const;
    [[nodiscard]] AllocationFormula layer(bool moe) const; // activations of one layer, nothing recomputed
    [[nodiscard]] AllocationFormula layer_operands(bool moe) const; // of its weight gradients
    [[nodiscard]] AllocationFormula layers_of(
        const Chunk& chunk, AllocationFormula (AllocationFormulas::*one)(bool) const, const char* label) const;
    [[nodiscard]] AllocationFormula layer_input() const;
    [[nodiscard]] AllocationFormula scores() const;
    [[nodiscard]] Explanation held_parameters() const; // of the stage's GPU, before data parallel ranks share them out
    [[nodiscard]] AllocationFormula parameters(double dense_split, double expert_split) const;
    void scale(AllocationFormula& formula, Constant constant) const;

    const ResolvedPlan& plan_;
    RankShape rank_;
    StageParameters parameters_;
    std::map<int, Chunk> chunks_;
};

} // namespace fourfold
