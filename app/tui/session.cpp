// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/session.h"

#include "core/base/input_file.h"
#include "core/base/json_member.h"
#include "core/base/paths.h"

#include <sys/stat.h>

namespace fourfold::tui {

std::filesystem::path Session::default_file()
{
    return data_folder() / "tui.json";
}

Json Session::read() const
{
    const Expected<Json> kept = read_json_file(file_);
    return kept && kept->is_object() ? *kept : Json();
}

namespace {
// Into the plan on show, an empty one.
bool restore_plan(const Json& kept, Desk& desk)
{
    if (!kept.is_object() || !kept.contains("plan"))
        return false;
    const auto file = member_or(kept, "file", std::string()), where = member_or(kept, "where", std::string());
    const bool dirty = member_or(kept, "dirty", false);
    if (!file.empty() && desk.plan().open(file) && !dirty)
        return true;
    Expected<Plan> plan = plan_from_json(kept["plan"], file.empty() ? where : file);
    if (!plan)
        return false;
    if (desk.plan().state().file().empty()) {
        desk.plan().reset(*std::move(plan));
        if (dirty)
            desk.plan().mark_unsaved();
    } else if (desk.plan().apply("Changes that were not saved", std::move(plan))) {
        desk.tell(desk.keyed("The changes that were not saved are here again; `u` takes them back"));
    }
    return true;
}

Json kept_of(const view::PlanEditor& plan)
{
    const view::PlanState& state = plan.state();
    return {{"file", state.file().string()}, {"where", state.plan().where}, {"dirty", plan.is_dirty()},
        {"plan", state.plan().document}};
}
} // namespace

bool Session::restore_plans(const Json& kept, Desk& desk)
{
    if (!kept.is_object())
        return false;
    if (!kept.contains("plans") || !kept["plans"].is_array())
        return restore_plan(kept, desk); // of a version that had one plan
    int restored = 0, shown = 0;
    const Json& plans = kept["plans"];
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (restored > 0)
            desk.tabs().add();
        if (restore_plan(plans[i], desk)) {
            if (static_cast<int>(i) == member_or(kept, "tab", 0))
                shown = restored;
            ++restored;
        } else if (restored > 0) {
            desk.tabs().drop();
        }
    }
    desk.tabs().show(shown);
    return restored > 0;
}

void Session::restore_recent(const Json& kept, Desk& desk)
{
    std::vector<std::filesystem::path> files;
    const Json recent = kept.is_object() ? kept.value("recent", Json::array()) : Json::array();
    for (const Json& file : recent) {
        if (file.is_string())
            files.emplace_back(file.get<std::string>());
    }
    desk.files().set_recent(std::move(files));
}

Expected<void> Session::write(const std::string& text) const
{
    if (const std::error_code error = make_private_folders(file_.parent_path()))
        return Problem{ProblemCode::io, error.message(), "", file_.parent_path().string()};
    struct stat there { };
    if (::stat(file_.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) // to write into a pipe would be to wait
        return Problem{ProblemCode::io, "is " + kind_of_file(there.st_mode) + ", expected a file", "", file_.string()};
    return write_file_atomically(file_, text);
}

void Session::keep(Desk& desk, const Json& pages)
{
    Json plans = Json::array();
    std::size_t tab = 0;
    for (int i = 0; i < desk.plans().count(); ++i) {
        const view::PlanEditor& plan = desk.plans().at(i);
        const bool dropped = desk.unsaved().is_dropped(plan);
        if (dropped && plan.file().empty())
            continue; // nothing of it is kept anywhere
        if (i == desk.plans().current_index())
            tab = plans.size();
        plans.push_back(kept_of(plan));
        if (dropped)
            plans.back()["dirty"] = false; // what its file holds
    }
    Json recent = Json::array();
    for (const std::filesystem::path& file : desk.files().recent())
        recent.push_back(file.string());
    const Json kept = {{"fourfold_tui", 1}, {"plans", plans}, {"tab", tab}, {"page", static_cast<int>(desk.page())},
        {"pages", pages}, {"recent", recent}};
    const std::string text = kept.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (text == written_)
        return;
    const Expected<void> outcome = write(text);
    if (outcome)
        written_ = text;
    else if (!failed_)
        desk.tell("What is not saved would be lost in a crash: " + outcome.error().line(), view::Tone::warning);
    failed_ = !outcome;
}

} // namespace fourfold::tui
