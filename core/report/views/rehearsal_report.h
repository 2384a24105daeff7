// SPDX-License-Identifier: GPL-3.0-or-later
// How a rehearsal reads; of the object of rehearse_plan().
#pragma once

#include "core/base/json.h"
#include "core/report/table/table.h"

#include <string>

namespace fourfold {

// One line: how many ranks, whether it fits, whether ranks wait for each other for ever, the time of a step.
std::string rehearsal_verdict(const Json& rehearsal);
// A row per pipeline stage: memory in GiB beside what was planned, collectives, messages, launches, products.
Table rehearsal_stages(const Json& rehearsal);
// What the columns of memory count.
inline constexpr const char* kRehearsalColumns
    = "Tensors: what the trainer holds at most; reserved: what LibTorch's caching allocator takes for them. NCCL's "
      "buffers and CUDA's own memory come on top.";
// The verdict, a line for each culprit, the stages, and what their columns count.
std::string rehearsal_text(const Json& rehearsal);

} // namespace fourfold
