// SPDX-License-Identifier: GPL-3.0-or-later
// What pages and overlays share: the open plan, what stands over the page, the line at the bottom, the way to another
// page.
#pragma once

#include "app/tui/key_map.h"
#include "app/tui/widgets/overlay.h"
#include "app/view/dropped_item.h"
#include "app/view/plan/open_plans.h"
#include "app/view/plan/plan_editor.h"
#include "app/view/rehearsal/rehearsal_job.h"
#include "app/view/runs/run_notices.h"
#include "app/view/search/search_job.h"
#include "app/view/tables/saved_views.h"
#include "core/report/report_page.h"
#include "core/report/table/table.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
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

// What a page offers to the clipboard.
struct Copy {
    std::string what; // "Table"
    std::function<std::string()> text;
};

// How alerts and the end of a run are told to somebody who looks elsewhere.
enum class Notice { message, bell, none };

// What else than a table a picture can be: .svg, .pdf and .png, a timeline .trace.json, too.
struct Picture {
    // Empty: there is none. The size that was asked for, or none.
    std::function<Expected<void>(const std::filesystem::path&, const std::optional<PictureSize>&)> write;
    bool is_timeline = false;
    Picture() = default;
    Picture(const Timeline& timeline, const std::string& title);
    explicit Picture(std::function<Chart()> chart); // as it is once the name is typed
};

class Desk {
public:
    Desk(view::Predictor::Predict predict, std::function<void()> wake);

