// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_sets.h"

#include "app/view/text.h"
#include "core/base/text.h"

#include <utility>

namespace fourfold::tui {

namespace {
constexpr const char* kRoot = "/"; // of paths of the session
}

CompareSets::CompareSets(
    Desk& desk, std::function<view::KeptComparison()> now, std::function<void(const view::KeptComparison&)> show)
    : desk_(desk)
    , now_(std::move(now))
    , show_(std::move(show))
{
}

Json CompareSets::state() const
{
    Json state = Json::object();
    for (const auto& [name, set] : sets_)
        state[name] = view::to_json(set, kRoot);
    return state;
}

void CompareSets::restore(const Json& state)
{
    if (!state.is_object())
        return;
    for (const auto& [name, set] : state.items())
        sets_[name] = view::kept_comparison(set, kRoot);
}

void CompareSets::show(const std::string& name)
{
    const view::KeptComparison kept = sets_[name];
    std::vector<Problem> problems;
    for (const std::filesystem::path& file : kept.plans.value_or(std::vector<std::filesystem::path>())) {
        if (Expected<void> opened = desk_.files().open_beside(file); !opened)
            problems.push_back(std::move(opened).error());
    }
    show_(kept);
    if (problems.empty())
        desk_.tell("Comparison " + name);
    else
        desk_.tell(view::counted(double(problems.size()), "plan")
                + " of this comparison cannot be opened: " + problems.front().line(),
            view::Tone::warning);
}

void CompareSets::save(const std::string& name)
{
    sets_[name] = now_();
    desk_.tell("Saved the comparison " + name, view::Tone::good);
}

void CompareSets::ask()
{
    std::vector<Picker::Item> items;
    for (const auto& [name, set] : sets_) {
        const std::size_t plans = set.plans ? set.plans->size() : 0;
        items.push_back({printable(name), view::counted(double(set.entries.size() + plans), "entry", "entries"),
            [this, name = name] { show(name); }});
    }
    items.push_back({"Save this comparison...", "", [this] { ask_to_save(); }});
    if (!sets_.empty())
        items.push_back({"Forget a comparison...", "", [this] { ask_to_forget(); }});
    desk_.open(std::make_unique<Picker>("Comparisons", std::move(items)));
}

void CompareSets::ask_to_forget()
{
    std::vector<Picker::Item> items;
    for (const auto& [name, set] : sets_)
        items.push_back({printable(name), "", [this, name = name] { sets_.erase(name); }});
    desk_.open(std::make_unique<Picker>("Forget which comparison", std::move(items)));
}

void CompareSets::ask_to_save()
{
    auto prompt = std::make_unique<Prompt>("Save comparison", "", [this](const std::string& text) {
        const std::string name(trimmed(text));
        if (name.empty())
            return std::string("a comparison has a name");
        if (sets_.contains(name))
            desk_.confirm("Save comparison", "There is a comparison " + name + " already.", "write over it",
                [this, name] { save(name); });
        else
            save(name);
        return std::string();
    });
    prompt->explain("A name for what is compared: the plans by their files, runs, rows and layouts");
    desk_.open(std::move(prompt));
}

} // namespace fourfold::tui
