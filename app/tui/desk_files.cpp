// SPDX-License-Identifier: GPL-3.0-or-later
// Plans from files and into files, with the questions that come before.
#include "app/tui/desk.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/open_instead.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr const char* kStartPlan = "this-computer"; // a preset that runs on any computer

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

std::filesystem::path typed_path(const std::string& text)
{
    const std::string name(trimmed(text));
    if (name == "~" || name.starts_with("~/"))
        return home_folder() / name.substr(std::min<std::size_t>(name.size(), 2));
    return name;
}

void Desk::ask_for_path(const std::string& title, const std::string& explanation,
    std::function<std::string(const std::filesystem::path&)> take)
{
    auto prompt = std::make_unique<Prompt>(title, "", [take = std::move(take)](const std::string& text) {
        const std::filesystem::path path = typed_path(text);
        return is_there(path) ? take(path) : printable(text) + ": there is no such file";
    });
    prompt->explain(explanation);
    open(std::move(prompt));
}

void Desk::ask_for_file()
{
    ask_for_path("Open plan",
        "A plan, or what else can be opened: the folder of a project, a model's config.json, a run, a table of "
        "measurements, a trace of a step, a folder of TensorBoard or W&B",
        [this](const std::filesystem::path& file) {
            open_any(file);
            return std::string();
        });
}

void Desk::open_any(const std::filesystem::path& file)
{
    const Expected<view::DroppedItem> item = view::classify(file);
    if (item && item->kind != view::DroppedKind::plan && open_other)
        open_other(*item);
    else
        open_plan(file); // which says what is wrong with it
}

void Desk::ask_to_open()
{
    std::vector<Picker::Item> items{{"A file...", "type its name", [this] { ask_for_file(); }}};
    for (const std::filesystem::path& file : recent_) {
        if (is_there(file))
            items.push_back({file.filename().string(), file.parent_path().string(), [this, file] { open_plan(file); }});
    }
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    for (std::filesystem::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
        const std::filesystem::path file = at->path().filename();
        if (file.string().ends_with(".plan.json") && std::ranges::find(recent_, here / file) == recent_.end())
            items.push_back({file.string(), "in this folder", [this, file] { open_plan(file); }});
    }
    for (const std::string& id : presets_.ids("plans")) {
        const Expected<std::filesystem::path> file = presets_.file("plans", id);
        if (file)
            items.push_back({name_of_preset(*file, id), "example", [this, file = *file] { open_plan(file); }});
    }
    open(std::make_unique<Picker>("Open plan", std::move(items)));
}

void Desk::open_plan(const std::filesystem::path& file)
{
    // What came with the program is a plan to start from, not a file to write to.
    for (const std::string& id : presets_.ids("plans")) {
        const Expected<std::filesystem::path> preset = presets_.file("plans", id);
        if (!preset || *preset != file)
            continue;
        Expected<Plan> example = read_plan(file);
        if (!example) {
            tell(example.error().line(), view::Tone::bad);
            return;
        }
        unused_plan().reset(*std::move(example));
        tell("Example " + plan().state().title() + keyed("; `w` saves it under a name of your own"));
        return;
    }
    if (const int index = plans_.index_of(file); index >= 0) {
        plans_.set_current(index);
        tell(file.filename().string() + " is open already");
        return;
    }
    if (const Expected<Plan> usable = view::read_plan_file(file); !usable) // an unusable file leaves no tab
        tell(usable.error().line(), view::Tone::bad);
    else if (succeeded(unused_plan().open(file))) {
        remember(file);
        tell("Opened " + file.filename().string());
    }
}

Expected<void> Desk::open_start_plan()
{
    FOURFOLD_TRY(const std::filesystem::path start, presets_.file("plans", kStartPlan));
    FOURFOLD_TRY(Plan plan, read_plan(start));
    unused_plan().reset(std::move(plan));
    return {};
}

