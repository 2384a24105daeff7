// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold gc`: clears old uploads and runs from a target's nodes.
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "runner/runs/garbage.h"

#include <cmath>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct GcOptions {
    std::string target = "local";
    double days = 30;
    bool json = false, dry_run = false, end_processes = false, accept_new_hosts = false;
};

std::string counted(const Json& count, const char* what)
{
    const std::string plural = std::string(what).ends_with('s') ? "es" : "s";
    return count.dump() + " " + what + (count == 1 ? "" : plural);
}

// Processes that live without a run, one line each.
void print_strays(const Json& host)
{
    for (const Json& stray : host.value("strays", Json::array())) {
        std::cout << host["host"].get<std::string>() << ": " << counted(stray["processes"], "process") << " of run "
                  << stray["run"].get<std::string>() << " (first: " << stray["pid"] << ") "
                  << (stray["ended"].get<bool>() ? "ended: " : "without a run: ") << stray["why"].get<std::string>()
                  << (stray["ended"].get<bool>() ? "" : "; --end-processes ends them") << "\n";
    }
}

Expected<int> gc(const GcOptions& options)
{
    FOURFOLD_TRY(const auto target, load_target(options.target));
    RunProgress progress(false, options.accept_new_hosts);
    const auto result = [&] {
        const StopSignals signals("stopping");
        return clear_target(
            target, {options.days * 86400, options.dry_run, options.end_processes}, progress, signals.token());
    }();
    if (!result)
        return fail(result.error());
    if (options.json)
        print_json(*result);
    std::string problem;
    int failed = 0;
    for (const Json& host : *result) {
        if (host.contains("problem")) {
            problem = ++failed == 1 ? host["problem"].get<std::string>() : problem;
            continue;
        }
        if (options.json)
            continue;
        std::cout << host["host"].get<std::string>() << ": " << (options.dry_run ? "would remove " : "removed ")
                  << counted(host["runs"], "run") << ", " << counted(host["files"], "file") << " and "
                  << counted(host["agents"], "agent") << " not used for "
                  << shown_number(options.days, options.days == std::floor(options.days) ? 0 : 2) << " days, "
                  << shown_number(host["bytes"].get<double>() / 1e6, 1) << " MB; kept "
                  << counted(host["kept_runs"], "run") << "\n";
        print_strays(host);
    }
    if (failed == 0)
        return kDone;
    return fail(
        {ProblemCode::failed, problem + (failed > 1 ? "; and " + std::to_string(failed - 1) + " more hosts" : ""),
            failed < static_cast<int>(result->size()) && !options.dry_run ? "the other hosts are cleared" : "", ""});
}

} // namespace

void add_gc(Cli& cli)
{
    auto* command = cli.app.add_subcommand("gc", "Clear old uploads and run folders from a target's nodes");
    command->footer(
        "Runs that go on, or whose events this or another computer has not fetched to their end, are kept.\n"
        "The history on this computer is not touched.");
    const auto options = std::make_shared<GcOptions>();
    add_target(*command, options->target);
    command->add_option("--older-than", options->days, "days since the last use (30)")
        ->type_name("DAYS")
        ->check(number_up_to(36500, true));
    command->add_flag("--dry-run", options->dry_run, "say what would be removed");
    command->add_flag("--end-processes", options->end_processes,
        "end what lives without a run: its folder is gone, it has ended, or its agent is gone");
    command->add_flag("--json", options->json, "print one object per host");
    add_accept_new_hosts(*command, options->accept_new_hosts);
    command->callback([&cli, options] { cli.chosen = [options] { return gc(*options); }; });
}

} // namespace fourfold::cli
