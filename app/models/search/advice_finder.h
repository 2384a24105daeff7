// SPDX-License-Identifier: GPL-3.0-or-later
// The advice finder of app/view for the open plan: by the window's event loop, and put into the plan as one step that
// can be undone.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/view/search/advice_finder.h"

#include <QTimer>

namespace fourfold::ui {

class AdviceFinder : public QObject {
    Q_OBJECT
public:
    // `document` outlives the finder.
    explicit AdviceFinder(PlanDocument& document, QObject* parent = nullptr);
    // Looks only while somebody is looking.
    void setActive(bool active);

    [[nodiscard]] bool isLooking() const { return m_finder.is_looking(); }
    // Of the plan as it stands; empty while it is looked for and while the plan has no answer.
    [[nodiscard]] const std::optional<AdviceReport>& report() const { return m_finder.report(); }
    // What makes it fit, then what makes it faster.
    [[nodiscard]] const std::vector<Advice>& all() const { return m_finder.all(); }
    [[nodiscard]] Table table() const { return m_finder.table(); } // of all()
    // Puts all()[index] into the plan.
    void apply(std::size_t index);

signals:
    void changed();

private:
    void planChanged();
    void tick();
    void wait();

    PlanDocument& m_document;
    bool m_active = false;
    QTimer m_wait;
    view::AdviceFinder m_finder;
};

} // namespace fourfold::ui
