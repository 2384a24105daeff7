// SPDX-License-Identifier: GPL-3.0-or-later
// The actions of one pipeline rank, made one after the other: a schedule is a few patterns that repeat, so that its
// list, as long as its batch, need not be kept.
#pragma once

#include "core/schedule/schedules.h"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace fourfold {

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

    // For generators. Passes of a kind and side take the rank's micro-batches in turn, chunk after chunk; what a
    // pattern asks for beyond the batch leaves a gap.
    struct Pass {
        ActionKind kind = ActionKind::forward;
        std::uint8_t side = 0; // of the V: 0 down, 1 up
    };
    [[nodiscard]] const ScheduleShape& shape() const { return shape_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] std::int64_t each() const { return each_; } // passes of a kind and side
    // Micro-batches that go through a chunk before the next chunk has its turn: pp unless a generator says otherwise.
    void set_block(std::int64_t micro_batches) { block_ = micro_batches; }
    // `turns` times these passes.
    void add(std::int64_t turns, std::initializer_list<Pass> passes);

private:
    struct Phase {
        std::int64_t turns = 0;
        std::array<Pass, 6> passes{};
        std::size_t count = 0;
    };
    [[nodiscard]] Action at(Pass pass, std::int64_t index) const;

    ScheduleShape shape_;
    int rank_;
    bool v_shaped_;
    bool splits_backward_;
    std::int64_t block_;
    std::int64_t each_;
    std::vector<Phase> phases_;
    std::size_t phase_ = 0, pass_ = 0;
    std::int64_t turn_ = 0;
    std::array<std::array<std::int64_t, 4>, 2> done_{}; // by side and kind
};

} // namespace fourfold
