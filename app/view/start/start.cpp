// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/start/start.h"

#include "app/view/plan/facts.h"
#include "core/base/text.h"
#include "core/plan/fields.h"
#include "core/report/table/table.h"

#include <algorithm>
#include <charconv>

namespace fourfold::view {

namespace {

Expected<int> gpus_of(const std::string& text)
{
    const std::string_view written = trimmed(text);
    int gpus = 0;
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), gpus);
    if (error != std::errc() || end != written.data() + written.size() || gpus < 1 || gpus > kMaxGpus)
        return Problem{ProblemCode::bad_input, "is no number of GPUs: " + in_quotes(text),
            "write a whole number from 1 to " + std::to_string(kMaxGpus), "GPUs"};
    return gpus;
}

// Nothing was typed: said as that, not as an empty name that nobody knows.
Problem nothing_named(const char* what, const char* hint)
{
    return {ProblemCode::bad_input, std::string("no ") + what + " is named", hint, {}};
}

std::string figures_of(const Prediction& prediction)
{
    return shown_number(prediction.tps_per_gpu.value_or(0), 0) + " tokens/s per GPU, "
        + shown_number(prediction.memory_device_gib.value_or(0), 1) + " of "
        + shown_number(prediction.memory_capacity_gib, 1) + " GiB";
}

} // namespace

Start::Start(const Presets& presets, std::function<void()> wake)
    : presets_(presets)
    , work_(std::move(wake))
{
}

Start::Questions Start::first_questions(const std::optional<ResolvedPlan>& open)
{
    Questions questions{"", "8", "", ""};
    if (!open || open->cluster.gpu.is_cpu())
        return questions; // the example: nobody means it
    questions.model = open->model.id;
    questions.cluster = open->cluster.id;
    questions.gpus = std::to_string(open->gpus);
    return questions;
}

Start::Questions Start::spread(Questions questions)
{
    constexpr std::string_view kOn = " on ";
    const std::size_t on = lower_case(questions.model).rfind(kOn);
    if (on == std::string::npos)
        return questions;
    const std::string rest(trimmed(std::string_view(questions.model).substr(on + kOn.size())));
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789,"), rest.size());
    if (digits == 0)
        return questions; // "on" is a word of the model's
    questions.gpus = rest.substr(0, digits);
    std::erase(questions.gpus, ',');
    std::string_view cluster = trimmed(std::string_view(rest).substr(digits));
    if (cluster.starts_with("x ")) // 512 x H100
        cluster = trimmed(cluster.substr(2));
    if (!cluster.empty())
        questions.cluster = cluster;
    questions.model = std::string(trimmed(std::string_view(questions.model).substr(0, on)));
    return questions;
}

Expected<void> Start::ask(const Questions& typed)
{
    take_back();
    const Questions questions = spread(typed);
    StartAnswers answers;
    refused_ = 0; // the one that is read
    const std::string model(trimmed(questions.model)), cluster(trimmed(questions.cluster));
    if (model.empty())
        return nothing_named("model", "a preset, words of its name, a config.json, or an id in Hugging Face's cache");
    FOURFOLD_TRY(answers.model, model_named(model, presets_));
    ++refused_;
    FOURFOLD_TRY(answers.gpus, gpus_of(questions.gpus));
    ++refused_;
    if (cluster.empty())
        return nothing_named("cluster", "a preset, or words of its name, as in dgx h100");
    FOURFOLD_TRY(answers.cluster, cluster_named(cluster, presets_));
    ++refused_;
    FOURFOLD_TRY(answers.extent, parse_extent(questions.extent, "training"));
    refused_ = -1;
    work_.start([this, answers = std::move(answers)](const std::stop_token& stop) -> Background::Done {
        auto outcome = std::make_shared<Expected<Recommendation>>(recommend(answers, presets_, {}, stop));
        return [this, outcome] {
            if (*outcome)
                found_ = *std::move(*outcome);
            else
                problem_ = outcome->error();
        };
    });
    return {};
}

void Start::take_back()
{
    work_.cancel();
    found_.reset();
    problem_.reset();
}

bool Start::receive()
{
    return work_.deliver();
}

std::vector<Start::Choice> Start::choices() const
{
    std::vector<Choice> choices;
    if (!found_)
        return choices;
    choices.push_back({layout_line(found_->prediction.plan.layout), figures_of(found_->prediction), &found_->plan});
    for (const RunnerUp& runner : found_->runner_ups)
        choices.push_back({layout_line(runner.prediction.plan.layout),
            figures_of(runner.prediction) + text_of(", %+.1f %% speed; ", 100 * runner.speed_change) + runner.differs,
            &runner.plan});
    return choices;
}

std::vector<std::string> Start::sentences() const
{
    std::vector<std::string> out;
    if (!found_)
        return out;
    out = found_->reasons;
    out.insert(out.end(), found_->assumed.begin(), found_->assumed.end());
    const Economics& whole = found_->economics;
    out.push_back("The whole training: " + extent_text({whole.tokens, 0}) + ", " + shown_number(whole.days)
        + " days without failures, " + shown_number(whole.gpu_hours, 0) + " GPU hours.");
    return out;
}

} // namespace fourfold::view
