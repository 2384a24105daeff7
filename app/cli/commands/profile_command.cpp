// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold profile`: a step that PyTorch's profiler saw, beside the predicted one.
#include "app/cli/output_file.h"
#include "app/cli/planning/plan_source.h"
#include "app/view/trace/scene_picture.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/profile/step_trace.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct ProfileOptions {
    PlanOptions plan;
    std::string file, picture;
    std::int64_t step = -1;
    bool collectives = false;
    FormatOptions format;
};

Expected<int> run_profile(const ProfileOptions& options)
{
    FOURFOLD_TRY(const TableFormat format, options.format.format());
    if (!options.picture.empty()) {
        FOURFOLD_CHECK(check_picture_file("a picture", options.picture));
        FOURFOLD_CHECK(check_output(options.picture, {options.plan.plan, options.file}));
    }
    FOURFOLD_TRY(const auto plan, options.plan.load_sound(Presets()));
    FOURFOLD_TRY(const Profile profile, read_kineto(options.file));
    FOURFOLD_TRY(const StepProfile step, step_of(profile, options.step));
    const Table table = options.collectives ? collectives_table(collective_uses(step))
                                            : parts_table(part_differences(predict_with_evidence(plan), step));
    warn_of_missing_runs();
    if (format == TableFormat::text) {
        if (profile.steps.empty())
            std::cerr << "all of the trace, which marks no step";
        else
            std::cerr << "step " << step.number << ", one of " << profile.steps.size() << " in the trace";
        std::cerr << (profile.device.empty() ? "" : ", " + profile.device);
        if (profile.rank >= 0)
            std::cerr << ", rank " << profile.rank << " of " << profile.ranks;
        std::cerr << "\n";
        if (profile.ranks > 0 && profile.ranks != plan.gpus)
            warn("the profiled training has " + std::to_string(profile.ranks) + " ranks, the plan "
                + std::to_string(plan.gpus));
    }
    if (options.picture.empty()) {
        std::cout << table.write(format);
        return kDone;
    }
    const auto trace = std::make_shared<const StepTrace>(StepTrace{options.file, profile, {}});
    const std::string title = plan.name.empty() ? plan.model.name : plan.name;
    FOURFOLD_TRY(const view::TraceStudy study,
        view::study_traces({trace}, {title, std::make_shared<const Prediction>(predict(plan)), {}}, options.step));
    FOURFOLD_CHECK(view::export_scenes(view::titled_scenes(study, title), {}, options.picture));
    std::cerr << "wrote " << printable(options.picture) << "\n";
    return kDone;
}

} // namespace

void add_profile(Cli& cli)
{
    auto* command = cli.app.add_subcommand(
        "profile", "A step that PyTorch's profiler saw, beside the predicted one, part by part");
    command->footer(
        "Times are of one rank. A kernel belongs to a part by its name; what is predicted of a part is the\n"
        "sum of the prices of its operations on the busiest stage. Idle is what waits: for other stages,\n"
        "the host, or a copy.");
    const auto options = std::make_shared<ProfileOptions>();
    options->plan.add_to(*command, true);
    command
        ->add_option("FILE", options->file,
            "what torch.profiler's export_chrome_trace() wrote on a rank, with ProfilerActivity.CUDA; packed "
            "(.json.gz) or not")
        ->required();
    command
        ->add_option(
            "--step", options->step, "the profiler's number of a step (default: the last one that it has whole)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
    CLI::Option* collectives = command->add_flag(
        "--collectives", options->collectives, "instead the collectives of the step: group, ranks, bytes, time");
    CLI::Option* picture
        = command
              ->add_option("--picture", options->picture,
                  "draw predicted and measured kernels over each other into this file instead: .svg, .pdf or .png")
              ->type_name("FILE");
    options->format.add_to(*command);
    picture->excludes(collectives); // it draws kernels, and prints no table
    for (const char* format : {"--format", "--json"})
        picture->excludes(format);
    command->callback([&cli, options] { cli.chosen = [options] { return run_profile(*options); }; });
}

} // namespace fourfold::cli
