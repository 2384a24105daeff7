// SPDX-License-Identifier: GPL-3.0-or-later
// What would make the open plan fit, and what would make it faster: looked for when the plan has been still for a
// moment, on another thread, and put into the plan as one step that can be undone.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/models/shared/background.h"
#include "core/report/table/table.h"
#include "core/search/advice.h"

#include <QTimer>

namespace fourfold::ui {

class AdviceFinder : public QObject {
    Q_OBJECT
public:
    // `document` outlives the finder.
    explicit AdviceFinder(PlanDocument& document, QObject* parent = nullptr);
    // Looks only while somebody is looking.
    void setActive(bool active);

    [[nodiscard]] bool isLooking() const { return m_wait.isActive() || m_work.isRunning(); }
    // Of the plan as it stands; empty while it is looked for and while the plan has no answer.
    [[nodiscard]] const std::optional<AdviceReport>& report() const { return m_report; }
    // What makes it fit, then what makes it faster.
    [[nodiscard]] const std::vector<Advice>& all() const { return m_all; }
    [[nodiscard]] Table table() const; // of all()
    // "micro_batch 2 → 1 (70.1 GiB, 3.2 % slower)"
    [[nodiscard]] static QString line(const Advice& advice);
    // Puts all()[index] into the plan.
    void apply(std::size_t index);

signals:
    void changed();

private:
    void planChanged();
    void look();

    PlanDocument& m_document;
    std::optional<AdviceReport> m_report;
    std::vector<Advice> m_all;
    const Prediction* m_about = nullptr; // identity only: whose advice it is, or will be
    bool m_active = false;
    QTimer m_wait;
    Background m_work;
};

} // namespace fourfold::ui
