// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/plan_state.h"

#include "app/view/output.h"
#include "core/base/input_file.h"
#include "core/plan/fields.h"

namespace fourfold::view {

namespace {
std::string text_of_file(const std::filesystem::path& file)
{
    const Expected<std::string> text = read_text_file(file);
    return text ? *text : std::string();
}
} // namespace

Expected<Plan> read_plan_file(const std::filesystem::path& file)
{
    FOURFOLD_TRY([[maybe_unused]] const FileDescriptor opened, open_regular(file));
    return read_plan(file);
}

Expected<void> PlanState::open(const std::filesystem::path& file)
{
    FOURFOLD_TRY(Plan plan, read_plan_file(file));
    file_ = file;
    file_text_ = text_of_file(file);
    last_resolved_.reset(); // it was another plan
    take(std::move(plan));
    return {};
}

Expected<Plan> PlanState::reread()
{
    FOURFOLD_TRY(Plan plan, read_plan_file(file_));
    file_text_ = text_of_file(file_);
    return plan;
}

void PlanState::reset(Plan plan)
{
    file_.clear();
    last_resolved_.reset();
    take(std::move(plan));
}

void PlanState::put(Plan plan)
{
    plan.where = plan_.where;
    take(std::move(plan));
}

Expected<void> PlanState::save(const std::filesystem::path& file)
{
    const std::string text = to_text(plan_);
    FOURFOLD_CHECK(check_output(file));
    FOURFOLD_CHECK(write_file_atomically(file, text));
    file_ = file;
    file_text_ = text;
    if (plan_.where != file.string()) {
        Plan moved = plan_;
        moved.where = file.string(); // relative data paths now start at the new folder
        take(std::move(moved));
    }
    return {};
}

bool PlanState::is_changed_on_disk() const
{
    if (file_.empty())
        return false;
    const Expected<std::string> now = read_text_file(file_);
    return now && *now != file_text_;
}

void PlanState::keep_mine()
{
    file_text_ = text_of_file(file_);
}

std::string PlanState::title() const
{
    if (!file_.empty())
        return file_.filename().string();
    const Json& name = value_at(plan_.document, "name");
    return name.is_string() ? name.get<std::string>() : "Untitled plan";
}

void PlanState::take(Plan plan)
{
    plan_ = std::move(plan);
    problem_.reset();
    broken_rules_.clear();
    if (Expected<ResolvedPlan> resolved = resolve(plan_, presets_)) {
        resolved_ = *std::move(resolved);
        last_resolved_ = resolved_;
        broken_rules_ = check(*resolved_);
    } else {
        resolved_.reset();
        problem_ = std::move(resolved).error();
    }
}

} // namespace fourfold::view
