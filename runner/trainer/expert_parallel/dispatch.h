// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens sorted by expert, sent to the ranks that hold the experts, and back. Each token is copied once for each of its
// experts. Where tensors have no values (rehearsal) every expert gets equally many, the first rank's more, or as many
// as recorded.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/expert_parallel/routing_record.h"
#include "runner/trainer/pipeline_parallel/pass_turns.h"

#include <vector>

namespace fourfold::trainer {

class Dispatch {
public:
    // experts: [tokens, active], `count` for a copy that goes nowhere and adds nothing. `ep`: ranks that hold `count` /
    // size experts each, in their order; each brings its own tokens. Collective. `ep` must outlive the graphs.
    // `turns`: what computes beside exchanges; null: nothing. It must outlive the graphs too.
    // part_of: [tokens] int64, below `parts`: an expert's copies of one part of one rank's tokens come beside each
    // other.
    Dispatch(const at::Tensor& experts, int count, const Communicator& ep, PassTurns* turns = nullptr,
        const at::Tensor& part_of = {}, int parts = 1, const KnownRouting& known = {});

    // x: [tokens, hidden] -> this rank's experts' copies of all ranks' tokens, expert after expert. Collective.
    [[nodiscard]] at::Tensor to_experts(const at::Tensor& x) const;
    // Of each of this rank's experts.
    [[nodiscard]] const std::vector<int64_t>& rows() const { return rows_; }
    // Where there are parts: the rows of each of them, in the order of to_experts(); `parts` times the ranks of `ep`
    // for an expert.
    [[nodiscard]] const std::vector<int64_t>& runs() const { return runs_; }
    // The experts' answers, in the order of to_experts() -> [tokens, hidden], those of a token added up by `weights`
    // [tokens, active]. Collective.
    [[nodiscard]] at::Tensor to_tokens(const at::Tensor& y, const at::Tensor& weights) const;

private:
    const Communicator& ep_;
    PassTurns* turns_;
    int64_t tokens_, active_;
    at::Tensor sorted_, place_; // copies by expert; where each copy is among them, behind the last if it was dropped
    bool dropped_ = false;
    std::vector<int64_t> sent_, received_; // copies, by rank of the group
    at::Tensor arranged_, arrived_; // received copies by expert; where each is among them. Undefined: they already are
    std::vector<int64_t> rows_, runs_;
};

} // namespace fourfold::trainer
