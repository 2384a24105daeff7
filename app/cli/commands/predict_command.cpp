// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold predict`: one prediction, or one for each line of a file.
#include "app/cli/output_file.h"
#include "app/cli/planning/budget_options.h"
#include "app/cli/planning/hidden_presets.h"
#include "app/cli/planning/plan_source.h"
#include "app/cli/planning/predict_batch.h"
#include "app/cli/text/explain_text.h"
#include "app/cli/text/predict_text.h"
#include "app/view/prediction/plan_charts.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/report/views/advice_table.h"
#include "core/search/explain_training.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

bool is_of_training(const std::string& figure)
{
    const std::vector<std::string>& known = training_figures();
    return std::find(known.begin(), known.end(), figure) != known.end();
}

struct PredictOptions {
    PlanOptions plan;
    std::string batch;
    bool json = false;
    bool explain = false;
    std::string report; // file; empty: none
    std::string figure; // to explain; empty = all in JSON, the step time as text
    bool advice = false, economics = false;
    BudgetOptions budget;
    [[nodiscard]] bool asks_economics() const { return economics || budget.given() || explains_training(); }
    // A figure of the whole training is to be explained.
    [[nodiscard]] bool explains_training() const { return is_of_training(figure); }
};

int run_batch(const PredictOptions& options)
{
    const std::string name = options.batch == "-" ? "/dev/stdin" : options.batch;
    std::error_code error;
    if (std::filesystem::is_directory(name, error))
        return fail({ProblemCode::bad_input, "is a folder, expected a file with one plan per line", "", name});
    std::ios::sync_with_stdio(false); // else it is not seen whether a pipe holds more
    const bool standard = name == "/dev/stdin"; // a socket there cannot be opened by its name
    std::ifstream file;
    if (!standard)
        file.open(name);
    if (!file)
        return fail({ProblemCode::not_found, "cannot be read",
            "--batch takes a file with one plan per line, or /dev/stdin", name});
    const auto result = predict_batch(standard ? std::cin : file, std::cout, name, options.plan.assignments);
    return result ? kDone : fail(result.error());
}

// What was asked of the whole training; without a question, what the plan itself says of it. Empty: nothing.
Expected<std::optional<TrainingBudget>> asked_budget(
    const Prediction& prediction, const Plan& plan, const PredictOptions& options)
{
    if (!options.asks_economics() && !has_budget(plan))
        return std::optional<TrainingBudget>();
    FOURFOLD_TRY(const TrainingBudget budget, options.budget.budget(plan, prediction.plan));
    return std::optional<TrainingBudget>(budget);
}

AdviceReport advice_beside(const Prediction& prediction)
{
    AdviceRequest request;
    request.plan = prediction.plan;
    request.now = std::make_shared<const Prediction>(prediction);
    return advise(request);
}

// The prediction as JSON, with the trees that were asked for.
Expected<Json> answer(const Prediction& prediction, const Plan& plan, const PredictOptions& options)
{
    Json json = to_json(prediction);
    FOURFOLD_TRY(const auto budget, asked_budget(prediction, plan, options));
    if (budget) {
        json["economics"] = prediction.step_time_s
            ? to_json(economics_of(prediction.plan, *prediction.step_time_s, *budget))
            : Json();
        if (prediction.step_time_s)
            json["economics"]["inputs"] = to_json(*budget);
    }
    if (options.advice)
        json["advice"] = to_json(advice_beside(prediction));
    if (!options.explain)
        return json;
    if (options.figure.empty()) {
        json["explanation"] = explanation_json(prediction);
        if (budget)
            json["explanation"].update(training_explanation_json(prediction, *budget));
        return json;
    }
    FOURFOLD_TRY(const Explanation tree,
        options.explains_training() ? explain_training(prediction, *budget, options.figure)
                                    : explain(prediction, options.figure));
    json["explanation"] = Json{{options.figure, to_json(tree)}};
    return json;
}

Expected<std::string> readable(const Prediction& prediction, const Plan& plan, const PredictOptions& options)
{
    FOURFOLD_TRY(const auto budget, asked_budget(prediction, plan, options));
    if (!options.explain) {
        std::string text = predict_text(prediction);
        if (budget && prediction.step_time_s)
            text += economics_text(economics_of(prediction.plan, *prediction.step_time_s, *budget));
        if (options.advice)
            text += advice_text(advice_beside(prediction));
        return text;
    }
    const std::string figure = options.figure.empty() ? "step_time_s" : options.figure;
    FOURFOLD_TRY(const Explanation tree,
        options.explains_training() ? explain_training(prediction, *budget, figure) : explain(prediction, figure));
    return explanation_text(tree);
}

