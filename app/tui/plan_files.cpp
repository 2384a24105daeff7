// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/plan_files.h"

#include "app/tui/desk.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/open_instead.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr const char* kStartPlan = "this-computer"; // a preset that runs on any computer
constexpr std::chrono::seconds kLookEvery{2}; // at the file of the plan on show

bool is_there(const std::filesystem::path& file)
{
    std::error_code error;
    return std::filesystem::exists(file, error);
}

std::string name_of_preset(const std::filesystem::path& file, const std::string& id)
{
    const Expected<Json> json = read_json_file(file);
    const auto name = json && json->is_object() ? json->find("name") : Json::const_iterator();
    return json && json->is_object() && name != json->end() && name->is_string() ? name->get<std::string>() : id;
}
} // namespace

void PlanFiles::ask_for_file()
{
    desk_.ask_for_path("Open plan",
        "A plan, or what else can be opened: the folder of a project, a model's config.json, a run, a table of "
        "measurements, a trace of a step, a folder of TensorBoard or W&B",
        [this](const std::filesystem::path& file) {
            open_any(file);
            return std::string();
        });
}

void PlanFiles::open_any(const std::filesystem::path& file)
{
    const Expected<view::DroppedItem> item = view::classify(file);
    if (item && item->kind != view::DroppedKind::plan && open_other)
        open_other(*item);
    else
        open(file); // which says what is wrong with it
}

void PlanFiles::ask_to_open()
{
    std::vector<Picker::Item> items{{"A file...", "type its name", [this] { ask_for_file(); }}};
    for (const std::filesystem::path& file : recent_) {
        if (is_there(file))
            items.push_back({file.filename().string(), file.parent_path().string(), [this, file] { open(file); }});
    }
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    for (std::filesystem::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
        const std::filesystem::path file = at->path().filename();
        if (file.string().ends_with(".plan.json") && std::ranges::find(recent_, here / file) == recent_.end())
            items.push_back({file.string(), "in this folder", [this, file] { open(file); }});
    }
    for (const std::string& id : desk_.presets().ids("plans")) {
        const Expected<std::filesystem::path> file = desk_.presets().file("plans", id);
        if (file)
            items.push_back({name_of_preset(*file, id), "example", [this, file = *file] { open(file); }});
    }
    desk_.open(std::make_unique<Picker>("Open plan", std::move(items)));
}

void PlanFiles::open(const std::filesystem::path& file)
{
    // What came with the program is a plan to start from, not a file to write to.
    for (const std::string& id : desk_.presets().ids("plans")) {
        const Expected<std::filesystem::path> preset = desk_.presets().file("plans", id);
        if (!preset || *preset != file)
            continue;
        Expected<Plan> example = read_plan(file);
        if (!example) {
            desk_.tell(example.error().line(), view::Tone::bad);
            return;
        }
        desk_.tabs().unused().reset(*std::move(example));
        desk_.tell("Example " + desk_.plan().state().title() + desk_.keyed("; `w` saves it under a name of your own"));
        return;
    }
    if (const int index = desk_.plans().index_of(file); index >= 0) {
        desk_.tabs().show(index);
        desk_.tell(file.filename().string() + " is open already");
        return;
    }
    if (const Expected<Plan> usable = view::read_plan_file(file); !usable) // an unusable file leaves no tab
        desk_.tell(usable.error().line(), view::Tone::bad);
    else if (desk_.succeeded(desk_.tabs().unused().open(file))) {
        remember(file);
        desk_.tell("Opened " + file.filename().string());
    }
}

Expected<void> PlanFiles::open_start_plan()
{
    FOURFOLD_TRY(const std::filesystem::path start, desk_.presets().file("plans", kStartPlan));
    FOURFOLD_TRY(Plan plan, read_plan(start));
    desk_.tabs().unused().reset(std::move(plan));
    return {};
}

std::vector<Problem> PlanFiles::open_instead(const std::vector<std::filesystem::path>& files, bool keeps_changes)
{
    const view::PlanPlaces tabs{[this] { return desk_.plans().count(); }, [this](int at) { return desk_.plans().at(at).file(); },
        [this](int at) { return desk_.plans().at(at).is_dirty(); }, [this](int at) { return desk_.plans().at(at).is_unused(); },
        [this](int at) { desk_.tabs().take_out(at); },
        [this](const std::filesystem::path& file) { return desk_.plans().index_of(file); },
        [this](
            int at, const std::filesystem::path& file) { return (at < 0 ? desk_.tabs().unused() : desk_.tabs().open().at(at)).open(file); },
        [this](int from, int to) { desk_.tabs().open().move(from, to); }, [this](int at) { desk_.tabs().show(at); }};
    std::vector<Problem> problems = view::open_instead(tabs, files, keeps_changes);
    if (desk_.plans().count() == 1 && desk_.plan().state().plan().document.is_null())
        desk_.succeeded(open_start_plan());
    return problems;
}

