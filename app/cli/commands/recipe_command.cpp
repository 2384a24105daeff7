// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold recipe`: from text to a model that is worth having, step by step, and how its loss falls.
#include "app/cli/command.h"
#include "app/cli/history/history_view.h"
#include "app/cli/output_file.h"
#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/calibration/user/evidence.h"
#include "core/history/event_types.h"
#include "core/layout/batch_ramp.h"
#include "core/start/recipe.h"

#include <iostream>
#include <map>
#include <memory>

namespace fourfold::cli {

namespace {

struct RecipeOptions {
    std::string id, output, run;
    bool curve = false;
    FormatOptions format;
};

Table table_of_recipes(const Presets& presets)
{
    Table table;
    table.columns = {{"id", "id"}, {"name", "name"}, {"parameters", "parameters", 3, 1e-9, " B"}, {"gpus", "GPUs"},
        {"tokens", "tokens", 3, 1e-9, " B"}, {"loss", "loss at the end", 2}, {"time", "time"}};
    for (const std::string& id : recipe_ids(presets)) {
        const Expected<Recipe> recipe = read_recipe(id, presets);
        const Expected<ResolvedPlan> plan
            = recipe ? resolve(recipe->plan, presets) : Expected<ResolvedPlan>(recipe.error());
        if (!plan) {
            warn(plan.error().line());
            continue;
        }
        const double tokens = total_steps(plan->training, plan->run) * plan->tokens_per_step();
        table.rows.push_back({id, recipe->name, plan->model.parameters(), std::int64_t{plan->gpus}, tokens,
            cell(recipe->curves.front().at(tokens)), recipe->time});
    }
    return table;
}

// Lines of at most 100 columns.
std::string in_lines(const std::string& text, const std::string& indent)
{
    constexpr std::size_t kWidth = 100;
    std::string out, line = indent;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (line.size() > indent.size() && line.size() + 1 + word.size() > kWidth) {
            out += line + "\n";
            line = indent;
        }
        line += (line.size() > indent.size() ? " " : "") + word;
        at = end + 1;
    }
    return out + line + "\n";
}

std::string recipe_text(const Recipe& recipe, const ResolvedPlan& plan)
{
    const Prediction prediction = predict_with_evidence(plan);
    const int steps = total_steps(plan.training, plan.run);
    std::string out = recipe.name + "\n\n";
    out += "takes\n" + in_lines(recipe.hardware + "; " + recipe.time, "  ");
    if (prediction.step_time_s) {
        constexpr double kHour = 3600;
        out += in_lines("predicted: " + shown_number(steps * *prediction.step_time_s / kHour, 1) + " hours of "
                + shown_number(double(steps), 0) + " steps, "
                + shown_number(prediction.memory_device_gib.value_or(0), 1) + " of "
                + shown_number(prediction.memory_capacity_gib, 1) + " GiB",
            "  ");
    }
    out += "\ntext\n" + in_lines(recipe.text, "  ") + "\nfrom text to a model\n";
    for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
        out += in_lines(std::to_string(i + 1) + ". " + recipe.steps[i].what, "  ");
        out += indented(indented(recipe.steps[i].command + "\n"));
    }
    for (const LossCurve& curve : recipe.curves) {
        out += "\nexpected: " + curve.name + "\n" + in_lines(curve.source, "  ");
        out += curve.about.empty() ? "" : in_lines(curve.about, "  ");
    }
    return out;
}

// The held-out losses of a run, or where nothing was held out those of its steps.
std::vector<std::pair<int, double>> held_out_losses(const RunDetail& run)
{
    std::vector<std::pair<int, double>> losses;
    for (const Json& event : run.other_events) {
        const EvalEvent held = kind_of(event) == EventKind::eval ? read_event<EvalEvent>(event) : EvalEvent();
        if (held.step && held.loss)
            losses.emplace_back(static_cast<int>(*held.step), *held.loss);
    }
    if (losses.empty()) {
        for (const StepRow& step : run.steps)
            if (step.loss)
                losses.emplace_back(step.step, *step.loss);
    }
    return losses;
}

