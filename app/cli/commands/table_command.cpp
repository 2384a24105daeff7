// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold table`: what a picture of the desktop's Plan page shows, as a table.
#include "app/cli/output_file.h"
#include "app/cli/planning/plan_source.h"
#include "app/view/prediction/plan_charts.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/step_time.h"
#include "core/report/views/advice_table.h"
#include "core/report/views/plan_tables.h"
#include "core/search/advice.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct TableOptions {
    PlanOptions plan;
    FormatOptions format;
    std::string view;
    std::string picture; // file; empty: none
    int stage = 0;
    bool names_stage = false;
};

const std::vector<std::string> kViews{"memory", "memory-over-time", "time", "timeline", "ranks", "bounds", "advice"};

Table advice_of(const ResolvedPlan& plan)
{
    AdviceRequest request;
    request.plan = plan;
    request.now = std::make_shared<const Prediction>(predict_with_evidence(plan));
    const AdviceReport report = advise(request);
    std::vector<Advice> all = report.to_fit;
    all.insert(all.end(), report.faster.begin(), report.faster.end());
    return advice_table(all);
}

Expected<Table> table_of(const TableOptions& options, const ResolvedPlan& plan)
{
    if (options.view == "ranks")
        return ranks_table(plan.layout, plan.cluster.gpus_per_node);
    if (options.view == "bounds")
        return bounds_table(bounds_of(plan));
    if (options.view == "advice")
        return advice_of(plan);
    const Prediction prediction = predict_with_evidence(plan);
    if (options.view == "memory")
        return memory_table(prediction);
    if (options.view == "time")
        return time_table(prediction);
    if (options.view == "timeline")
        return spans_table({prediction.timeline, steady_part(prediction)});
    if (options.stage >= plan.layout.pp)
        return Problem{ProblemCode::bad_input, "the plan has no stage " + std::to_string(options.stage),
            "stages are counted from 0 to " + std::to_string(plan.layout.pp - 1), "--stage"};
    return curve_table(memory_over_time(prediction, options.stage));
}

Expected<void> write_picture(const TableOptions& options, const ResolvedPlan& plan)
{
    const auto write = [&](const Chart& chart) { return export_chart(chart, options.picture); };
    if (options.view == "ranks")
        return write(view::mesh_chart(plan));
    const Prediction prediction = predict_with_evidence(plan);
    if (options.view == "memory")
        return write(view::memory_chart(prediction));
    if (options.view == "time")
        return write(view::step_time_chart(prediction));
    return write(view::memory_chart(prediction, memory_over_time(prediction, options.stage)));
}

Expected<int> run_table(const TableOptions& options)
{
    const bool drawn = options.view == "memory" || options.view == "memory-over-time" || options.view == "time"
        || options.view == "ranks";
    if (!options.picture.empty() && !drawn)
        return Problem{ProblemCode::bad_input, "cannot draw " + options.view,
            options.view == "timeline" ? "`fourfold timeline` does" : "leave it out", "--picture"};
    if (!options.picture.empty()) {
        FOURFOLD_CHECK(check_picture_file("a picture", options.picture));
        FOURFOLD_CHECK(check_output(options.picture, {options.plan.plan}));
    }
    FOURFOLD_TRY(const auto format, options.format.format());
    if (options.names_stage && options.view != "memory-over-time")
        return Problem{ProblemCode::bad_input, "is a choice of memory-over-time, and the table is " + options.view,
            "leave it out", "--stage"};
    FOURFOLD_TRY(const auto plan, options.plan.load_sound(Presets()));
    FOURFOLD_TRY(const auto table, table_of(options, plan));
    warn_of_missing_runs();
    if (options.picture.empty()) {
        std::cout << table.write(format);
        return kDone;
    }
    FOURFOLD_CHECK(write_picture(options, plan));
    std::cerr << "wrote " << printable(options.picture) << "\n";
    return kDone;
}

} // namespace

void add_table(Cli& cli)
{
    auto* command = cli.app.add_subcommand("table", "One picture of a plan as a table, as the desktop shows it");
    const auto options = std::make_shared<TableOptions>();
    options->plan.add_to(*command, true);
    command->add_option("VIEW", options->view, joined(kViews, ", "))->required()->check(CLI::IsMember(kViews));
    CLI::Option* stage = command->add_option("--stage", options->stage, "of memory-over-time: the pipeline stage (0)")
                             ->type_name("N")
                             ->check(CLI::Range(0, 1'000'000));
    auto* picture = command
                        ->add_option("--picture", options->picture,
                            "draw memory, memory-over-time, time or ranks into this file instead: .svg, .pdf or .png")
                        ->type_name("FILE");
    options->format.add_to(*command);
    for (const char* format : {"--format", "--json"})
        picture->excludes(format);
    command->callback([&cli, options, stage] {
        options->names_stage = stage->count() > 0;
        cli.chosen = [options] { return run_table(*options); };
    });
}

} // namespace fourfold::cli
