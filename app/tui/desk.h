// SPDX-License-Identifier: GPL-3.0-or-later
// What pages and overlays share: the open plans, what stands over the page, the line at the bottom, the way to another
// page, and what else a page asks for: files, exports, the terminal's own services.
#pragma once

#include "app/tui/exports.h"
#include "app/tui/key_map.h"
#include "app/tui/plan_files.h"
#include "app/tui/plan_tabs.h"
#include "app/tui/rehearsals.h"
#include "app/tui/terminal_services.h"
#include "app/tui/unsaved_plans.h"
#include "app/tui/widgets/overlay.h"
#include "app/view/search/search_job.h"
#include "app/view/tables/saved_views.h"
#include "core/report/report_page.h"
#include "core/report/table/table.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::tui {

enum class PageId { plan, search, compare, runs, history, count };

// What the finder (Ctrl+K) and the help (?) offer.
struct Command {
    std::string text; // "Save plan"
    std::string keys; // "Ctrl+S"; may be empty
    std::function<void()> run;
};

// What somebody typed as a name of a file: "~/x" as the shell reads it.
std::filesystem::path typed_path(const std::string& text);

class Desk {
public:
    Desk(view::Predictor::Predict predict, std::function<void()> wake);
    Desk(const Desk&) = delete; // its parts know where it is
    Desk& operator=(const Desk&) = delete;

    [[nodiscard]] const Presets& presets() const { return presets_; }
    bool gives_advice = true; // looks for what would help a plan
    // How plans are predicted here; null: as every front end does.
    [[nodiscard]] const view::Predictor::Predict& predict() const { return predict_; }
    view::SearchJob::Find find; // of layouts; null: as every front end does
    // What to press for what, as a person chose it.
    [[nodiscard]] KeyMap& keys() { return keys_; }
    // A sentence that names keys, in backquotes: "`s` starts it".
    [[nodiscard]] std::string keyed(std::string_view text) const { return keys_.said(text); }
    // Hears of every event of the run that is followed here; may be empty.
    std::function<void(const std::string& run, const Json& event)> run_event;
    view::ViewStore project_views; // of the open project; without `read` none is open
    // Wakes the loop; from any thread.
    [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

    // --- over the page ---
    void open(std::unique_ptr<Overlay> overlay) { overlays_.push_back(std::move(overlay)); }
    [[nodiscard]] std::vector<std::unique_ptr<Overlay>>& overlays() { return overlays_; }
    // Asks, and does `yes` where the answer is yes.
    void confirm(
        const std::string& title, const std::string& text, const std::string& yes_text, std::function<void()> yes);
    // The name of a file or folder that is there. `take` returns what is wrong with it; then it is asked for again.
    void ask_for_path(const std::string& title, const std::string& explanation,
        std::function<std::string(const std::filesystem::path&)> take);

    // --- the line at the bottom ---
    void tell(std::string text, view::Tone tone = view::Tone::neutral);
    // Tells what went wrong; whether all went well.
    bool succeeded(const Expected<void>& outcome);
    [[nodiscard]] const std::string& message() const { return message_; }
    [[nodiscard]] view::Tone message_tone() const { return message_tone_; }
    void forget_message() { message_.clear(); }

    // --- pages ---
    void go(PageId page) { page_ = page; }
    [[nodiscard]] PageId page() const { return page_; }
    void quit() { quits_ = true; } // at once; unsaved().ask_to_quit() asks before
    [[nodiscard]] bool quits() const { return quits_; }

    // --- the plan on show, one of those that are open ---
    [[nodiscard]] view::PlanEditor& plan() { return tabs_.open().current(); }
    [[nodiscard]] const view::PlanEditor& plan() const { return tabs_.open().current(); }
    [[nodiscard]] const view::OpenPlans<view::PlanEditor>& plans() const { return tabs_.open(); }
    void change(const std::string& path, const Json& value); // one field; a refusal is told
    void apply(const std::string& text, Expected<Plan> changed);
    void undo();
    void redo();

    [[nodiscard]] PlanTabs& tabs() { return tabs_; }
    [[nodiscard]] PlanFiles& files() { return files_; }
    [[nodiscard]] const PlanFiles& files() const { return files_; }
    [[nodiscard]] UnsavedPlans& unsaved() { return unsaved_; }
    [[nodiscard]] Exports& exports() { return exports_; }
    [[nodiscard]] TerminalServices& terminal() { return terminal_; }
    [[nodiscard]] Rehearsals& rehearsals() { return rehearsals_; }

    // Takes what came from threads, and what other programs wrote into the open plans.
    void tick();
    [[nodiscard]] int next_tick() const { return files_.next_tick(); } // milliseconds, negative: only when woken

private:
    Presets presets_;
    KeyMap keys_;
    std::function<void()> wake_;
    view::Predictor::Predict predict_;
    std::vector<std::unique_ptr<Overlay>> overlays_;
    std::string message_;
    view::Tone message_tone_ = view::Tone::neutral;
    PageId page_ = PageId::plan;
    bool quits_ = false;
    PlanTabs tabs_;
    PlanFiles files_;
    UnsavedPlans unsaved_;
    Exports exports_;
    TerminalServices terminal_;
    Rehearsals rehearsals_;
};

} // namespace fourfold::tui
