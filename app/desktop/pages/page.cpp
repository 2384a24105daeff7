// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/page.h"

#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/plan_workspace.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/desktop/pages/search/search_page.h"

namespace fourfold::ui {

const std::vector<PageEntry>& pageList()
{
    using C = const PageContext&;
    static const std::vector<PageEntry> list{
        {"plan", QT_TRANSLATE_NOOP("Page", "Plan"), [](C c) -> Page* { return new PlanWorkspace(c.plans); }, true},
        {"search", QT_TRANSLATE_NOOP("Page", "Search"), [](C c) -> Page* { return new SearchPage(c.plans); }},
        {"compare", QT_TRANSLATE_NOOP("Page", "Compare"),
            [](C c) -> Page* { return new ComparePage(c.plans, c.history); }},
        // The assistant has the button to run.
        {"runs", QT_TRANSLATE_NOOP("Page", "Runs"), [](C c) -> Page* { return new RunsPage(c); }, false, false},
        {"history", QT_TRANSLATE_NOOP("Page", "History"), [](C c) -> Page* { return new HistoryPage(c); }},
    };
    return list;
}

} // namespace fourfold::ui
