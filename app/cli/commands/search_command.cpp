// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold search`: every layout that the plan's model, cluster and batch allow, best first.
#include "app/cli/planning/budget_options.h"
#include "app/cli/planning/plan_source.h"
#include "app/cli/planning/shape_search.h"
#include "app/cli/text/predict_text.h"
#include "app/cli/text/progress_line.h"
#include "app/cli/text/search_text.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/fields.h"
#include "core/search/search_cost.h"

#include <cmath>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct SearchOptions {
    PlanOptions plan;
    int gpus = 0, max_gpus = 0, top = 10, threads = 0;
    std::vector<std::string> constraints, axes;
    std::string objective; // empty: tokens/s per GPU, as it is expected of a pick
    double batch_tolerance = 0;
    BudgetOptions budget;
    ShapeOptions shape;
    bool pareto = false, fields = false, any_size = false, hides_refused = false;
    FormatOptions format;
};

// Without layouts to search, options of layouts would be passed over in silence.
Expected<void> check_shape_options(const SearchOptions& options, const std::vector<std::string>& layout_axes)
{
    const ShapeOptions& shape = options.shape;
    const auto refuse = [&](bool given, const char* option) -> Expected<void> {
        if (!given)
            return {};
        return Problem{ProblemCode::bad_input,
            std::string(option) + " is a choice among layouts, and --shape"
                + (shape.measured.empty() ? " keeps the plan's" : " --measured has the table's"),
            shape.measured.empty() ? "add --with-layouts, or change the plan with --set" : "leave it out", "arguments"};
    };
    if (shape.with_layouts && shape.measured.empty())
        return refuse(options.pareto, "--pareto");
    FOURFOLD_CHECK(refuse(options.gpus > 0, "--gpus"));
    FOURFOLD_CHECK(refuse(options.max_gpus > 0, "--max-gpus"));
    FOURFOLD_CHECK(refuse(!options.constraints.empty(), "--constraint"));
    FOURFOLD_CHECK(refuse(!layout_axes.empty(), "--axis"));
    FOURFOLD_CHECK(refuse(!options.objective.empty(), "--objective"));
    FOURFOLD_CHECK(refuse(options.batch_tolerance > 0, "--batch-tolerance"));
    return refuse(options.pareto, "--pareto");
}

Expected<SearchRequest> request_of(
    const SearchOptions& options, const std::vector<std::string>& axes, const Presets& presets)
{
    FOURFOLD_TRY(const Plan plan, options.plan.load(presets));
    SearchRequest request;
    FOURFOLD_TRY(request.plan, resolve(plan, presets));
    for (const std::string& warning : unknown_key_warnings(plan))
        warn(warning);
    if (options.gpus > 0 && options.max_gpus > 0)
        return Problem{ProblemCode::bad_input, "both --gpus and --max-gpus are given", "give one of them", "arguments"};
    std::vector<int> gpus{options.gpus > 0 ? options.gpus : request.plan.gpus};
    if (options.max_gpus > 0)
        gpus = gpu_counts(request.plan.cluster, options.max_gpus);
    request.space = default_space(request.plan, std::move(gpus));
    for (const std::string& axis : axes)
        FOURFOLD_CHECK(set_axis(request.space, axis, "--axis"));
    request.space.batch_tolerance = options.batch_tolerance;
    for (const std::string& constraint : options.constraints) {
        FOURFOLD_TRY(const Expression expression,
            parse_expression(constraint, ValueKind::truth, plan_field_set(), "--constraint"));
        request.require(expression);
    }
    request.expected = options.objective.empty();
    FOURFOLD_TRY(
        request.objective, parse_objective(request.expected ? "tps_per_gpu" : options.objective, "--objective"));
    FOURFOLD_TRY(request.budget, options.budget.budget(plan, request.plan));
    FOURFOLD_CHECK(check_known(request, "--"));
    request.top = options.top;
    request.threads = options.threads;
    request.hides_refused = options.hides_refused;
    use_own_runs(request);
    return request;
}

// Says what a long search will take, and refuses one that is hardly meant.
Expected<void> consider_cost(const SearchRequest& request, bool any_size)
{
    constexpr double kMayBeLong = 1e8; // combinations
    constexpr double kToldFrom = 5; // seconds
    if (request.space.combinations() < kMayBeLong)
        return {};
    const SearchCost cost = search_cost(request);
    const double digit = std::pow(10, std::floor(std::log10(cost.layouts)) - 1);
    const std::string words = "about " + shown_number(std::round(cost.layouts / digit) * digit, 0)
        + " layouts, which takes about " + duration_text(cost.seconds);
    if (cost.layouts > kManyLayouts && !any_size)
        return Problem{ProblemCode::bad_input,
            "the search has " + words + "; the limit is " + shown_number(kManyLayouts, 0) + " layouts",
            "narrow it with --max-gpus or --axis, or add --any-size", "arguments"};
    if (cost.seconds > kToldFrom)
        std::cerr << "fourfold: searching " + words + "\n" << std::flush;
    return {};
}

