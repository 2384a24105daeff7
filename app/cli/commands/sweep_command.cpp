// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold sweep`: layouts x numbers of GPUs, predicted, alone or beside a measured table.
#include "app/cli/planning/plan_source.h"
#include "app/cli/planning/table_file.h"
#include "app/cli/text/progress_line.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/report/views/grid_table.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct SweepCommandOptions {
    PlanOptions plan;
    std::string layouts, gpus, value = "tps_per_gpu", measured;
    int threads = 0;
    FormatOptions format;
};

Expected<std::unique_ptr<MeasuredGrid>> measured_grid(
    const std::string& name, const ResolvedPlan& plan, const Presets& presets)
{
    FOURFOLD_TRY(const MeasuredTable table, load_measured_table(name, presets));
    auto grid = std::make_unique<MeasuredGrid>(table, plan);
    if (grid->size() == 0)
        return Problem{ProblemCode::bad_input,
            "no row was measured on the plan's model (" + plan.model.name + "), GPU (" + plan.cluster.gpu.name
                + ") and training (seq_len " + std::to_string(plan.training.seq_len) + ", global_batch "
                + std::to_string(plan.training.global_batch) + ", " + to_text(plan.training.precision) + ", sharding "
                + to_text(plan.training.sharding) + ")",
            "choose them with --set, for example --set training.seq_len=16384", table.file};
    return grid;
}

Expected<int> sweep(const SweepCommandOptions& options)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    FOURFOLD_TRY(const auto value, from_text<GridValue>(options.value, "--value"));
    const Presets presets;
    FOURFOLD_TRY(const auto plan, options.plan.load(presets));
    FOURFOLD_TRY(const auto base, resolve(plan, presets));
    for (const std::string& warning : unknown_key_warnings(plan))
        warn(warning);

    std::unique_ptr<MeasuredGrid> measured;
    if (!options.measured.empty()) {
        FOURFOLD_TRY(auto read, measured_grid(options.measured, base, presets));
        measured = std::move(read);
    }
    std::vector<GridLayout> layouts = measured ? measured->layouts() : std::vector<GridLayout>{};
    if (!options.layouts.empty()) {
        FOURFOLD_TRY(const auto text, read_input(options.layouts));
        FOURFOLD_TRY(auto read, read_grid_layouts(text, options.layouts));
        layouts = std::move(read);
    }
    std::vector<int> gpus = measured ? measured->gpus() : std::vector<int>{base.gpus};
    if (!options.gpus.empty()) {
        FOURFOLD_TRY(auto read, read_grid_gpus(options.gpus, "--gpus"));
        gpus = std::move(read);
    }
    if (layouts.empty())
        return fail({ProblemCode::bad_input, "no layouts are given",
            "name a CSV file of tp,cp,pp,micro_batch with --layouts, or a measured table with --measured",
            "arguments"});

    constexpr std::size_t kMostCells = 1'000'000;
    const std::size_t cells = layouts.size() * gpus.size();
    if (cells > kMostCells)
        return fail({ProblemCode::bad_input,
            shown_number(double(layouts.size()), 0) + " layouts on " + shown_number(double(gpus.size()), 0)
                + " numbers of GPUs are " + shown_number(double(cells), 0) + " cells; the limit is "
                + shown_number(double(kMostCells), 0),
            "sweep a part of them", "arguments"});
    const LayoutGrid grid = [&] {
        ProgressLine line;
        std::size_t done = 0;
        return sweep_layouts(
            base, std::move(layouts), std::move(gpus), options.threads,
            [&](auto, auto, const GridCell&) {
                ++done;
                line.show(double(done) / double(cells), shown_number(double(done), 0) + " cells");
            },
            {}, predicting_beside_own_runs(base));
    }();
    warn_of_missing_runs();
    if (format == TableFormat::json) {
        print_json(grid_json(grid, value, measured.get()));
        return kDone;
    }
    std::cout << grid_table(grid, value, measured.get(), format).write(format);
    if (measured && (format == TableFormat::text || format == TableFormat::markdown))
        std::cout << "\n" << agreement_text(grid, *measured, value);
    return kDone;
}

} // namespace

void add_sweep(Cli& cli)
{
    auto* command = cli.app.add_subcommand("sweep", "A table of layouts x numbers of GPUs, beside measured ones");
    const auto options = std::make_shared<SweepCommandOptions>();
    options->plan.add_to(*command, true);
    command
        ->add_option("--layouts", options->layouts,
            "CSV file with a head line tp,cp,pp,micro_batch[,virtual_stages] and one layout per line")
        ->type_name("FILE");
    command->add_option("--gpus", options->gpus, "numbers of GPUs, e.g. 8,16,32 (default: the plan's)")
        ->type_name("LIST");
    command->add_option("--value", options->value, "what to show: " + joined(spellings<GridValue>(), ", "));
    command
        ->add_option("--measured", options->measured,
            "measured table (a CSV file, or the name of a published one) to print beside: predicted / measured; its "
            "layouts and numbers of GPUs where none are given")
        ->type_name("FILE");
    command->add_option("--threads", options->threads, "default: one per core")->check(CLI::Range(1, 1024));
    options->format.add_to(*command);
    command->callback([&cli, options] { cli.chosen = [options] { return sweep(*options); }; });
}

} // namespace fourfold::cli
