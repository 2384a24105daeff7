// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold rehearse`: the trainer plays all ranks of a plan, without values, GPUs or a network.
#include "app/cli/output_file.h"
#include "app/cli/planning/plan_source.h"
#include "app/cli/planning/recorded_routing.h"
#include "app/cli/runs/stop_signals.h"
#include "core/base/text.h"
#include "core/report/timeline_export.h"
#include "core/report/views/rehearsal_report.h"
#include "core/schedule/chrome_trace.h"
#include "runner/rehearsal/rehearse_plan.h"

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

namespace fourfold::cli {

namespace {

struct RehearseOptions {
    PlanOptions plan;
    std::string trace, routing;
    std::optional<double> timeout_s;
    bool json = false;
};

// What --routing says.
Expected<void> set_routing(RehearsalRequest& request, const std::string& routing)
{
    if (routing.empty() || routing == "balanced")
        return {};
    constexpr double kMostQuantile = 0.999999;
    double number = 0;
    const char* const end = routing.data() + routing.size();
    if (const auto parsed = std::from_chars(routing.data(), end, number); parsed.ptr == end) {
        if (parsed.ec != std::errc() || !(number >= 0 && number <= kMostQuantile))
            return Problem{ProblemCode::bad_input,
                "found " + in_quotes(routing) + ", expected a share from 0 to 0.999999",
                "0.95: as unevenly as in all but one of twenty cases", "--routing"};
        request.routing_quantile = number;
        return {};
    }
    request.expert_imbalance = 0;
    if (!request.plan.model.experts || request.plan.layout.ep <= 1)
        return {}; // which is refused
    FOURFOLD_TRY(request.expert_imbalance, recorded_imbalance(routing, request.plan));
    return {};
}

Expected<int> rehearse(const RehearseOptions& options)
{
    if (!options.trace.empty()) {
        FOURFOLD_CHECK(check_timeline_file(options.trace));
        FOURFOLD_CHECK(check_output(options.trace, {options.plan.plan}));
    }
    FOURFOLD_TRY(const ResolvedPlan plan, options.plan.load_sound(Presets()));
    RehearsalRequest request{.plan = plan, .timeout_s = options.timeout_s, .timeline = !options.trace.empty()};
    FOURFOLD_CHECK(set_routing(request, options.routing));
    FOURFOLD_TRY(Json result, [&] {
        const StopSignals signals("stopping the rehearsal");
        return rehearse_plan(request, signals.token());
    }());
    const Json trace = result.value("timeline", Json());
    result.erase("timeline");
    if (options.json) { // what was found out stays, also where the file cannot be written
        print_json(result);
    } else {
        std::cout << rehearsal_text(result) << std::flush;
    }
    if (!trace.is_null()) {
        FOURFOLD_TRY(const Timeline timeline, timeline_from_chrome_trace(trace, "the rehearsal"));
        FOURFOLD_CHECK(export_timeline(
            timeline, (plan.name.empty() ? plan.model.name : plan.name) + ", rehearsed", options.trace));
    }
    return result["verdict"] == "ok" ? kDone : kFailed;
}

} // namespace

void add_rehearse(Cli& cli)
{
    auto* command = cli.app.add_subcommand(
        "rehearse", "Prove on this computer that a plan fits and that none of its ranks waits for ever");
    command->footer("The bundled trainer runs two steps for every rank that does something of its own, on tensors\n"
                    "without values, and the ranks' collectives and messages are matched under NCCL's rules.\n"
                    "Exit status 1: ranks wait for each other, or disagree; the message names them.");
    const auto options = std::make_shared<RehearseOptions>();
    options->plan.add_to(*command, true);
    command
        ->add_option("--timeout", options->timeout_s,
            "give up after so many seconds and say how far it came (default: as long as it takes)")
        ->type_name("SECONDS")
        ->check(number_up_to(1e9));
    command
        ->add_option("--routing", options->routing,
            "load experts evenly (balanced, the default), as unevenly as in this share of cases or less, 0.95 for all\n"
            "but one in twenty, or as unevenly as in the events of a run with as many expert-parallel ranks\n"
            "(its events.jsonl)")
        ->type_name("balanced|QUANTILE|FILE");
    command
        ->add_option("--trace", options->trace,
            "write the rehearsed step as a timeline, a track a stage: .json (Chrome trace events), .svg, .pdf or .png")
        ->type_name("FILE");
    command->add_flag("--json", options->json, "print the rehearsal as JSON");
    command->callback([&cli, options] { cli.chosen = [options] { return rehearse(*options); }; });
}

} // namespace fourfold::cli
