// SPDX-License-Identifier: GPL-3.0-or-later
// Constants fitted to chosen runs: what they would change, run by run and constant by constant; then, if it is wanted,
// a preset of the user's own.
#pragma once

#include "app/view/background.h"
#include "core/calibration/user/calibrate.h"
#include "core/history/store.h"
#include "core/report/table/table.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::view {

class Recalibration {
public:
    // `presets` outlives it; empty `history`: the user's. `wake` is called on the thread when deliver() has something.
    Recalibration(const Presets& presets, std::filesystem::path history, const std::vector<RunSummary>& runs,
        std::function<void()> wake);

    // What the runs are of, by name, each with how many of them.
    [[nodiscard]] std::vector<std::pair<std::string, int>> stacks() const;
    // Fits the stack's constants to its runs, on another thread.
    void start(const std::string& stack);
    // Takes what came of it: whether it ended.
    bool deliver() { return work_.deliver(); }
    [[nodiscard]] bool is_running() const { return work_.is_running(); }
    [[nodiscard]] bool has_result() const { return fitted_ != nullptr; }
    [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; } // why there is none

    // Of the stack that was started last; tables are empty and texts say how it stands where there is no result.
    [[nodiscard]] std::string summary() const; // mean errors before and after, runs that were left out
    [[nodiscard]] Table runs_table() const; // measured, predicted before and after, with errors
    [[nodiscard]] Table constants_table() const; // those that moved
    [[nodiscard]] std::string default_id() const;
    // What a plan writes to use it, saved under that id.
    [[nodiscard]] std::string name_in_plans(const std::string& id) const;
    // Saves the fitted stack as a preset of the user's own and returns its file.
    Expected<std::filesystem::path> save(const std::string& id) const;

private:
    // One run with the stack's constants as they are and as they would be.
    struct Refitted {
        std::string label;
        std::optional<double> measured_s, before_s, after_s; // step time
        std::optional<double> measured_gib, before_gib, after_gib;
    };
    struct Fitted {
        Calibration calibration;
        std::vector<Refitted> runs;
        std::vector<std::string> skipped; // runs that could not be used, and why
    };
    static Expected<Fitted> fit(const Presets& presets, const std::filesystem::path& history, const std::string& stack,
        const std::vector<std::string>& runs);
    [[nodiscard]] std::string name_of(const std::string& label) const;

    const Presets& presets_;
    std::filesystem::path history_;
    std::vector<RunSummary> runs_;
    std::string stack_;
    std::shared_ptr<const Fitted> fitted_;
    std::optional<Problem> problem_;
    Background work_;
};

} // namespace fourfold::view
