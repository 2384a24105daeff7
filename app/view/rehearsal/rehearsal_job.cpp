// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/rehearsal/rehearsal_job.h"

#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "core/report/views/rehearsal_report.h"
#include "core/schedule/chrome_trace.h"

namespace fourfold::view {

namespace {

RehearsalOutcome not_proven(std::string plan, const Problem& why)
{
    RehearsalOutcome outcome;
    outcome.plan = std::move(plan);
    outcome.tone = why.code == ProblemCode::cancelled ? Tone::neutral : Tone::bad;
    outcome.headline = "Nothing is proven";
    outcome.verdict = why.line();
    return outcome;
}

// The step as it was rehearsed, beside the one that is planned of what was handed to the trainer.
void add_timelines(RehearsalOutcome& outcome, const Json& result, ResolvedPlan plan)
{
    const auto told = result.find("timeline");
    if (told == result.end() || !hand_to_trainer(plan, Presets()))
        return;
    if (Expected<Timeline> rehearsed = timeline_from_chrome_trace(*told, "rehearsal"))
        outcome.rehearsed = *std::move(rehearsed);
    outcome.planned = predict(plan).timeline;
}

RehearsalOutcome outcome_of(std::string name, const ResolvedPlan& plan, const Expected<Json>& result)
{
    if (!result)
        return not_proven(std::move(name), result.error());
    RehearsalOutcome outcome;
    outcome.plan = std::move(name);
    outcome.tone = Tone::good;
    outcome.verdict = rehearsal_verdict(*result);
    outcome.stages = rehearsal_stages(*result);
    add_timelines(outcome, *result, plan);
    for (const Json& problem : (*result)["problems"])
        outcome.culprits.push_back(problem.get<std::string>());
    if ((*result)["deadlock"].get<bool>())
        outcome.headline = "Would not run: ranks wait for each other for ever";
    else if (!(*result)["fits"].get<bool>())
        outcome.headline = "Would not run: it does not fit into memory";
    else if (!outcome.culprits.empty())
        outcome.headline = "Would not run";
    else
        outcome.headline = "Fits, and no rank waits for ever";
    if ((*result)["verdict"] != "ok")
        outcome.tone = Tone::bad;
    return outcome;
}

// As a table where its lines hold in so many columns, else a sentence a stage.
std::string stages_text(const Table& stages, std::size_t columns)
{
    std::string text = stages.write(TableFormat::text);
    if (display_width(text.substr(0, text.find('\n'))) <= columns)
        return text;
    text.clear();
    for (const std::vector<Cell>& row : stages.rows) {
        const char* before = "";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Column& column = stages.columns[i];
            text += before + (column.title.empty() ? column.key : column.title) + " " + shown(row[i], column);
            before = i == 0 ? ": " : ", ";
        }
        text += "\n";
    }
    return text;
}

} // namespace

std::string RehearsalOutcome::text(std::size_t columns) const
{
    std::string text = headline + "\n" + plan + "\n\n";
    for (const std::string& culprit : culprits)
        text += culprit + "\n";
    text += (culprits.empty() ? "" : "\n") + verdict + "\n";
    if (stages)
        text += "\n" + stages_text(*stages, columns) + "\n" + kRehearsalColumns + "\n";
    return text;
}

RehearsalJob::RehearsalJob(std::function<void()> wake)
    : wake_(std::move(wake))
    , work_(wake_)
{
}

void RehearsalJob::start(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    progress_ = {};
    outcome_.reset();
    plan_ = (plan.name.empty() ? plan.model.name : plan.name) + ": " + layout_line(plan.layout);
    hash_ = plan_hash(plan);
    mailbox_ = std::make_shared<Mailbox>();
    work_.start([this, plan, trainer, name = plan_, mailbox = mailbox_, wake = wake_](
                    const std::stop_token& stop) -> Background::Done {
        const auto told = [&](const RehearsalProgress& progress) {
            {
                const std::scoped_lock lock(mailbox->mutex);
                mailbox->news = progress;
            }
            wake();
        };
        const RehearsalRequest request{.plan = plan, .trainer = trainer, .timeline = true, .told = told};
        return [this, outcome = outcome_of(name, plan, rehearse_plan(request, stop))] { outcome_ = outcome; };
    });
}

void RehearsalJob::cancel()
{
    if (!is_running())
        return;
    work_.cancel();
    outcome_ = not_proven(plan_, {ProblemCode::cancelled, "The rehearsal was stopped", {}, {}});
}

bool RehearsalJob::deliver()
{
    bool moved = work_.deliver();
    if (is_running() && mailbox_) {
        const std::scoped_lock lock(mailbox_->mutex);
        if (mailbox_->news) {
            progress_ = *std::exchange(mailbox_->news, std::nullopt);
            moved = true;
        }
    }
    return moved;
}

std::string RehearsalJob::progress_text() const
{
    if (progress_.of == 0)
        return "The trainer is starting";
    std::string text
        = grouped(double(progress_.rehearsed)) + " of " + counted(double(progress_.of), "rank") + " rehearsed";
    if (progress_.rehearsed > 0)
        text += ", " + gib(progress_.reserved_gib) + " GiB at most";
    return text;
}

double RehearsalJob::share() const
{
    return progress_.of == 0 ? 0 : double(progress_.rehearsed) / double(progress_.of);
}

} // namespace fourfold::view
