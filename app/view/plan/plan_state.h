// SPDX-License-Identifier: GPL-3.0-or-later
// The open plan as it stands: its text, its file, what it resolves to and which rules it breaks. Undo and the answer
// are with those who hold it.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

// The plan of a file, for somebody at a window or a terminal: what is no file (a pipe that nobody may ever write into)
// is refused.
Expected<Plan> read_plan_file(const std::filesystem::path& file);

class PlanState {
public:
    // `presets` outlives it. Empty until put() or open().
    explicit PlanState(const Presets& presets)
        : presets_(presets)
    {
    }

    // Shows the plan of a file. On a Problem nothing changes.
    Expected<void> open(const std::filesystem::path& file);
    // What the file holds now, which is known from here on; the plan stays until it is put().
    Expected<Plan> reread();
    // An untitled plan.
    void reset(Plan plan);
    // The plan with another content; its folder stays where it was last saved.
    void put(Plan plan);
    // Writes the file as a whole or not at all, and makes it the plan's file.
    Expected<void> save(const std::filesystem::path& file);

    [[nodiscard]] const std::filesystem::path& file() const { return file_; } // empty: untitled
    // Whether somebody else wrote the file since it was read, saved or keep_mine() was called. One that is gone is not
    // changed: saving brings it back.
    [[nodiscard]] bool is_changed_on_disk() const;
    // What the file holds now is known, and what is here is to replace it.
    void keep_mine();
    [[nodiscard]] std::string title() const; // the file's name, else the plan's

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const Presets& presets() const { return presets_; }
    // With its defaults; empty when it does not resolve, `problem()` says why then.
    [[nodiscard]] const std::optional<ResolvedPlan>& resolved() const { return resolved_; }
    [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
    // The last plan that resolved, for facts to show while the current one does not.
    [[nodiscard]] const std::optional<ResolvedPlan>& last_resolved() const { return last_resolved_; }
    // Rules that the plan breaks (check()); the memory limit is in the prediction's reasons.
    [[nodiscard]] const std::vector<Reason>& broken_rules() const { return broken_rules_; }
    [[nodiscard]] bool is_valid() const { return resolved_ && broken_rules_.empty(); }

private:
    void take(Plan plan);

    const Presets& presets_;
    Plan plan_;
    std::filesystem::path file_;
    std::string file_text_; // as it is known
    std::optional<ResolvedPlan> resolved_, last_resolved_;
    std::optional<Problem> problem_;
    std::vector<Reason> broken_rules_;
};

} // namespace fourfold::view