// What is expected, at its own places or at those where a run has a loss.
Table expected_table(const Recipe& recipe, const ResolvedPlan& plan, const std::optional<RunDetail>& run)
{
    Table table;
    table.columns = {{"tokens", "tokens", 1, 1e-6, " M"}, {"step", "step"}};
    for (const LossCurve& curve : recipe.curves)
        table.columns.push_back({&curve == &recipe.curves.front() ? "expected" : curve.name, {}, 4});
    const auto add = [&](double tokens, const std::optional<double>& measured) {
        std::vector<Cell> row{tokens, static_cast<std::int64_t>(std::llround(tokens / plan.tokens_per_step()))};
        for (const LossCurve& curve : recipe.curves)
            row.push_back(cell(curve.at(tokens)));
        if (measured) {
            const auto expected = recipe.curves.front().at(tokens);
            row.emplace_back(*measured);
            row.push_back(cell(expected ? std::optional(*measured - *expected) : std::nullopt));
        }
        table.rows.push_back(std::move(row));
    };
    if (!run) {
        for (const LossPoint& point : recipe.curves.front().points)
            add(point.tokens, {});
        return table;
    }
    table.columns.push_back({"measured", {}, 4});
    table.columns.push_back({"difference", {}, 4});
    for (const auto& [step, loss] : held_out_losses(*run)) {
        const StepBatch batch = step_batch(plan.training, std::max(0, step - 1));
        add((batch.first + batch.size) * plan.training.seq_len, loss);
    }
    return table;
}

// The plan as ID.plan.json, and the scripts that the steps name, into a folder.
Expected<void> write_recipe(const Recipe& recipe, const std::filesystem::path& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Problem{ProblemCode::io, "cannot be made: " + error.message(), "", folder.string()};
    std::map<std::string, std::string> files{{recipe.id + ".plan.json", to_text(recipe.plan)}};
    for (const std::string& name : recipe.files) {
        FOURFOLD_TRY(const std::filesystem::path from, recipe_file(name));
        FOURFOLD_TRY(files[name], read_text_file(from));
    }
    for (const auto& [name, text] : files)
        FOURFOLD_CHECK(check_same(folder / name, text, "give another folder, or move it away"));
    for (const auto& [name, text] : files)
        FOURFOLD_CHECK(write_file_atomically(folder / name, text));
    return {};
}

Expected<int> show_recipe(const RecipeOptions& options, const Presets& presets)
{
    FOURFOLD_TRY(const TableFormat format, options.format.format());
    FOURFOLD_TRY(const Recipe recipe, read_recipe(options.id, presets));
    FOURFOLD_TRY(ResolvedPlan plan, resolve(recipe.plan, presets));
    if (!options.output.empty()) {
        if (options.curve || !options.run.empty())
            return Problem{ProblemCode::bad_input,
                std::string(options.curve ? "--curve" : "--run") + " prints, --output writes the plan and its scripts",
                "give one of them", "arguments"};
        FOURFOLD_CHECK(check_output(options.output, {}));
        FOURFOLD_CHECK(write_recipe(recipe, options.output));
        std::cout << "saved in " << printable(options.output, kUncut) << "\n";
        return kDone;
    }
    std::optional<RunDetail> run;
    if (!options.run.empty()) {
        FOURFOLD_TRY(const auto store, open_history_with_runs());
        FOURFOLD_TRY(run, store.show(options.run));
        // Its own batch and length, whatever the recipe's are.
        FOURFOLD_TRY(plan, read_resolved(run->plan, "plan of run " + run->summary.id));
        if (const auto followed = recipe_followed(plan, presets); !followed || followed->id != recipe.id)
            warn("run " + run->summary.id + " has another model, batch or rate than " + recipe.id);
    }
    if (run || options.curve)
        std::cout << expected_table(recipe, plan, run).write(format);
    else if (format == TableFormat::text)
        std::cout << recipe_text(recipe, plan);
    else
        print_json(to_json(recipe));
    return kDone;
}

Expected<int> run_recipe(const RecipeOptions& options)
{
    const Presets presets;
    if (!options.id.empty())
        return show_recipe(options, presets);
    if (options.curve || !options.output.empty() || !options.run.empty())
        return Problem{ProblemCode::bad_input, "of which recipe?", "`fourfold recipe` lists them", "arguments"};
    FOURFOLD_TRY(const TableFormat format, options.format.format());
    std::cout << table_of_recipes(presets).write(format);
    return kDone;
}

} // namespace

void add_recipe(Cli& cli)
{
    auto* command = cli.app.add_subcommand("recipe", "From text to a model that is worth having, step by step");
    command->footer("Without ID the recipes are listed. Their plans are plan presets: `fourfold predict ID`.");
    const auto options = std::make_shared<RecipeOptions>();
    command->add_option("ID", options->id, "the recipe to show");
    command->add_option("--output", options->output, "write its plan and the scripts of its steps into this folder")
        ->type_name("FOLDER");
    command->add_flag("--curve", options->curve, "print the losses that are expected");
    command->add_option("--run", options->run, "lay the losses of a run beside them")->type_name("RUN");
    options->format.add_to(*command);
    command->callback([&cli, options] { cli.chosen = [options] { return run_recipe(*options); }; });
}

} // namespace fourfold::cli
