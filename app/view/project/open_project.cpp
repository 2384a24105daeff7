// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/project/open_project.h"

#include <utility>

namespace fourfold::view {

OpenProject::OpenProject(Project project, std::function<Here(const Project&)> here)
    : project_(std::move(project))
    , here_(std::move(here))
{
}

std::vector<Problem> OpenProject::open_plans(
    const std::function<std::vector<Problem>(const std::vector<std::filesystem::path>&)>& open,
    const std::function<bool(const std::filesystem::path&)>& is_open)
{
    unusable_ = project_.plans();
    std::vector<Problem> problems = open(unusable_);
    std::erase_if(unusable_, is_open);
    return problems;
}

OpenProject::Here OpenProject::gather()
{
    Here here = here_(project_);
    project_.follow_plans(here.plans, unusable_);
    project_.set_part(kComparisonPart, here.comparison);
    project_.set_part(kComparisonsPart, here.comparisons);
    return here;
}

OpenProject::Told OpenProject::keep()
{
    gather();
    if (!project_.is_changed())
        return {};
    if (project_.is_changed_on_disk())
        return {News::differs, {}};
    const Expected<void> written = project_.save();
    const bool had_failed = std::exchange(has_failed_, !written);
    if (written)
        return {News::kept, {}};
    return had_failed ? Told{} : Told{News::failed, written.error().line()};
}

OpenProject::Told OpenProject::look()
{
    const bool is_changed = project_.is_changed_on_disk();
    std::string why; // as between the marks of a merge
    if (is_changed) {
        if (const Expected<Project> there = Project::open(project_.folder()); !there)
            why = there.error().line();
    }
    const std::string before = std::exchange(unreadable_, why);
    if (!why.empty())
        return why == before ? Told{} : Told{News::unreadable, why};
    Told told{News::none, {}, !before.empty()};
    if (is_changed) {
        const Here here = gather(); // what was not written yet
        told.news = project_.is_changed() || here.has_changes ? News::differs : News::reload;
    }
    return told;
}

} // namespace fourfold::view
