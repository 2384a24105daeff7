// SPDX-License-Identifier: GPL-3.0-or-later
// Pipeline schedules in the CSV of torch.distributed.pipelining: one row a rank, one action a cell.
#pragma once

#include "core/schedule/schedules.h"

#include <filesystem>
#include <string_view>

namespace fourfold {

struct ScheduleFile {
    std::vector<std::vector<Action>> actions; // one list a row
    std::vector<int> stage_of_chunk; // row of each model chunk ("stage" in PyTorch's words)
    int micro_batches = 0;
};

// Cells: chunk, letter, micro-batch, as `_Action.__str__` writes them: F forward, B whole backward, I input gradient,
// W weight gradient; an empty cell is a pause and orders nothing. `(0F1;0B0)OVERLAP_F_B` runs its parts one after the
// other. The lowered form's SEND_F, RECV_F, SEND_B, RECV_B are checked against the work that they serve and priced as
// hops; UNSHARD, RESHARD and REDUCE_GRAD are read, their time follows from the plan's sharding.
//
// Sound files only: every chunk lies on one row, every chunk x micro-batch has one F and either B or I and W, and the
// rows together run to their end. Each problem names row and column, counted from 1.
Expected<ScheduleFile> parse_schedule_file(std::string_view text, const std::string& where);
Expected<ScheduleFile> read_schedule_file(const std::filesystem::path& file);

} // namespace fourfold
