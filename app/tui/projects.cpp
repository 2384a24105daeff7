// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/projects.h"

#include "app/tui/pages/compare/compare_page.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr std::chrono::milliseconds kProjectEvery{1000}; // from a change to its being in the file
constexpr std::chrono::minutes kAsksAgainAfter{1}; // of who said "later"
constexpr std::size_t kMostProjects = 10;

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}
} // namespace

Projects::Projects(Desk& desk, ComparePage& compare)
    : desk_(desk)
    , compare_(compare)
{
}

Projects::~Projects()
{
    desk_.project_views = {};
}

void Projects::open(const std::filesystem::path& place)
{
    Expected<view::Project> read = view::Project::open(place);
    if (!read) {
        desk_.tell("The project cannot be opened: " + read.error().line(), view::Tone::bad);
        return;
    }
    const auto project = std::make_shared<view::Project>(*std::move(read));
    desk_.unsaved().settle_all([this, project] {
        if (project_ && project_->project().folder() != project->folder())
            keep();
        adopt(std::move(*project));
        const std::vector<Problem> problems = open_plans(false);
        show_comparison();
        desk_.tell("Project " + name() + ": " + view::counted(double(project_->project().plans().size()), "plan"));
        tell_unusable(problems);
    });
}

std::vector<Problem> Projects::open_plans(bool keeps_changes)
{
    return project_->open_plans(
        [&](const std::vector<std::filesystem::path>& files) { return desk_.files().open_instead(files, keeps_changes); },
        [this](const std::filesystem::path& file) { return desk_.plans().index_of(file) >= 0; });
}

void Projects::tell_unusable(const std::vector<Problem>& problems)
{
    if (!problems.empty())
        desk_.tell(view::counted(double(problems.size()), "plan") + " of project " + name()
                + " cannot be opened: " + problems.front().line(),
            view::Tone::warning);
}

void Projects::adopt(view::Project project)
{
    project_.emplace(std::move(project), [this](const view::Project& of) { return here(of); });
    asks_ = false;
    asks_again_ = {};
    view::Project& open = project_->project();
    std::erase(recent_, open.folder());
    recent_.insert(recent_.begin(), open.folder());
    recent_.resize(std::min(recent_.size(), kMostProjects));
    desk_.files().folder = open.folder();
    desk_.project_views = open.views([this] { keep(); });
    looked_ = std::chrono::steady_clock::now();
}

void Projects::show_comparison()
{
    const view::Project& project = project_->project();
    CompareSets::Sets sets;
    const Json kept = project.object_part(view::kComparisonsPart);
    for (const auto& [name, set] : kept.items())
        sets[name] = view::kept_comparison(set, project.folder());
    compare_.sets().set(std::move(sets));
    compare_.show(view::kept_comparison(project.part(view::kComparisonPart), project.folder()));
}

view::OpenProject::Here Projects::here(const view::Project& project) const
{
    view::OpenProject::Here here;
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (!plan.file().empty())
            here.plans.push_back(plan.file());
        here.has_changes = here.has_changes || plan.is_dirty();
    }
    here.comparison = view::to_json(compare_.comparison(), project.folder());
    here.comparisons = Json::object();
    for (const auto& [name, set] : compare_.sets().all())
        here.comparisons[name] = view::to_json(set, project.folder());
    return here;
}

void Projects::keep()
{
    if (project_ && !asks_)
        act(project_->keep());
}

void Projects::act(const view::OpenProject::Told& told)
{
    using News = view::OpenProject::News;
    switch (told.news) {
    case News::none:
        if (told.is_readable_again)
            desk_.tell("The file of project " + name() + " can be read again");
        break;
    case News::kept:
        break;
    case News::failed:
        desk_.tell("The project cannot be kept: " + told.why, view::Tone::warning);
        break;
    case News::unreadable:
        desk_.tell("The file of project " + name() + " cannot be read: " + told.why, view::Tone::warning);
        break;
    case News::differs:
        if (std::chrono::steady_clock::now() >= asks_again_)
            ask_about_change();
        break;
    case News::reload:
        open(std::filesystem::path(project_->project().folder()));
        break;
    }
}

int Projects::next_tick() const
{
    return project_ ? static_cast<int>(kProjectEvery.count()) : -1;
}

void Projects::tick()
{
    const auto now = std::chrono::steady_clock::now();
    if (!project_ || asks_ || now - looked_ < kProjectEvery)
        return;
    looked_ = now;
    const view::OpenProject::Told told = project_->look();
    act(told);
    if (told.news == view::OpenProject::News::none && !project_->is_unreadable())
        keep();
}

void Projects::ask_about_change()
{
    asks_ = true;
    const auto mine = [this] {
        asks_ = false;
        if (!project_)
            return;
        project_->project().keep_mine();
        keep();
    };
    desk_.open(std::make_unique<Question>("Changed on disk",
        "The file of project " + name() + " was changed by another program, and here there are changes too.",
        std::vector<Question::Choice>{{U'r', "reload it",
                                          [this] {
                                              asks_ = false;
                                              if (project_)
                                                  open(std::filesystem::path(project_->project().folder()));
                                          }},
            {U'k', "keep mine", mine}, {U'l', "later", [this] {
                                            asks_ = false;
                                            asks_again_ = std::chrono::steady_clock::now() + kAsksAgainAfter;
                                        }}}));
}

void Projects::save_all()
{
    int saved = 0;
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (!plan.is_dirty())
            continue;
        desk_.tabs().show(i);
        desk_.files().save();
        if (plan.is_dirty())
            return; // it asks, or said what is wrong
        ++saved;
    }
    keep();
    desk_.tell("Saved: " + view::counted(saved, "plan") + (project_ ? ", and project " + name() : std::string()),
        view::Tone::good);
}