    [[nodiscard]] const Presets& presets() const { return presets_; }
    // The plan on show, one of those that are open.
    [[nodiscard]] view::PlanEditor& plan() { return plans_.current(); }
    [[nodiscard]] const view::PlanEditor& plan() const { return plans_.current(); }
    [[nodiscard]] const view::OpenPlans<view::PlanEditor>& plans() const { return plans_; }
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
    // Wakes the loop; from any thread.
    [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

    // --- over the page ---
    void open(std::unique_ptr<Overlay> overlay) { overlays_.push_back(std::move(overlay)); }
    [[nodiscard]] std::vector<std::unique_ptr<Overlay>>& overlays() { return overlays_; }
    // Asks, and does `yes` where the answer is yes.
    void confirm(
        const std::string& title, const std::string& text, const std::string& yes_text, std::function<void()> yes);

    // --- the line at the bottom ---
    void tell(std::string text, view::Tone tone = view::Tone::neutral);
    // Tells what went wrong; whether all went well.
    bool succeeded(const Expected<void>& outcome);
    [[nodiscard]] const std::string& message() const { return message_; }
    [[nodiscard]] view::Tone message_tone() const { return message_tone_; }
    void forget_message() { message_.clear(); }

    // --- what the terminal does besides; empty where there is no screen ---
    std::function<void(const std::string& title, const std::string& text, bool with_text)> notify_terminal;
    std::function<void(const std::string& text)> fill_clipboard; // also where the terminal has none
    Notice notice = Notice::message;
    void notify(const view::RunNotice& told) const;
    void ask_notice();
    // Into the clipboard; tells how that went.
    void copy(const std::string& what, const std::string& text);
    void ask_to_copy(std::vector<Copy> offered); // at once where there is one

    // --- pages ---
    void go(PageId page) { page_ = page; }
    [[nodiscard]] PageId page() const { return page_; }
    [[nodiscard]] bool quits() const { return quits_; }
    // Leaving, the user gave up what was not saved of it.
    [[nodiscard]] bool is_dropped(const view::PlanEditor& plan) const { return quits_ && dropped_.contains(&plan); }

    // --- the open plans, with their questions ---
    view::PlanEditor& add_plan(); // an empty one, on show
    view::PlanEditor& unused_plan(); // the one on show where nobody would miss it, else an empty one
    void drop_plan(); // the one on show, unless it is the only one
    void show_plan(int index);
    void step_plan(int step); // to the next one, or the one before
    void show_open_plans(); // what differs and whether they fit; Enter shows one
    void copy_plan();
    void ask_to_rename(); // the plan on show; its file keeps its name
    void close_plan(); // asks where it has unsaved changes
    void ask_to_quit(); // after a question for each plan with unsaved changes
    // `then` once nothing unsaved of any plan is lost by it: after a question for each that has changes.
    void unless_any_unsaved(const std::function<void()>& then);
    void ask_to_open();
    // The name of a file or folder that is there. `take` returns what is wrong with it; then it is asked for again.
    void ask_for_path(const std::string& title, const std::string& explanation,
        std::function<std::string(const std::filesystem::path&)> take);
    void open_plan(const std::filesystem::path& file); // of a file or of a preset's
    void open_any(const std::filesystem::path& file); // also what is no plan
    // Of what is no plan: a trace, a project, a run; the shell knows the pages.
    std::function<void(const view::DroppedItem&)> open_other;
    Expected<void> open_start_plan(); // the example that runs on this computer
    // See view::open_instead(); of none the example.
    std::vector<Problem> open_instead(const std::vector<std::filesystem::path>& files, bool keeps_changes = false);
    Expected<void> open_beside(const std::filesystem::path& file); // unless it is open; what is on show stays
    std::filesystem::path folder; // where a plan that was never saved goes; empty: where the program was started
    view::ViewStore project_views; // of the open project; without `read` none is open
    void ask_to_import_model(); // of a Hugging Face config.json, with what is used of it
    Expected<void> import_model(const std::filesystem::path& config); // or of the folder that has one
    void save(); // asks for a name where there is none, and where the file was changed by others
    void ask_to_save_as();
    void change(const std::string& path, const Json& value); // one field; a refusal is told
    void apply(const std::string& text, Expected<Plan> changed);
    void undo();
    void redo();
    // Proves the plan in the background, with a box over the page; of one that is under way, the box again.
    void rehearse();
    void show_rehearsal(); // the one under way or the last
    // Takes what came from threads, and what other programs wrote into the open plans.
    void tick();
    [[nodiscard]] int next_tick() const; // milliseconds, negative: only when woken
    // Files of plans that were opened or saved, the last one first.
    [[nodiscard]] const std::vector<std::filesystem::path>& recent() const { return recent_; }
    void set_recent(std::vector<std::filesystem::path> files) { recent_ = std::move(files); }
    // A table into a file of any of the formats, or its picture, by the name's ending; "x.png 1600x900" says its size.
    // Without columns there is no table.
    void ask_to_export(const std::string& what, std::function<Table()> table, Picture picture = {});
    void show_table(const std::string& title, Table table); // over the page
    // A page of PDF.
    void ask_to_report(std::function<ReportPage()> page);

private:
    // `then` is called when nothing unsaved of the plan on show is lost by it: at once, or after the question.
    // `dropped` instead where the user gives it up.
    void unless_unsaved(const std::function<void()>& then, const std::function<void()>& dropped);
    void ask_from(int index, const std::function<void()>& then);
    void ask_for_file();
    void write_once_asked(const std::filesystem::path& file, std::function<Expected<void>()> write); // over another
    void write_plan(const std::filesystem::path& file);
    void remember(const std::filesystem::path& file);
    void look_at_file();

    Presets presets_;
    KeyMap keys_;
    std::function<void()> wake_;
    view::Predictor::Predict predict_;
    view::OpenPlans<view::PlanEditor> plans_;
    view::RehearsalJob rehearsal_;
    std::vector<std::unique_ptr<Overlay>> overlays_;
    std::string message_;
    view::Tone message_tone_ = view::Tone::neutral;
    PageId page_ = PageId::plan;
    std::set<const view::PlanEditor*> dropped_; // of the question whether to leave
    bool quits_ = false;
    std::vector<std::filesystem::path> recent_;
    std::chrono::steady_clock::time_point looked_{}; // at the file of the plan on show
    const view::PlanEditor* changed_ = nullptr; // it was told that the file is another one
};

} // namespace fourfold::tui
