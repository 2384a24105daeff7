// SPDX-License-Identifier: GPL-3.0-or-later
// For a client that has never seen a run: which runs are on this node, and what one of them is.
#include "runner/agent/session/session.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

namespace {
constexpr std::size_t kMostRuns = 100;
} // namespace

Expected<void> Session::find(const Json& request)
{
    const std::string wanted = text_field(request, "run");
    if (!is_run_id(wanted))
        return Problem{ProblemCode::bad_input, "a run's id has up to 40 letters and digits", {}, {}};
    std::vector<std::string> runs;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(base_ / "runs", error)) {
        const std::string name = entry.path().filename().string();
        if (is_run_id(name) && (wanted == "last" || name.starts_with(wanted)) && !shares_of(base_, name).empty())
            runs.push_back(name);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return Problem{
            ProblemCode::io, "the runs of this node cannot be read: " + error.message(), {}, (base_ / "runs").string()};
    std::sort(runs.rbegin(), runs.rend()); // ids sort by the time of their making
    if (wanted == "last" && runs.size() > 1)
        runs.resize(1);
    if (const auto exact = std::find(runs.begin(), runs.end(), wanted); exact != runs.end())
        runs = {wanted}; // attempts of a job share the beginning of its id
    if (runs.size() > kMostRuns)
        runs.resize(kMostRuns);
    Json list = Json::array(), specs = Json::array();
    for (const std::string& run : runs) {
        const auto nodes = shares_of(base_, run);
        FOURFOLD_TRY(const std::string state, RunFolder(base_, run, nodes.front()).verdict());
        list.push_back({{"run", run}, {"state", state}});
        for (std::size_t i = 0; runs.size() == 1 && i < nodes.size(); ++i) {
            FOURFOLD_TRY(const RunSpec spec, RunFolder(base_, run, nodes[i]).read_spec());
            specs.push_back(to_json(spec));
        }
    }
    send({{"is", "found"}, {"runs", std::move(list)}, {"specs", std::move(specs)}});
    return {};
}

} // namespace fourfold
