// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/cure_finder.h"

#include "app/view/plan/edits.h"
#include "core/report/views/obstacle.h"

namespace fourfold::ui {

CureFinder::CureFinder(QObject* parent)
    : QObject(parent)
{
}

void CureFinder::look(const SearchRequest& request, const SearchResult& result)
{
    m_obstacle = fourfold::obstacle(request, result);
    m_all.clear();
    m_work.start([this, request, result](const std::stop_token& stop) -> Background::Done {
        std::vector<Advice> found = cures(request, result, 3, stop);
        return [this, found = std::move(found)]() mutable {
            m_all = std::move(found);
            emit changed();
        };
    });
    emit changed();
}

void CureFinder::forget()
{
    m_work.cancel();
    m_obstacle.reset();
    m_all.clear();
    emit changed();
}

Expected<Plan> CureFinder::applied(std::size_t index, const Plan& plan, const ResolvedPlan& now) const
{
    return view::with_fields(plan, changed_fields(now, m_all.at(index).edit.plan));
}

} // namespace fourfold::ui
