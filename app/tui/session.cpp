// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/session.h"

#include "core/base/input_file.h"
#include "core/base/json_member.h"
#include "core/base/paths.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace fourfold::tui {

namespace {
constexpr int kMostTerminals = 32;

Json object_in(const std::filesystem::path& file)
{
    const Expected<Json> kept = read_json_file(file);
    return kept && kept->is_object() ? *kept : Json();
}

// Of the file's terminal; invalid where another program has it.
FileDescriptor lock_of(std::filesystem::path file)
{
    file.replace_extension(".lock");
    FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        lock.close();
    return lock;
}

std::vector<Json> plans_of(const Json& kept)
{
    const auto found = kept.is_object() ? kept.find("plans") : kept.end();
    return kept.is_object() && found != kept.end() && found->is_array()
        ? std::vector<Json>(found->begin(), found->end())
        : std::vector<Json>();
}

bool is_unsaved(const Json& plan)
{
    return plan.is_object() && member_or(plan, "dirty", false);
}

std::string file_in(const Json& plan)
{
    return plan.is_object() ? member_or(plan, "file", std::string()) : std::string();
}

// What another terminal has open, as its files are: its changes are its own.
Json without_changes(Json kept)
{
    Json plans = Json::array();
    for (Json& plan : plans_of(kept)) {
        if (is_unsaved(plan) && file_in(plan).empty())
            continue;
        if (plan.is_object())
            plan["dirty"] = false;
        plans.push_back(std::move(plan));
    }
    if (kept.is_object())
        kept["plans"] = std::move(plans);
    return kept;
}
} // namespace

std::filesystem::path Session::default_folder()
{
    return data_folder();
}

Session::Session(std::filesystem::path folder)
    : folder_(std::move(folder))
    , file_(file_of(1))
{
    if (make_private_folders(folder_))
        return; // said when there is something to keep
    for (int terminal = 1; terminal <= kMostTerminals && !lock_.valid(); ++terminal) {
        file_ = file_of(terminal);
        lock_ = lock_of(file_);
    }
}

std::filesystem::path Session::file_of(int terminal) const
{
    return folder_ / (terminal == 1 ? "tui.json" : "tui-" + std::to_string(terminal) + ".json");
}

Json Session::read()
{
    Json kept = object_in(file_);
    if (!kept.is_object() && file_ != file_of(1))
        kept = without_changes(object_in(file_of(1)));
    const Json unsaved = take_unsaved();
    if (unsaved.empty())
        return kept;
    if (!kept.is_object())
        kept = Json::object();
    std::vector<Json> plans = plans_of(kept);
    for (const Json& plan : unsaved) {
        const auto same = std::ranges::find_if(plans, [&](const Json& own) {
            return !file_in(own).empty() && file_in(own) == file_in(plan) && !is_unsaved(own);
        });
        if (same != plans.end())
            *same = plan;
        else
            plans.push_back(plan);
    }
    kept["plans"] = std::move(plans);
    return kept;
}

// Nobody else takes them meanwhile; their files stay until this one has them.
Json Session::take_unsaved()
{
    Json unsaved = Json::array();
    for (int terminal = 1; lock_.valid() && terminal <= kMostTerminals; ++terminal) {
        const std::filesystem::path file = file_of(terminal);
        std::error_code error;
        if (file == file_ || !std::filesystem::exists(file, error))
            continue;
        FileDescriptor lock = lock_of(file);
        if (!lock.valid())
            continue; // its program lives
        bool any = false;
        for (Json& plan : plans_of(object_in(file))) {
            if (!is_unsaved(plan))
                continue;
            unsaved.push_back(std::move(plan));
            any = true;
        }
        if (any)
            taken_.push_back({file, std::move(lock)});
    }
    return unsaved;
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
    if (outcome) {
        written_ = text;
        for (const Taken& taken : taken_) {
            std::error_code error;
            std::filesystem::remove(taken.file, error);
        }
        taken_.clear();
    } else if (!failed_) {
        desk.tell("What is not saved would be lost in a crash: " + outcome.error().line(), view::Tone::warning);
    }
    failed_ = !outcome;
}

} // namespace fourfold::tui
