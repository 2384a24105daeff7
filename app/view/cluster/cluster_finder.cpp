// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/cluster/cluster_finder.h"

#include "app/view/plan/edits.h"
#include "core/base/text.h"

#include <sstream>

namespace fourfold::view {

ClusterFinder::ClusterFinder(const Presets& presets, std::function<void()> wake)
    : presets_(presets)
    , job_(std::move(wake))
{
}

Expected<void> ClusterFinder::look(const FindQuestions& questions)
{
    if (is_busy())
        return Problem{ProblemCode::refused, "A look is under way", "wait for it, or stop it", {}};
    found_.reset();
    saved_.reset();
    measured_.reset();
    problem_.clear();
    FOURFOLD_TRY(const Target target, target_to_ask(questions));
    progress_ = "Looking behind " + target.id;
    job_.find(questions);
    return {};
}

bool ClusterFinder::receive()
{
    const std::vector<RunMessage> messages = job_.take();
    for (const RunMessage& message : messages) {
        if (const auto* host_key = std::get_if<HostKeyQuestion>(&message)) {
            if (ask_host_key)
                ask_host_key(*host_key);
        } else if (const auto* secret = std::get_if<SecretQuestion>(&message)) {
            if (ask_secret)
                ask_secret(*secret);
        } else if (const auto* state = std::get_if<RunStateChange>(&message)) {
            if (!state->what.empty())
                progress_ = state->what;
        } else if (const auto* found = std::get_if<ClusterFound>(&message)) {
            if (found->outcome)
                found_ = *found->outcome;
            else
                problem_ = found->outcome.error().line();
        } else if (const auto* measured = std::get_if<MachineMeasured>(&message)) {
            if (!measured->outcome) {
                problem_ = measured->outcome.error().line();
            } else {
                measured_ = *measured->outcome;
                saved_->cluster = measured_->cluster;
                saved_->cluster_file = measured_->file;
            }
        }
    }
    return !messages.empty();
}

std::vector<std::string> ClusterFinder::lines() const
{
    std::vector<std::string> out;
    if (found_)
        out = found_lines(*found_);
    if (measured_) {
        std::istringstream lines(to_text(measured_->machine));
        for (std::string line; std::getline(lines, line);)
            out.push_back("Measured: " + line);
    }
    return out;
}

ClusterFinder::Controls ClusterFinder::first_controls(int gpus) const
{
    const ClusterChoice first = first_choice(*found_, gpus);
    return {first.id, first.slurm, first.queue.partition, first.queue.account, first.queue.qos, first.queue.time,
        joined(first.queue.lines, " "), first.nodes, {}};
}

ClusterChoice ClusterFinder::choice_of(const Controls& controls) const
{
    ClusterChoice choice;
    if (found_->target.slurm)
        choice.queue = *found_->target.slurm; // with what has no control here
    choice.id = trimmed(controls.id);
    choice.slurm = controls.slurm;
    choice.nodes = controls.nodes;
    choice.like = trimmed(controls.like);
    choice.queue.partition = trimmed(controls.partition);
    choice.queue.account = trimmed(controls.account);
    choice.queue.qos = trimmed(controls.qos);
    choice.queue.time = trimmed(controls.time);
    choice.queue.lines.clear();
    std::istringstream words(controls.options);
    for (std::string word; words >> word;)
        choice.queue.lines.push_back(word);
    return choice;
}

Expected<std::string> ClusterFinder::outcome(const Controls& controls) const
{
    const ClusterChoice choice = choice_of(controls);
    FOURFOLD_TRY(const Target target, chosen_target(*found_, choice));
    FOURFOLD_TRY(const PlannedCluster planned, planned_cluster(*found_, choice, presets_));
    const int gpus = chosen_gpus(*found_, choice);
    return "Target " + target.id + "; " + planned.why + (gpus > 0 ? text_of("; %d GPUs", gpus) : "");
}

Expected<void> ClusterFinder::save(const Controls& controls)
{
    problem_.clear();
    if (saved_ && controls == saved_as_)
        return {};
    const ClusterChoice choice = choice_of(controls);
    measured_.reset();
    FOURFOLD_TRY(saved_, save_found(*found_, choice, presets_));
    nodes_ = chosen_nodes(*found_, choice);
    saved_as_ = controls;
    return {};
}

Expected<void> ClusterFinder::measure(const std::optional<Plan>& open)
{
    problem_.clear();
    measured_.reset();
    FOURFOLD_TRY(MeasuringJob job, measuring_job_of(*saved_, nodes_, nodes_.gpus_per_node > 0 ? open : std::nullopt));
    progress_ = "Measuring on " + job.target.id + ", about a minute";
    job_.measure(std::move(job));
    return {};
}

Expected<Plan> with_hardware(const Plan& plan, const SavedCluster& saved)
{
    Plan changed = plan;
    if (!saved.cluster.empty()) {
        FOURFOLD_TRY(changed, with_value(changed, "cluster", saved.cluster));
    }
    if (saved.gpus > 0) {
        FOURFOLD_TRY(changed, with_value(changed, "gpus", saved.gpus));
    }
    return changed;
}

} // namespace fourfold::view
