// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/outcome.h"

#include "core/history/event_types.h"
#include "runner/protocol/message.h"

namespace fourfold {

Problem problem_of_end(RunState state, const Json& end, const Json& error, const std::filesystem::path& folder)
{
    Problem problem;
    problem.code = state == RunState::cancelled ? ProblemCode::cancelled : ProblemCode::failed;
    problem.message = read_event<EndEvent>(end).message;
    if (problem.message.empty())
        problem.message = "ended with status " + std::string(name(state));
    std::string last;
    const Json log = read_event<ErrorEvent>(error).log;
    for (std::size_t i = log.size() > 3 ? log.size() - 3 : 0; log.is_array() && i < log.size(); ++i) {
        if (log[i].is_string())
            last += (last.empty() ? "" : " | ") + log[i].get<std::string>();
    }
    if (state != RunState::cancelled) {
        const auto rank = integer_field(error, "rank", -1);
        const std::string file = (folder / ("rank" + std::to_string(rank) + ".log")).string();
        if (!last.empty())
            problem.hint = "its log ends with: " + last + "; all of it in " + file;
        else if (std::error_code failed; rank >= 0 && std::filesystem::exists(file, failed))
            problem.hint = "see " + file;
    }
    return problem;
}

RunResult outcome(const Recorder& recorder, FollowResult followed)
{
    RunResult result;
    result.id = recorder.run();
    result.folder = recorder.folder();
    result.state = followed.state;
    result.ordered = followed.ordered;
    result.problem = std::move(followed.problem);
    result.events_left = recorder.full();
    if (const auto detail = recorder.store().show(recorder.run())) {
        result.predicted_tps_per_gpu = detail->summary.predicted_tps_per_gpu;
        result.measured_tps_per_gpu = detail->summary.measured_tps_per_gpu;
    }
    return result;
}

RunResult conclude(Recorder& recorder, RunObserver& observer, FollowResult followed)
{
    const std::string problem = followed.problem ? followed.problem->line() : std::string();
    // Also when it has not ended: an `end` of the first node alone may have set another state.
    const auto stored = recorder.set_state(followed.state, problem);
    if (!stored && !followed.problem)
        followed.problem = stored.error();
    observer.on_state(followed.state, problem);
    return outcome(recorder, std::move(followed));
}

} // namespace fourfold
