// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold timeline`: the pipeline timeline of a plan as a file.
#include "app/cli/plan_source.h"
#include "core/report/timeline_export.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct Options {
    PlanOptions plan;
    std::string output;
};

int run(const Options& options)
{
    const auto plan = options.plan.load_sound(Presets());
    if (!plan)
        return fail(plan.error());
    const Prediction prediction = predict(*plan);
    if (prediction.timeline.spans.empty()) {
        const std::string why
            = prediction.reasons.empty() ? "the schedule gave no spans" : prediction.reasons[0].message;
        return fail({ProblemCode::unsupported, "this plan has no timeline: " + why, "", plan->where});
    }
    const std::string title = plan->name.empty() ? plan->model.name : plan->name;
    const auto written = export_timeline(prediction.timeline, title, options.output);
    if (!written)
        return fail(written.error());
    std::cerr << "wrote " << options.output << ": " << prediction.timeline.stages
              << (prediction.timeline.stages == 1 ? " stage, " : " stages, ") << prediction.timeline.spans.size()
              << " spans\n";
    return kDone;
}

} // namespace

void add_timeline(Cli& cli)
{
    auto* command = cli.app.add_subcommand("timeline", "The pipeline timeline of a plan as a file");
    const auto options = std::make_shared<Options>();
    options->plan.add_to(*command, true);
    command->add_option("-o,--output", options->output, "F.json (Chrome trace events), F.svg or F.png")
        ->type_name("FILE")
        ->required();
    command->callback([&cli, options] { cli.chosen = [options] { return run(*options); }; });
}

} // namespace fourfold::cli
