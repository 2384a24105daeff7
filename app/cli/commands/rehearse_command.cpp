// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold rehearse`: the trainer plays all ranks of a plan, without values, GPUs or a network.
#include "app/cli/output_file.h"
#include "app/cli/planning/plan_source.h"
#include "app/cli/runs/stop_signals.h"
#include "core/base/text.h"
#include "core/report/timeline_export.h"
#include "core/schedule/chrome_trace.h"
#include "runner/rehearsal/rehearse_plan.h"

#include <iostream>
#include <memory>
#include <optional>

namespace fourfold::cli {

namespace {

struct RehearseOptions {
    PlanOptions plan;
    std::string trace;
    std::optional<double> timeout_s;
    bool json = false;
};

Table stage_table(const Json& rehearsal)
{
    Table table;
    table.columns = {{"pp", "stage"}, {"peak_tensors_gib", "tensors", 2, 1, " GiB"},
        {"reserved_gib", "reserved", 2, 1, " GiB"}, {"planned_gib", "planned", 2, 1, " GiB"},
        {"collectives", "collectives per step"}, {"messages", "messages per step"}, {"launches", "launches per step"},
        {"step_flops", "products", 1, 1e-12, " TFLOP"}};
    for (const Json& stage : rehearsal["stages"]) {
        std::int64_t collectives = 0, messages = 0;
        for (const Json& part : stage["traffic"])
            (part["operation"] == "send_receive" ? messages : collectives) += part["count"].get<std::int64_t>();
        const auto number
            = [&](const char* key) { return stage[key].is_number() ? Cell(stage[key].get<double>()) : Cell(); };
        table.rows.push_back({Cell(stage["pp"].get<std::int64_t>()), number("peak_tensors_gib"), number("reserved_gib"),
            number("planned_gib"), Cell(collectives), Cell(messages), Cell(stage["launches"].get<std::int64_t>()),
            number("step_flops")});
    }
    return table;
}

std::string verdict_text(const Json& rehearsal)
{
    const int ranks = rehearsal["ranks"].get<int>(), rehearsed = rehearsal["rehearsed"].get<int>();
    std::string text = text_of("%d rank%s, %d of them rehearsed%s, two steps each: ", ranks, ranks == 1 ? "" : "s",
        rehearsed, rehearsed < ranks ? " (the corners of each stage's mesh)" : "");
    text += rehearsal["problems"].empty() ? "" : "FAILED: ";
    text += rehearsal["fits"].get<bool>() ? "fits, " : "does not fit, ";
    text += rehearsal["deadlock"].get<bool>() ? "deadlock" : "no deadlock: no rank waits for ever under NCCL's rules";
    if (const Json& at_once = rehearsal["at_once"]; at_once.is_number())
        text += text_of(", in one queue with room for %d operation%s", at_once.get<int>(), at_once == 1 ? "" : "s");
    if (const Json& step_s = rehearsal["step_time_s"]; step_s.is_number())
        text += text_of("; %.4g s per step", step_s.get<double>());
    if (const Json& planned_s = rehearsal["planned_step_time_s"]; planned_s.is_number())
        text += text_of(" (planned: %.4g s)", planned_s.get<double>());
    for (const Json& problem : rehearsal["problems"])
        text += "\n" + problem.get<std::string>();
    return text + "\n";
}

Expected<int> rehearse(const RehearseOptions& options)
{
    if (!options.trace.empty())
        FOURFOLD_CHECK(check_output(options.trace, {options.plan.plan}));
    FOURFOLD_TRY(const ResolvedPlan plan, options.plan.load_sound(Presets()));
    FOURFOLD_TRY(Json result, [&] {
        const StopSignals signals("stopping the rehearsal");
        return rehearse_plan({plan, {}, options.timeout_s, !options.trace.empty()}, signals.token());
    }());
    if (const auto found = result.find("timeline"); found != result.end()) {
        FOURFOLD_TRY(const Timeline timeline, timeline_from_chrome_trace(*found, "the rehearsal"));
        FOURFOLD_CHECK(export_timeline(
            timeline, (plan.name.empty() ? plan.model.name : plan.name) + ", rehearsed", options.trace));
        result.erase(found);
    }
    if (options.json) {
        print_json(result);
    } else {
        std::cout << verdict_text(result) << stage_table(result).write(TableFormat::text)
                  << "Tensors: what the trainer holds at most; reserved: what LibTorch's caching allocator takes for "
                     "them. NCCL's buffers and CUDA's own memory come on top.\n";
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
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--trace", options->trace,
            "write the rehearsed step as a timeline, a track a stage: .json (Chrome trace events), .svg or .png")
        ->type_name("FILE");
    command->add_flag("--json", options->json, "print the rehearsal as JSON");
    command->callback([&cli, options] { cli.chosen = [options] { return rehearse(*options); }; });
}

} // namespace fourfold::cli
