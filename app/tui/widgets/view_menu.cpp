// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/view_menu.h"

#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

ViewMenu::ViewMenu(Desk& desk, std::string table, std::function<view::SavedView()> get,
    std::function<Expected<void>(const view::SavedView&)> put)
    : desk_(desk)
    , table_(std::move(table))
    , get_(std::move(get))
    , put_(std::move(put))
{
}

void ViewMenu::ask()
{
    const Expected<std::vector<std::string>> names = views().names();
    if (!names) {
        desk_.tell(names.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    for (const std::string& name : *names) {
        const Expected<view::SavedView> kept = views().find(name);
        items.push_back({printable(name), kept ? printable(view::said(*kept)) : "", [this, name] { show(name); }});
    }
    items.push_back({"Save this view...", view::said(get_()), [this] { ask_to_save(); }});
    if (!names->empty()) {
        items.push_back({"Rename a view...", "", [this, all = *names] {
                             pick("Rename which view", all, [this](const auto& name) { ask_to_rename(name); });
                         }});
        items.push_back({"Delete a view...", "", [this, all = *names] {
                             pick("Delete which view", all, [this](const auto& name) { ask_to_delete(name); });
                         }});
    }
    desk_.open(std::make_unique<Picker>("Views", std::move(items)));
}

void ViewMenu::pick(const std::string& title, const std::vector<std::string>& names, const Chosen& chosen)
{
    std::vector<Picker::Item> items;
    for (const std::string& name : names)
        items.push_back({printable(name), "", [chosen, name] { chosen(name); }});
    desk_.open(std::make_unique<Picker>(title, std::move(items)));
}

void ViewMenu::show(const std::string& name)
{
    const Expected<view::SavedView> kept = views().find(name);
    if (!kept) {
        desk_.tell(kept.error().line(), view::Tone::bad);
        return;
    }
    if (desk_.succeeded(put_(*kept)))
        desk_.tell("View " + name);
}

void ViewMenu::ask_to_save()
{
    auto prompt = std::make_unique<Prompt>("Save view", "", [this](const std::string& text) {
        const std::string name(trimmed(text));
        if (name.empty())
            return std::string("a view has a name");
        const Expected<std::vector<std::string>> names = views().names();
        if (names && std::ranges::find(*names, name) != names->end())
            desk_.confirm(
                "Save view", "There is a view " + name + " already.", "write over it", [this, name] { save(name); });
        else
            save(name);
        return std::string();
    });
    prompt->explain(desk_.project_views.read ? "A name for the table as it is, kept in the project"
                                             : "A name for the table as it is; the window has the same views");
    desk_.open(std::move(prompt));
}

void ViewMenu::save(const std::string& name)
{
    if (desk_.succeeded(views().keep(name, get_())))
        desk_.tell("Saved the view " + name + desk_.keyed("; `V` shows it"), view::Tone::good);
}

void ViewMenu::ask_to_rename(const std::string& name)
{
    desk_.open(std::make_unique<Prompt>("Rename the view " + name, name, [this, name](const std::string& text) {
        const Expected<void> outcome = views().rename(name, text);
        if (outcome)
            desk_.tell("Renamed to " + std::string(trimmed(text)), view::Tone::good);
        return outcome ? std::string() : outcome.error().line();
    }));
}

void ViewMenu::ask_to_delete(const std::string& name)
{
    desk_.confirm(
        "Delete view", "The view " + name + " is deleted, for the window as well.", "delete it", [this, name] {
            if (desk_.succeeded(views().forget(name)))
                desk_.tell("Deleted the view " + name, view::Tone::good);
        });
}

} // namespace fourfold::tui
