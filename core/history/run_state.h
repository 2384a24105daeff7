// SPDX-License-Identifier: GPL-3.0-or-later
// The states of a run, in one table: what the history stores, the agents say (`end`) and every front end shows.
#pragma once

#include "core/base/words.h"

namespace fourfold {

enum class RunState {
    draft,
    preflight,
    staging,
    launching,
    running,
    stopping,
    ok,
    oom,
    hang,
    fail,
    cancelled,
    preempted,
    lost
};
template <>
inline constexpr auto kWords<RunState> = std::to_array<std::string_view>({"draft", "preflight", "staging", "launching",
    "running", "stopping", "ok", "oom", "hang", "fail", "cancelled", "preempted", "lost"});

// The state of that name; `fail` for a name that is none, as an unknown end is no success.
constexpr RunState run_state(std::string_view name)
{
    for (std::size_t i = 0; i < kWords<RunState>.size(); ++i) {
        if (kWords<RunState>[i] == name)
            return static_cast<RunState>(i);
    }
    return RunState::fail;
}

// The run has ended.
constexpr bool is_terminal(RunState state)
{
    return state >= RunState::ok;
}

// How a run ends whose first error is of this kind; kinds are more than states ("bad_input").
constexpr RunState end_of_kind(std::string_view kind)
{
    const RunState state = run_state(kind);
    return state == RunState::oom || state == RunState::hang ? state : RunState::fail;
}

// For states as texts, of which a file of another program may hold any.
constexpr bool is_run_state(std::string_view text)
{
    return name(run_state(text)) == text;
}
constexpr bool is_terminal(std::string_view state)
{
    return is_run_state(state) && is_terminal(run_state(state));
}

} // namespace fourfold
