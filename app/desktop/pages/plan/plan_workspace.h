// SPDX-License-Identifier: GPL-3.0-or-later
// Plan mode: the open plans as tabs, one page each. With a single plan there is no tab bar.
#pragma once

#include "app/desktop/pages/page.h"
#include "app/models/plan/plan_tabs.h"

class QStackedWidget;
class QTabBar;

namespace fourfold::ui {

class PlanPage;

class PlanWorkspace : public Page {
    Q_OBJECT
public:
    // `plans` outlives the workspace.
    explicit PlanWorkspace(PlanTabs& plans);
    [[nodiscard]] PlanPage& current() const;
    [[nodiscard]] QWidget& settings() override; // of the current plan
    [[nodiscard]] QTabBar& tabs() const { return *m_tabs; }

signals:
    void importRequested();
    void closeRequested(int index);

private:
    void insert(int index);
    void showTitle(int index);
    void showCurrent();

    PlanTabs& m_plans;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
};

} // namespace fourfold::ui