Expected<void> PlanFiles::open_beside(const std::filesystem::path& file)
{
    if (desk_.plans().index_of(file) >= 0)
        return {};
    FOURFOLD_CHECK(view::read_plan_file(file)); // an unusable file leaves no tab
    const int shown = desk_.plans().current_index();
    const Expected<void> opened = desk_.tabs().add().open(file);
    if (!opened)
        desk_.tabs().drop();
    desk_.tabs().show(shown);
    return opened;
}

void PlanFiles::remember(const std::filesystem::path& file)
{
    constexpr std::size_t kMost = 10;
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(file, error);
    std::erase(recent_, whole);
    recent_.insert(recent_.begin(), whole);
    recent_.resize(std::min(recent_.size(), kMost));
}

void PlanFiles::ask_to_import_model()
{
    auto prompt
        = std::make_unique<Prompt>("Import a Hugging Face model", "config.json", [this](const std::string& text) {
              const Expected<void> outcome = import_model(typed_path(text));
              return outcome ? std::string() : outcome.error().line();
          });
    prompt->explain("A config.json, or the folder that has one; it becomes the model of this plan");
    desk_.open(std::move(prompt));
}

Expected<void> PlanFiles::import_model(const std::filesystem::path& config)
{
    FOURFOLD_TRY(Plan changed, view::with_hugging_face_config(desk_.plan().state().plan(), desk_.presets(), config));
    desk_.apply("Took the model of " + config.string(), std::move(changed));
    std::string report;
    for (const std::string& line : view::config_report(desk_.plan().state().plan()))
        report += line + "\n\n";
    desk_.open(std::make_unique<Pager>("What is used of " + config.filename().string(), report));
    return {};
}

void PlanFiles::write(const std::filesystem::path& file)
{
    if (!desk_.succeeded(desk_.plan().save(file)))
        return;
    remember(file);
    desk_.tell("Saved " + file.filename().string(), view::Tone::good);
}

void PlanFiles::save()
{
    const std::filesystem::path file = desk_.plan().state().file();
    if (file.empty()) {
        ask_to_save_as();
        return;
    }
    if (!desk_.plan().state().is_changed_on_disk()) {
        write(file);
        return;
    }
    desk_.open(std::make_unique<Question>("Changed on disk",
        file.string() + " was changed by another program since it was read here.",
        std::vector<Question::Choice>{{U'r', "reload it",
                                          [this] {
                                              if (desk_.succeeded(desk_.plan().reload()))
                                                  desk_.tell(desk_.keyed("Reloaded; `u` takes it back"));
                                          }},
            {U'b', "see it beside mine",
                [this, file] {
                    Expected<Plan> theirs = view::read_plan_file(file);
                    if (!theirs) {
                        desk_.tell(theirs.error().line(), view::Tone::bad);
                        return;
                    }
                    desk_.tabs().add().reset(*std::move(theirs));
                    desk_.tell("The plan of " + file.filename().string() + ", in a tab of its own; 3 compares the two");
                }},
            {U'o', "write over it", [this, file] { write(file); }}, {U'c', "cancel", {}}}));
}

void PlanFiles::ask_to_save_as()
{
    const std::filesystem::path file = desk_.plan().state().file();
    desk_.open(std::make_unique<Prompt>("Save plan as", file.empty() ? (folder / "my.plan.json").string() : file.string(),
        [this](const std::string& text) {
            const std::filesystem::path chosen = typed_path(text);
            if (chosen.empty() || chosen.filename().empty())
                return std::string("a name of a file is needed");
            if (is_there(chosen) && chosen != desk_.plan().state().file())
                desk_.confirm("Save plan as", chosen.string() + " exists.", "write over it",
                    [this, chosen] { write(chosen); });
            else
                write(chosen);
            return std::string();
        }));
}

int PlanFiles::next_tick() const
{
    return desk_.plan().file().empty() ? -1 : static_cast<int>(std::chrono::milliseconds(kLookEvery).count());
}

void PlanFiles::look()
{
    const auto now = std::chrono::steady_clock::now();
    if (desk_.plan().file().empty() || now - looked_ < kLookEvery)
        return;
    looked_ = now;
    if (!desk_.plan().state().is_changed_on_disk()) {
        changed_ = nullptr;
        return;
    }
    if (std::exchange(changed_, &desk_.plan()) == &desk_.plan())
        return;
    const std::string name = desk_.plan().file().filename().string();
    if (desk_.plan().is_dirty())
        desk_.tell(name + " was changed by another program; Ctrl+S asks which of the two stays", view::Tone::warning);
    else if (desk_.succeeded(desk_.plan().reload())) {
        changed_ = nullptr;
        desk_.tell("Another program changed " + name + desk_.keyed(": it was read again; `u` takes that back"));
    }
}

} // namespace fourfold::tui
