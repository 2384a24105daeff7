// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/run_place.h"

#include "core/history/store.h"
#include "runner/runs/adopt.h"
#include "runner/runs/run.h"

namespace fourfold::cli {

namespace {

// A run that is not in the history may have been launched elsewhere.
Problem with_way_out(Problem problem)
{
    if (problem.code == ProblemCode::not_found)
        problem.hint += std::string(problem.hint.empty() ? "" : "; ")
            + "of a run that another computer launched name the hosts with --target";
    return problem;
}

} // namespace

void add_target(CLI::App& command, std::string& target)
{
    command
        .add_option(
            "TARGET,--target", target, "local (default), a target's id or file, or user@host1,host2:2222,node[01-16]")
        ->type_name("TARGET");
}

void add_accept_new_hosts(CLI::App& command, bool& accept)
{
    command.add_flag("--accept-new-hosts", accept,
        "store the keys of unknown hosts without asking; changed keys are always refused");
}

void RunPlace::add_to(CLI::App& command, bool run_required)
{
    auto* option = command.add_option(
        "RUN", run, std::string("id of a run or its beginning, or last") + (run_required ? "" : " (default)"));
    option->required(run_required);
    command
        .add_option("--target", target,
            "where to look for a run that this computer has not launched: a target's id or file, or user@host1,host2")
        ->type_name("TARGET");
}

Expected<std::string> RunPlace::find(RunObserver& observer, const std::stop_token& stop) const
{
    if (!target.empty()) {
        FOURFOLD_TRY(const Target named, load_target(target));
        return adopt(run, named, observer, stop);
    }
    const auto store = HistoryStore::open_existing(HistoryStore::default_file());
    if (!store)
        return store.error();
    if (!*store)
        return with_way_out({ProblemCode::not_found, "the history holds no run yet",
            "start one with `fourfold run PLAN`", HistoryStore::default_file().string()});
    auto id = (*store)->full_id(run);
    return id ? id : Expected<std::string>(with_way_out(id.error()));
}

Expected<LaunchPreview> RunPlace::preview() const
{
    if (target.empty()) {
        auto preview = preview_attach(run, {});
        return preview ? preview : Expected<LaunchPreview>(with_way_out(preview.error()));
    }
    FOURFOLD_TRY(const Target named, load_target(target));
    return preview_attach(run, named);
}

} // namespace fourfold::cli
