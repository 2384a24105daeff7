// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/plan_editor.h"

#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "core/plan/fields.h"

namespace fourfold::view {

namespace {
constexpr std::size_t kMostSteps = 1000;

// "Change layout.tp" without the group in front.
std::string change_of(const std::string& path)
{
    return "Change " + path.substr(path.rfind('.') + 1);
}
} // namespace

PlanEditor::PlanEditor(const Presets& presets, Predictor::Predict predict, std::function<void()> wake)
    : state_(presets)
    , predictor_(std::move(predict), std::move(wake))
{
}

Expected<void> PlanEditor::open(const std::filesystem::path& file)
{
    FOURFOLD_CHECK(state_.open(file));
    begin_anew();
    return {};
}

Expected<void> PlanEditor::reload()
{
    FOURFOLD_TRY(Plan plan, state_.reread());
    FOURFOLD_CHECK(apply("Reload", std::move(plan)));
    clean_ = done_.size();
    return {};
}

void PlanEditor::reset(Plan plan)
{
    state_.reset(std::move(plan));
    begin_anew();
}

Expected<void> PlanEditor::save(const std::filesystem::path& file)
{
    FOURFOLD_CHECK(state_.save(file));
    clean_ = done_.size();
    if (!done_.empty())
        done_.back().merge_key.clear(); // what follows is a step of its own
    return {};
}

void PlanEditor::keep_mine()
{
    state_.keep_mine();
    clean_ = kNever;
}

Expected<std::string> PlanEditor::set_value(const std::string& path, const Json& value)
{
    if (value_at(state_.plan().document, path) == value)
        return std::string();
    if (path != "model") {
        FOURFOLD_CHECK(apply(change_of(path), with_value(state_.plan(), path, value), path));
        return std::string();
    }
    const std::optional<ResolvedPlan> before = state_.resolved();
    FOURFOLD_CHECK(apply("Change model", with_other_model(state_.plan(), state_.presets(), value)));
    if (!before || !state_.resolved())
        return std::string();
    return batch_change(before->training, state_.resolved()->training);
}

Expected<void> PlanEditor::apply(const std::string& text, Expected<Plan> changed, const std::string& merge_key)
{
    if (!changed)
        return std::move(changed).error();
    if (changed->document == state_.plan().document)
        return {};
    const bool joins = !merge_key.empty() && !done_.empty() && undone_.empty() && clean_ != done_.size()
        && done_.back().merge_key == merge_key;
    if (!undone_.empty() && clean_ != kNever && clean_ > done_.size())
        clean_ = kNever; // the saved state is on a branch that is gone
    undone_.clear();
    if (joins) {
        done_.back().after = *changed;
        if (done_.back().after.document == done_.back().before.document)
            done_.pop_back(); // back where it began
    } else {
        done_.push_back({text, merge_key, state_.plan(), *changed});
        if (done_.size() > kMostSteps) {
            done_.erase(done_.begin());
            clean_ = clean_ == kNever || clean_ == 0 ? kNever : clean_ - 1;
        }
    }
    state_.put(*std::move(changed));
    ask();
    return {};
}

std::string PlanEditor::undo()
{
    if (done_.empty())
        return {};
    undone_.push_back(std::move(done_.back()));
    done_.pop_back();
    undone_.back().merge_key.clear();
    state_.put(undone_.back().before);
    ask();
    return undone_.back().text;
}

std::string PlanEditor::redo()
{
    if (undone_.empty())
        return {};
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    state_.put(done_.back().after);
    ask();
    return done_.back().text;
}

bool PlanEditor::receive()
{
    std::optional<Predictor::Answer> answer = predictor_.take();
    if (!answer || !state_.last_resolved()) // one of the plan that was here before
        return false;
    prediction_ = std::move(answer->prediction);
    milliseconds_ = answer->milliseconds;
    return true;
}

void PlanEditor::ask()
{
    if (!state_.is_valid())
        return;
    predictor_.request(*state_.resolved());
    receive();
}

void PlanEditor::begin_anew()
{
    done_.clear();
    undone_.clear();
    clean_ = 0;
    if (!state_.is_valid())
        prediction_.reset(); // it was another plan's
    ask();
}

} // namespace fourfold::view
