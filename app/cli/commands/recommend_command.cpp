// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold recommend`: three answers in, a plan that fits out.
#include "app/cli/command.h"
#include "app/cli/output_file.h"
#include "app/cli/planning/budget_options.h"
#include "app/cli/text/predict_text.h"
#include "app/cli/text/progress_line.h"
#include "core/base/text.h"
#include "core/plan/fields.h"
#include "core/start/recommend.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct RecommendOptions {
    std::string model, cluster, extent, stack, output;
    int gpus = 0;
    double price = 0;
    bool json = false, replace = false;
};

std::string listed(const char* title, const std::vector<std::string>& sentences)
{
    std::string out = sentences.empty() ? "" : std::string("\n") + title + "\n";
    for (const std::string& sentence : sentences)
        out += "  " + sentence + "\n";
    return out;
}

Table runner_table(const Recommendation& recommendation)
{
    Table table;
    table.columns = {{"differs", "instead"}, {"tps_per_gpu", "TPS/GPU"}, {"speed_change", "speed", 1, 100, " %"},
        {"memory_device_gib", "device GiB", 1}};
    for (const RunnerUp& runner : recommendation.runner_ups)
        table.rows.push_back({runner.differs, runner.prediction.tps_per_gpu.value_or(0), runner.speed_change,
            runner.prediction.memory_device_gib.value_or(0)});
    return table;
}

std::string recommendation_text(const Recommendation& recommendation)
{
    std::string out = predict_text(recommendation.prediction);
    out += listed("why", recommendation.reasons);
    out += listed("taken where nothing was said", recommendation.assumed);
    out += economics_text(recommendation.economics);
    if (!recommendation.runner_ups.empty())
        out += "\nwhat else would do\n" + indented(runner_table(recommendation).write(TableFormat::text));
    return out;
}

Expected<int> run_recommend(const RecommendOptions& options)
{
    const Presets presets;
    StartAnswers answers;
    answers.gpus = options.gpus;
    answers.stack = options.stack;
    if (options.price > 0)
        answers.price_per_gpu_hour = options.price;
    FOURFOLD_TRY(answers.extent, parse_extent(options.extent, "--train"));
    FOURFOLD_TRY(answers.model, model_named(options.model, presets));
    FOURFOLD_TRY(answers.cluster, cluster_named(options.cluster, presets));
    FOURFOLD_TRY(const auto model_read, model_file(options.model, presets));
    FOURFOLD_CHECK(check_output(options.output, {model_read.string()}));
    FOURFOLD_TRY(const Recommendation recommendation, [&] {
        ProgressLine line;
        return recommend(answers, presets, line.of_search());
    }());
    if (!options.output.empty()) {
        const std::string plan = to_text(recommendation.plan);
        if (!options.replace)
            FOURFOLD_CHECK(check_same(options.output, plan, "name another file, or add --replace"));
        FOURFOLD_CHECK(write_file_atomically(options.output, plan));
    }
    if (options.json)
        print_json(to_json(recommendation));
    else
        std::cout << recommendation_text(recommendation)
                  << (options.output.empty() ? "" : "\nsaved as " + printable(options.output) + "\n");
    return kDone;
}

} // namespace

void add_recommend(Cli& cli)
{
    auto* command = cli.app.add_subcommand("recommend", "A plan for a model, GPUs and an amount of training");
    const auto options = std::make_shared<RecommendOptions>();
    command
        ->add_option("MODEL", options->model,
            "a preset's id or words of its name, a config.json, or a Hugging Face id that is in the local cache")
        ->required();
    command->add_option("--gpus", options->gpus, "number of GPUs")->required()->check(CLI::Range(1, kMaxGpus));
    command->add_option("--cluster", options->cluster, "a preset's id or words of its name")
        ->required()
        ->type_name("CLUSTER");
    command
        ->add_option("--train", options->extent, "tokens or a time, as in 15T or '30 days' (default: 20 per parameter)")
        ->type_name("AMOUNT");
    command
        ->add_option("--stack", options->stack, "software that trains (default: the best measured one on these GPUs)")
        ->type_name("STACK");
    command->add_option("--price", options->price, "price of one GPU hour, for cost")->check(number_up_to(1e12));
    auto* output = command->add_option("--output", options->output, "save the plan to this file")->type_name("FILE");
    command->add_flag("--replace", options->replace, "replace a file that is there with another content")
        ->needs(output);
    command->add_flag("--json", options->json, "print the result as JSON");
    command->callback([&cli, options] { cli.chosen = [options] { return run_recommend(*options); }; });
}

} // namespace fourfold::cli
