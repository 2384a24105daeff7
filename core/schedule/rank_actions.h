// SPDX-License-Identifier: GPL-3.0-or-later
// The actions of one pipeline rank, made one after the other: a schedule is a few patterns that repeat, so that its
// list, as long as its batch, need not be kept.
#pragma once

#include "core/schedule/actions.h"

#include <array>
#include <cstdint>

namespace fourfold {

// GPipe: all forwards, then all backwards. 1F1B: warm-up forwards, then one forward and one backward in turn.
// Interleaved: the same, through the chunks of a rank in groups of pp micro-batches.
//
// ZB-H1 (Qi, Wan, Huang and Lin, "Zero Bubble Pipeline Parallelism", arXiv:2401.10241, section 2.3, figure 3): the
// order of 1F1B, with the weight gradient of a micro-batch `rank` micro-batches after its input gradient. Every stage
// then holds at most pp micro-batches, 1F1B's memory, and with equal stages idles (pp - 1) (T_F + T_B - T_W) instead of
// (pp - 1) (T_F + T_B + T_W).
//
// ZB-V (section 6): two chunks a stage, placed as a V. Stage 0 holds first and last chunk, so that the first backward
// starts where the first forward did. With T_F = T_B = T_W and at least 2 pp - 1 micro-batches the step takes only
// (pp - 1) T_F, the way down the V, longer than the work, in 1F1B's memory (2 pp chunks of half a stage). Fewer
// micro-batches run the pattern of 2 pp - 1 with gaps.
class RankActions {
public:
    // Precondition: check_schedule() takes the shape; 0 <= rank < pp.
    RankActions(const ScheduleShape& shape, int rank);

    // The next action into `action`; false when there is none.
    bool next(Action& action);
    // How many there are in all.
    [[nodiscard]] std::size_t count() const;
    // Those that next() has not made yet.
    std::vector<Action> list();

private:
    struct Pass {
        ActionKind kind = ActionKind::forward;
        std::uint8_t side = 0; // of the V: 0 down, 1 up
    };
    // `turns` times the first `count` passes.
    struct Phase {
        std::int64_t turns = 0;
        std::array<Pass, 6> passes{};
        std::size_t count = 0;
    };
    void add(std::int64_t turns, std::initializer_list<Pass> passes);
    void add_one_forward_one_backward(std::int64_t warm_up);
    void add_zb_h1();
    void add_zb_v();
    [[nodiscard]] Action at(Pass pass, std::int64_t index) const;

    ScheduleShape shape_;
    int rank_;
    bool v_shaped_;
    bool parts_backward_ = false; // into input and weight gradient
    std::int64_t block_; // micro-batches that go through a chunk before the next chunk has its turn
    std::int64_t each_; // passes of a kind and side; beyond them a turn leaves a gap
    std::vector<Phase> phases_;
    std::size_t phase_ = 0, pass_ = 0;
    std::int64_t turn_ = 0;
    std::array<std::array<std::int64_t, 4>, 2> done_{}; // by side and kind
};

} // namespace fourfold
