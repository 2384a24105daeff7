// SPDX-License-Identifier: GPL-3.0-or-later
// What of a comparison is kept: by the session, by a project, by a name.
#include "app/tui/pages/compare/compare_page.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr const char* kRoot = "/"; // of paths of the session
}

Json ComparePage::state() const
{
    Json origins = Json::array();
    for (const Entry& entry : entries_) {
        if (!entry.origin.empty())
            origins.push_back({{"origin", entry.origin}, {"name", entry.name}, {"kind", entry.kind}});
    }
    Json state{{"entries", origins}, {"differences_only", differences_only_}, {"shown", static_cast<int>(shown_)},
        {"bars", static_cast<int>(bar_figure_)}, {"series", scaling_.state()}, {"sets", Json::object()}};
    for (const auto& [name, set] : sets_)
        state["sets"][name] = view::to_json(set, kRoot);
    if (reference_ && !reference_->plan) // open plans are others the next time
        state["reference"] = {{"name", reference_->name}, {"kind", reference_->kind}};
    return state;
}

void ComparePage::restore(const Json& state)
{
    if (const auto sets = state.find("sets"); sets != state.end() && sets->is_object()) {
        for (const auto& [name, set] : sets->items())
            sets_[name] = view::kept_comparison(set, kRoot);
    }
    differences_only_ = state.contains("differences_only") && state["differences_only"] == true;
    shown_ = static_cast<Shown>(std::clamp(member_or(state, "shown", 0), 0, static_cast<int>(Shown::scaling)));
    bar_figure_ = static_cast<view::ComparedFigure>(
        std::clamp(member_or(state, "bars", 0), 0, static_cast<int>(view::kComparedFigures) - 1));
    if (state.contains("reference") && state["reference"].is_object())
        reference_ = Entry{member_or(state["reference"], "name", std::string()),
            member_or(state["reference"], "kind", std::string()), {}, {}};
    scaling_.restore(state.value("series", Json()));
    if (!state.contains("entries") || !state["entries"].is_array())
        return;
    for (const Json& entry : state["entries"]) {
        if (entry.is_string()) // of a version that kept runs alone
            add_again(entry.get<std::string>(), {}, {});
        else if (entry.is_object())
            add_again(member_or(entry, "origin", std::string()), member_or(entry, "name", std::string()),
                member_or(entry, "kind", std::string()));
    }
    desk_.forget_message();
}

// Those that have a file.
std::vector<std::filesystem::path> ComparePage::files_of_plans(bool left_out) const
{
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (!plan.file().empty() && left_out_.contains(&plan) == left_out)
            files.push_back(std::filesystem::absolute(plan.file()));
    }
    return files;
}

view::KeptComparison ComparePage::comparison() const
{
    view::KeptComparison kept;
    for (const Entry& entry : entries_) {
        if (!entry.origin.empty())
            kept.entries.push_back(entry.origin);
    }
    kept.series = scaling_.origins();
    kept.left_out = files_of_plans(true);
    std::ranges::sort(kept.left_out); // the order of tabs says nothing here
    if (reference_)
        kept.reference = reference_->plan ? reference_->plan->state().title() : reference_->origin;
    kept.differences_only = differences_only_;
    return kept;
}

void ComparePage::show(const view::KeptComparison& kept)
{
    entries_.clear();
    left_out_.clear();
    reference_.reset();
    differences_only_ = kept.differences_only;
    for (const std::string& origin : kept.entries)
        add_again(origin, {}, {});
    scaling_.show(kept.series);
    std::set<int> named;
    for (const std::filesystem::path& file : kept.plans ? *kept.plans : kept.left_out)
        named.insert(desk_.plans().index_of(file));
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        if (named.contains(i) != kept.plans.has_value())
            left_out_.insert(&plan);
        if (plan.state().title() == kept.reference && !left_out_.contains(&plan))
            reference_ = Entry{{}, "plan", {}, {}, {}, {}, {}, &plan};
    }
    const auto entry = std::ranges::find(entries_, kept.reference, &Entry::origin);
    if (!kept.reference.empty() && entry != entries_.end())
        reference_ = *entry;
    desk_.forget_message(); // of each entry
}

// Opens the plans of it that are not open.
void ComparePage::show_set(const std::string& name)
{
    const view::KeptComparison kept = sets_[name];
    std::vector<Problem> problems;
    for (const std::filesystem::path& file : kept.plans.value_or(std::vector<std::filesystem::path>())) {
        if (Expected<void> opened = desk_.open_beside(file); !opened)
            problems.push_back(std::move(opened).error());
    }
    show(kept);
    if (problems.empty())
        desk_.tell("Comparison " + name);
    else
        desk_.tell(view::counted(double(problems.size()), "plan")
                + " of this comparison cannot be opened: " + problems.front().line(),
            view::Tone::warning);
}

void ComparePage::save_set(const std::string& name)
{
    view::KeptComparison kept = comparison();
    kept.left_out.clear();
    kept.plans = files_of_plans(false);
    sets_[name] = std::move(kept);
    desk_.tell("Saved the comparison " + name, view::Tone::good);
}

void ComparePage::ask_about_sets()
{
    const auto pick = [this](const std::string& title, auto each) {
        std::vector<Picker::Item> items;
        for (const auto& [name, set] : sets_)
            items.push_back({printable(name), "", [each, name = name] { each(name); }});
        desk_.open(std::make_unique<Picker>(title, std::move(items)));
    };
    std::vector<Picker::Item> items;
    for (const auto& [name, set] : sets_)
        items.push_back(
            {printable(name), view::counted(double(set.entries.size() + set.plans->size()), "entry", "entries"),
                [this, name = name] { show_set(name); }});
    items.push_back({"Save this comparison...", "", [this] { ask_to_save_set(); }});
    if (!sets_.empty())
        items.push_back({"Forget a comparison...", "",
            [this, pick] { pick("Forget which comparison", [this](const std::string& name) { sets_.erase(name); }); }});
    desk_.open(std::make_unique<Picker>("Comparisons", std::move(items)));
}

void ComparePage::ask_to_save_set()
{
    auto prompt = std::make_unique<Prompt>("Save comparison", "", [this](const std::string& text) {
        const std::string name(trimmed(text));
        if (name.empty())
            return std::string("a comparison has a name");
        if (sets_.contains(name))
            desk_.confirm("Save comparison", "There is a comparison " + name + " already.", "write over it",
                [this, name] { save_set(name); });
        else
            save_set(name);
        return std::string();
    });
    prompt->explain("A name for what is compared: the plans by their files, runs, rows and layouts");
    desk_.open(std::move(prompt));
}

} // namespace fourfold::tui
