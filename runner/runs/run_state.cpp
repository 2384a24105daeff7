// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/run_state.h"

#include <array>

namespace fourfold {

namespace {
constexpr std::array<std::string_view, 13> kNames{"draft", "preflight", "staging", "launching", "running", "stopping",
    "ok", "oom", "hang", "fail", "cancelled", "preempted", "lost"};
}

std::string_view name(RunState state)
{
    return kNames[static_cast<std::size_t>(state)];
}

bool is_terminal(RunState state)
{
    return state >= RunState::ok;
}

RunState run_state(std::string_view name)
{
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name)
            return static_cast<RunState>(i);
    }
    return RunState::fail;
}

} // namespace fourfold
