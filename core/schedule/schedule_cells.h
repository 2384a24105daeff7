// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of a pipeline-schedule CSV as they are written, before anything is said about the whole.
#pragma once

#include "core/base/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

enum class CellKind {
    forward,
    backward,
    input_gradient,
    weight_gradient,
    send_forward,
    receive_forward,
    send_backward,
    receive_backward,
    sharding // UNSHARD, RESHARD, REDUCE_GRAD
};

struct ScheduleCell {
    CellKind kind = CellKind::forward;
    int chunk = 0;
    int micro_batch = -1; // -1: of the whole chunk (sharding)
    int column = 0; // in the file, from 1
    std::string text; // as written: "2SEND_F0"
};

// One list a row; empty cells leave nothing. Rows at the end without any action are no ranks.
Expected<std::vector<std::vector<ScheduleCell>>> parse_schedule_cells(std::string_view text, const std::string& where);

// "FILE, row R, column C", both from 1.
std::string cell_place(const std::string& where, std::size_t row, int column);

} // namespace fourfold
