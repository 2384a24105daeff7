// SPDX-License-Identifier: GPL-3.0-or-later
// One rehearsal of the open plan at a time, in the background: how far it is, what it proved and who is to blame.
#pragma once

#include "app/view/background.h"
#include "app/view/tone.h"
#include "core/report/table/table.h"
#include "core/schedule/timeline.h"
#include "runner/rehearsal/rehearse_plan.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

// A rehearsal that came to its end, as it is shown.
struct RehearsalOutcome {
    std::string plan; // what was rehearsed: name and layout
    Tone tone = Tone::neutral; // bad: it would not run, or nothing could be proven
    std::string headline; // "Fits, and no rank waits for ever"
    std::string verdict; // rehearsal_verdict(); of a rehearsal that proved nothing, why
    std::vector<std::string> culprits; // a line each: rank, pass, operation
    std::optional<Table> stages; // rehearsal_stages(); empty where nothing was proven
    // The step, a track for each stage, on one axis; without spans where there is none, or none that is planned.
    Timeline rehearsed = {}, planned = {};
    [[nodiscard]] bool has_timelines() const { return !rehearsed.spans.empty() && !planned.spans.empty(); }
    // All of it; a table of stages that is wider than `columns` becomes a sentence a stage.
    [[nodiscard]] std::string text(std::size_t columns = 1'000'000) const;
};

class RehearsalJob {
public:
    // `wake` is called on the thread when deliver() has something to do.
    explicit RehearsalJob(std::function<void()> wake);

    // Rehearses a plan that keeps the rules (PlanState::is_valid()); the one before is dropped. `trainer`: default the
    // one beside this program.
    void start(const ResolvedPlan& plan, const std::filesystem::path& trainer = {});
    // Ends it; the outcome says that nothing is proven.
    void cancel();
    [[nodiscard]] bool is_running() const { return work_.is_running(); }
    // Of the last one that was started.
    [[nodiscard]] const std::string& plan() const { return plan_; } // name and layout
    [[nodiscard]] bool is_of(const ResolvedPlan& plan) const { return hash_ == plan_hash(plan); }
    // Takes what came since: whether something did.
    bool deliver();

    // Of the one that is under way: "3 of 16 ranks rehearsed, 12.1 GiB at most".
    [[nodiscard]] std::string progress_text() const;
    [[nodiscard]] double share() const; // of its ranks, 0 to 1
    // Of the last one that ended; empty while one is under way.
    [[nodiscard]] const std::optional<RehearsalOutcome>& outcome() const { return outcome_; }

private:
    struct Mailbox {
        std::mutex mutex;
        std::optional<RehearsalProgress> news;
    };
    std::function<void()> wake_;
    std::shared_ptr<Mailbox> mailbox_;
    RehearsalProgress progress_;
    std::optional<RehearsalOutcome> outcome_;
    std::string plan_, hash_; // of the one that was started last
    Background work_; // last: its thread ends before what it uses
};

} // namespace fourfold::view
