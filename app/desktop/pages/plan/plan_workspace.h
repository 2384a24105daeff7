// SPDX-License-Identifier: GPL-3.0-or-later
// Plan mode: the open plans as tabs, one page each. With a single plan there is no tab bar.
#pragma once

#include "app/desktop/pages/page.h"
#include "app/models/plan/plan_tabs.h"

class QStackedWidget;
class QLineEdit;
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
    // Where each plan's timeline stands, by the plan's file.
    [[nodiscard]] QVariantMap state() const override;
    void restore(const QVariantMap& state) override;
    // Its name can be changed in its tab: Enter takes it, Esc leaves it as it was.
    void rename(int index);
    [[nodiscard]] QTabBar& tabs() const { return *m_tabs; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

signals:
    void importRequested();
    void closeRequested(int index);

private:
    void insert(int index);
    void showTitle(int index);
    void showCurrent();
    void endRename(bool take);

    PlanTabs& m_plans;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    QLineEdit* m_name; // over the tab while its plan is renamed
    const PlanDocument* m_renamed = nullptr;
};

} // namespace fourfold::ui
