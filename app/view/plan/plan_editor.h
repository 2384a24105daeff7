// SPDX-License-Identifier: GPL-3.0-or-later
// A plan being edited without a window: its state, an undo history, and the answer to it. One edit in, one answer out.
#pragma once

#include "app/view/plan/plan_state.h"
#include "app/view/prediction/predictor.h"

#include <memory>

namespace fourfold::view {

class PlanEditor {
public:
    // `presets` outlives it; `predictor` as Predictor has it.
    PlanEditor(const Presets& presets, Predictor::Predict predict, std::function<void()> wake);

    // --- file ---
    Expected<void> open(const std::filesystem::path& file); // forgets the undo history; on a Problem nothing changes
    Expected<void> reload(); // the file as it is now, as one step that can be undone
    void reset(Plan plan); // an untitled plan, counted as saved until it is edited
    Expected<void> save(const std::filesystem::path& file);
    void keep_mine(); // over what somebody else wrote to the file
    void mark_unsaved() { clean_ = kNever; }
    [[nodiscard]] bool is_dirty() const { return clean_ != done_.size(); }
    [[nodiscard]] const PlanState& state() const { return state_; }
    [[nodiscard]] const std::filesystem::path& file() const { return state_.file(); } // empty: untitled
    // Untitled and never edited: nobody would miss it.
    [[nodiscard]] bool is_unused() const { return file().empty() && done_.empty() && undone_.empty() && !is_dirty(); }

    // --- edits: a refused one leaves the plan as it was ---
    // Sets one key as one step; steps of the same `path` in a row join. Of a model the rest follows (plan/edits.h);
    // the answer says what, empty otherwise.
    Expected<std::string> set_value(const std::string& path, const Json& value);
    // A change made elsewhere, under the name that undo() says. An equal `merge_key` joins the step before.
    Expected<void> apply(const std::string& text, Expected<Plan> changed, const std::string& merge_key = {});
    // The name of what was taken back or done again; empty where there is nothing.
    std::string undo();
    std::string redo();

    // --- answer ---
    // Takes a slow answer over, on the owner's thread after `wake`; whether there was one.
    bool receive();
    [[nodiscard]] const std::shared_ptr<const Prediction>& prediction() const
    {
        return prediction_;
    } // of the last
      // valid plan
    // True when prediction() answers the plan as it stands.
    [[nodiscard]] bool is_answered() const { return state_.is_valid() && prediction_ && !predictor_.is_busy(); }
    [[nodiscard]] double milliseconds() const { return milliseconds_; }

private:
    struct Step {
        std::string text, merge_key;
        Plan before, after;
    };
    static constexpr std::size_t kNever = static_cast<std::size_t>(-1);
    void ask();
    void begin_anew(); // with another plan: no steps, no answer of the one before

    PlanState state_;
    std::vector<Step> done_, undone_; // the newest last
    std::size_t clean_ = 0; // number of done steps at which the file is equal
    std::shared_ptr<const Prediction> prediction_;
    double milliseconds_ = 0;
    Predictor predictor_;
};

} // namespace fourfold::view