Expected<int> run_search(const SearchOptions& options)
{
    if (options.fields) {
        std::cout << field_table().write(TableFormat::text);
        return kDone;
    }
    FOURFOLD_TRY(const auto format, options.format.format());
    const Presets presets;
    std::vector<std::string> axes = options.axes;
    ShapeSpace shapes;
    if (options.shape.shape) {
        FOURFOLD_TRY(auto space, shape_space(options.shape, axes));
        shapes = std::move(space);
        FOURFOLD_CHECK(check_shape_options(options, axes));
        if (!options.shape.measured.empty())
            return run_measured_shapes(options.shape.measured, presets, format);
    }
    FOURFOLD_TRY(const auto request, request_of(options, axes, presets));
    if (request.plan.training.schedule == Schedule::csv)
        warn("a schedule file is of one shape: it is not among the schedules that are tried");
    if (!options.shape.shape || options.shape.with_layouts) {
        FOURFOLD_CHECK(consider_cost(request, options.any_size));
    }
    if (options.shape.shape)
        return run_shapes({request, shapes, options.shape.with_layouts, options.threads}, options.top, format);
    const SearchResult result = [&] {
        ProgressLine line;
        return search(request, line.of_search());
    }();
    warn_of_missing_runs();
    if (format == TableFormat::json)
        print_json(search_json(request, result));
    else if (format == TableFormat::text)
        std::cout << search_text(request, result, options.pareto);
    else
        std::cout << layout_table(request, options.pareto ? result.pareto : result.best).write(format);
    return result.best.empty() ? fail(nothing_found(request, result)) : kDone;
}

} // namespace

void add_search(Cli& cli)
{
    auto* command = cli.app.add_subcommand("search", "Every layout for a plan's model and cluster, best first");
    const auto options = std::make_shared<SearchOptions>();
    options->plan.add_to(*command, false);
    command->add_option("--gpus", options->gpus, "number of GPUs (default: the plan's)")
        ->check(CLI::Range(1, kMaxGpus));
    command->add_option("--max-gpus", options->max_gpus, "any number of GPUs up to this: whole nodes, or part of one")
        ->check(CLI::Range(1, kMaxGpus));
    command
        ->add_option("--constraint", options->constraints,
            "what must hold, e.g. 'dp % 4 == 0' or 'memory_gib < 70'; may be repeated")
        ->type_name("EXPR")
        ->allow_extra_args(false);
    command->add_option("--objective", options->objective,
        "the bare figure to order by: step_time, tps_per_gpu, mfu, days, cost, memory ..., or min or max and an "
        "expression (default: tps_per_gpu as expected of the pick, given how well its kind was measured)");
    command
        ->add_option("--axis", options->axes,
            "values to try instead of the usual ones, e.g. tp=1,2,4 or recompute=none; may be repeated")
        ->type_name("NAME=VALUES")
        ->allow_extra_args(false);
    command->add_option("--top", options->top, "how many of the best to show")->check(CLI::Range(1, 100'000));
    command
        ->add_option("--batch-tolerance", options->batch_tolerance,
            "share by which the global batch may be rounded to fit a layout, e.g. 0.01")
        ->check(number_up_to(0.5, true));
    options->budget.add_to(*command);
    options->shape.add_to(*command);
    command->add_option("--threads", options->threads, "default: one per core")->check(CLI::Range(1, 1024));
    command->add_flag("--any-size", options->any_size,
        "search also where there are more than " + shown_number(kManyLayouts, 0) + " layouts");
    command->add_flag("--pareto", options->pareto, "show the Pareto front of speed, memory and GPUs");
    command->add_flag("--hide-refused", options->hides_refused,
        "leave out and count layouts that fit, but at which the plan's software would stop");
    command->add_flag("--fields", options->fields, "list the fields that expressions may use");
    options->format.add_to(*command);
    command->callback([&cli, options] {
        cli.chosen = [options]() -> Expected<int> {
            if (options->plan.plan.empty() && !options->fields && options->shape.measured.empty())
                return fail({ProblemCode::bad_input, "no plan is given", "name a plan file or preset", "arguments"});
            return run_search(*options);
        };
    });
}

} // namespace fourfold::cli