void Projects::close()
{
    desk_.unsaved().settle_all([this] {
        keep();
        const std::string was = name();
        project_.reset();
        desk_.files().folder.clear();
        desk_.project_views = {};
        desk_.files().open_instead({});
        compare_.sets().set({});
        compare_.show({});
        desk_.tell("Closed project " + was);
    });
}

void Projects::ask_for_folder(const std::string& title, std::function<void(const std::filesystem::path&)> take)
{
    auto prompt = std::make_unique<Prompt>(title, "", [take = std::move(take)](const std::string& text) {
        const std::filesystem::path folder = typed_path(text);
        if (folder.empty())
            return std::string("a folder is needed");
        take(folder);
        return std::string();
    });
    prompt->explain("A folder; its file is " + std::string(view::kProjectFile));
    desk_.open(std::move(prompt));
}

void Projects::create(const std::filesystem::path& folder)
{
    Expected<view::Project> project = view::Project::create(folder);
    if (!project) {
        desk_.tell("The project cannot be made: " + project.error().line(), view::Tone::bad);
        return;
    }
    keep(); // the one that was open
    adopt(*std::move(project));
    keep();
    desk_.tell("Project " + name() + "; the open plans that are files belong to it", view::Tone::good);
}

void Projects::ask_to_open()
{
    std::vector<Picker::Item> items{{"A folder...", "type its name",
        [this] { ask_for_folder("Open project", [this](const std::filesystem::path& folder) { open(folder); }); }}};
    for (const std::filesystem::path& folder : recent_) {
        if (view::is_project(folder))
            items.push_back(
                {folder.filename().string(), folder.parent_path().string(), [this, folder] { open(folder); }});
    }
    std::error_code error;
    for (const std::filesystem::path& folder : {std::filesystem::current_path(error)}) {
        if (view::is_project(folder) && std::ranges::find(recent_, folder) == recent_.end())
            items.push_back(
                {folder.filename().string(), "where the program was started", [this, folder] { open(folder); }});
    }
    desk_.open(std::make_unique<Picker>("Open project", std::move(items)));
}

void Projects::ask_other_plans()
{
    std::vector<Picker::Item> items;
    for (const std::filesystem::path& file : view::plans_of_folder(project_->project().folder())) {
        if (desk_.plans().index_of(file) < 0)
            items.push_back({file.filename().string(), "", [this, file] { desk_.files().open(file); }});
    }
    if (items.empty())
        desk_.tell("All plans of the folder are open");
    else
        desk_.open(std::make_unique<Picker>("Other plans of " + name(), std::move(items)));
}

void Projects::ask_notes()
{
    std::vector<Picker::Item> items;
    const std::vector<std::string> lines = lines_of(project_->project().notes());
    for (std::size_t i = 0; i < lines.size(); ++i)
        items.push_back({lines[i], "", [this, i] { ask_line(i); }});
    items.push_back({"A new line...", "", [this, i = lines.size()] { ask_line(i); }});
    desk_.open(std::make_unique<Picker>("Notes of " + name(), std::move(items), static_cast<int>(lines.size())));
}

void Projects::ask_line(std::size_t line)
{
    const std::vector<std::string> before = lines_of(project_->project().notes());
    auto prompt = std::make_unique<Prompt>(
        "Notes of " + name(), line < before.size() ? before[line] : "", [this, line](const std::string& text) {
            if (!project_)
                return std::string();
            std::vector<std::string> lines = lines_of(project_->project().notes());
            const std::string words(trimmed(text));
            if (line >= lines.size() && !words.empty())
                lines.push_back(words);
            else if (line < lines.size() && words.empty())
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
            else if (line < lines.size())
                lines[line] = words;
            std::string notes;
            for (const std::string& one : lines)
                notes += one + "\n";
            project_->project().set_notes(notes);
            keep();
            ask_notes();
            return std::string();
        });
    prompt->explain("A line; an empty one goes");
    desk_.open(std::move(prompt));
}

std::vector<Command> Projects::commands()
{
    std::vector<Command> commands{{"Open project", "", [this] { ask_to_open(); }},
        {"New project", "",
            [this] {
                ask_for_folder(
                    "Folder of the new project", [this](const std::filesystem::path& folder) { create(folder); });
            }},
        {"Save every plan", "", [this] { save_all(); }}};
    if (project_)
        commands.insert(commands.end(),
            {{"Other plans of this project", "", [this] { ask_other_plans(); }},
                {"Notes of this project", "", [this] { ask_notes(); }}, {"Close project", "", [this] { close(); }}});
    return commands;
}

Json Projects::state() const
{
    Json recent = Json::array();
    for (const std::filesystem::path& folder : recent_)
        recent.push_back(folder.string());
    return {{"open", project_ ? project_->project().folder().string() : std::string()}, {"recent", recent}};
}

// The session has the plans already, with changes that were not saved; the file may have been changed since.
void Projects::restore(const Json& state)
{
    if (!state.is_object())
        return;
    for (const std::string& folder : texts_of(state, "recent"))
        recent_.emplace_back(folder);
    const std::string open = member_or(state, "open", std::string());
    if (open.empty())
        return;
    Expected<view::Project> project = view::Project::open(open);
    if (!project) {
        desk_.tell("The project of last time cannot be opened: " + project.error().line(), view::Tone::warning);
        return;
    }
    const int shown = desk_.plans().current_index();
    const std::filesystem::path file = desk_.plan().file();
    adopt(*std::move(project));
    const std::vector<Problem> problems = open_plans(true);
    const int again = file.empty() ? shown : desk_.plans().index_of(file);
    desk_.tabs().show(std::clamp(again, 0, desk_.plans().count() - 1));
    show_comparison();
    tell_unusable(problems);
}

} // namespace fourfold::tui