std::vector<Problem> Desk::open_instead(const std::vector<std::filesystem::path>& files, bool keeps_changes)
{
    const view::PlanPlaces tabs{[this] { return plans_.count(); }, [this](int at) { return plans_.at(at).file(); },
        [this](int at) { return plans_.at(at).is_dirty(); }, [this](int at) { return plans_.at(at).is_unused(); },
        [this](int at) {
            if (plans_.count() == 1)
                plans_.insert(std::make_unique<view::PlanEditor>(presets_, predict_, wake_));
            plans_.take(at);
        },
        [this](const std::filesystem::path& file) { return plans_.index_of(file); },
        [this](
            int at, const std::filesystem::path& file) { return (at < 0 ? unused_plan() : plans_.at(at)).open(file); },
        [this](int from, int to) { plans_.move(from, to); }, [this](int at) { plans_.set_current(at); }};
    std::vector<Problem> problems = view::open_instead(tabs, files, keeps_changes);
    if (plans_.count() == 1 && plan().state().plan().document.is_null())
        succeeded(open_start_plan());
    return problems;
}

Expected<void> Desk::open_beside(const std::filesystem::path& file)
{
    if (plans_.index_of(file) >= 0)
        return {};
    FOURFOLD_CHECK(view::read_plan_file(file)); // an unusable file leaves no tab
    const int shown = plans_.current_index();
    const Expected<void> opened = add_plan().open(file);
    if (!opened)
        drop_plan();
    show_plan(shown);
    return opened;
}

void Desk::remember(const std::filesystem::path& file)
{
    constexpr std::size_t kMost = 10;
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(file, error);
    std::erase(recent_, whole);
    recent_.insert(recent_.begin(), whole);
    recent_.resize(std::min(recent_.size(), kMost));
}

void Desk::ask_to_import_model()
{
    auto prompt
        = std::make_unique<Prompt>("Import a Hugging Face model", "config.json", [this](const std::string& text) {
              const Expected<void> outcome = import_model(typed_path(text));
              return outcome ? std::string() : outcome.error().line();
          });
    prompt->explain("A config.json, or the folder that has one; it becomes the model of this plan");
    open(std::move(prompt));
}

Expected<void> Desk::import_model(const std::filesystem::path& config)
{
    FOURFOLD_TRY(Plan changed, view::with_hugging_face_config(plan().state().plan(), presets_, config));
    apply("Took the model of " + config.string(), std::move(changed));
    std::string report;
    for (const std::string& line : view::config_report(plan().state().plan()))
        report += line + "\n\n";
    open(std::make_unique<Pager>("What is used of " + config.filename().string(), report));
    return {};
}

void Desk::write_plan(const std::filesystem::path& file)
{
    if (!succeeded(plan().save(file)))
        return;
    remember(file);
    tell("Saved " + file.filename().string(), view::Tone::good);
}

void Desk::save()
{
    const std::filesystem::path file = plan().state().file();
    if (file.empty()) {
        ask_to_save_as();
        return;
    }
    if (!plan().state().is_changed_on_disk()) {
        write_plan(file);
        return;
    }
    open(std::make_unique<Question>("Changed on disk",
        file.string() + " was changed by another program since it was read here.",
        std::vector<Question::Choice>{{U'r', "reload it",
                                          [this] {
                                              if (succeeded(plan().reload()))
                                                  tell(keyed("Reloaded; `u` takes it back"));
                                          }},
            {U'b', "see it beside mine",
                [this, file] {
                    Expected<Plan> theirs = view::read_plan_file(file);
                    if (!theirs) {
                        tell(theirs.error().line(), view::Tone::bad);
                        return;
                    }
                    add_plan().reset(*std::move(theirs));
                    tell("The plan of " + file.filename().string() + ", in a tab of its own; 3 compares the two");
                }},
            {U'o', "write over it", [this, file] { write_plan(file); }}, {U'c', "cancel", {}}}));
}

void Desk::ask_to_save_as()
{
    const std::filesystem::path file = plan().state().file();
    open(std::make_unique<Prompt>("Save plan as", file.empty() ? (folder / "my.plan.json").string() : file.string(),
        [this](const std::string& text) {
            const std::filesystem::path chosen = typed_path(text);
            if (chosen.empty() || chosen.filename().empty())
                return std::string("a name of a file is needed");
            if (is_there(chosen) && chosen != plan().state().file())
                confirm("Save plan as", chosen.string() + " exists.", "write over it",
                    [this, chosen] { write_plan(chosen); });
            else
                write_plan(chosen);
            return std::string();
        }));
}

} // namespace fourfold::tui