Expected<int> run_single(const PredictOptions& options)
{
    const Presets presets;
    if (!options.report.empty()) {
        FOURFOLD_CHECK(check_report_file(options.report));
        FOURFOLD_CHECK(check_output(options.report, {options.plan.plan}));
    }
    FOURFOLD_TRY(const auto plan, options.plan.load(presets));
    FOURFOLD_TRY(const auto evaluated, evaluate(plan, presets));
    if (const auto note = hidden_presets_note(presets_of(evaluated.resolved)))
        warn(*note);
    // A plan that breaks a rule is unusable input; with --json the object still says all that is known of it.
    const bool usable = evaluated.broken_rules.empty();
    if (usable || options.json) {
        // Unknown keys were told on standard error; a program reads them in the object.
        if (options.json) {
            FOURFOLD_TRY(const auto json, answer(predict_with_warnings(evaluated.resolved, plan), plan, options));
            print_json(json);
        } else {
            const auto prediction = std::make_shared<const Prediction>(predict_with_evidence(evaluated.resolved));
            FOURFOLD_TRY(const auto text, readable(*prediction, plan, options));
            if (!options.report.empty()) {
                const std::string& name = evaluated.resolved.name;
                FOURFOLD_CHECK(
                    write_report(view::plan_report(prediction, name.empty() ? evaluated.resolved.model.name : name),
                        options.report));
                std::cerr << "wrote " << printable(options.report) << "\n";
            }
            std::cout << text;
        }
    }
    return usable ? kDone : fail(problem_of(evaluated.broken_rules.front(), plan.where));
}

} // namespace

void add_predict(Cli& cli)
{
    auto* command = cli.app.add_subcommand("predict", "Memory, step time and throughput of a plan");
    const auto options = std::make_shared<PredictOptions>();
    options->plan.add_to(*command, false);
    command->add_option("--batch", options->batch, "file with one plan per line (JSON Lines); - or /dev/stdin work")
        ->type_name("FILE");
    command->add_flag("--json", options->json, "print the prediction as JSON");
    std::string figures;
    for (const std::string& figure : explained_figures())
        figures += (figures.empty() ? "" : ", ") + figure;
    figures += "; of the whole training " + joined(training_figures(), ", ");
    CLI::Option* explain = command
                               ->add_option("--explain", options->figure,
                                   "where a figure comes from, as a tree of its terms: " + figures
                                       + " (step_time_s where none is named; with --json all of them)")
                               ->type_name("[FIGURE]")
                               ->expected(0, 1);
    command->add_flag("--advice", options->advice,
        "what would make the plan fit and what would make it faster: single changes with their price");
    command->add_flag("--budget", options->economics,
        "time, energy and cost of the whole training; any of the options below asks for it too, and a plan with a "
        "`budget`");
    options->budget.add_to(*command);
    command
        ->add_option("--report", options->report,
            "write a page about the plan as well: figures, memory, step time "
            "and timeline")
        ->type_name("FILE.pdf")
        ->excludes("--batch")
        ->excludes("--json");
    command->callback([&cli, options, explain] {
        options->explain = explain->count() > 0;
        cli.chosen = [options]() -> Expected<int> {
            if ((options->advice || options->economics || options->budget.given()) && !options->batch.empty())
                return fail({ProblemCode::bad_input, "--advice and --budget take one plan, not --batch", "name a plan",
                    "arguments"});
            if (options->explain && !options->batch.empty())
                return fail(
                    {ProblemCode::bad_input, "--explain takes one plan, not --batch", "name a plan", "arguments"});
            const std::vector<std::string>& known = explained_figures();
            if (options->plan.plan.empty() && options->batch.empty() && !options->figure.empty()
                && std::find(known.begin(), known.end(), options->figure) == known.end()
                && !options->explains_training())
                return fail({ProblemCode::bad_input,
                    "--explain took " + in_quotes(options->figure) + " for the figure to explain, and no plan is left",
                    "name the plan before --explain", "arguments"});
            if (options->plan.plan.empty() == options->batch.empty())
                return fail({ProblemCode::bad_input,
                    options->batch.empty() ? "no plan is given" : "both a plan and --batch are given",
                    "name a plan file or preset, or --batch FILE", "arguments"});
            return options->batch.empty() ? run_single(*options) : run_batch(*options);
        };
    });
}

} // namespace fourfold::cli
