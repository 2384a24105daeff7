// SPDX-License-Identifier: GPL-3.0-or-later
// Where a search found nothing: what stood in the way, at once, and what would let it find a layout, looked for on
// another thread.
#pragma once

#include "app/models/shared/background.h"
#include "core/search/cures.h"

#include <optional>

namespace fourfold::ui {

class CureFinder : public QObject {
    Q_OBJECT
public:
    explicit CureFinder(QObject* parent = nullptr);
    // Precondition: the search found nothing and was not cancelled.
    void look(const SearchRequest& request, const SearchResult& result);
    void forget(); // another search begins

    [[nodiscard]] bool isLooking() const { return m_work.isRunning(); }
    [[nodiscard]] const std::optional<Problem>& obstacle() const { return m_obstacle; }
    // Layouts that the search would take, each with the change that leads to it; the cheapest first.
    [[nodiscard]] const std::vector<Advice>& all() const { return m_all; }
    // `plan` with everything that all()[index] says, whatever layout the plan has now.
    [[nodiscard]] Expected<Plan> applied(std::size_t index, const Plan& plan, const ResolvedPlan& now) const;

signals:
    void changed();

private:
    std::optional<Problem> m_obstacle;
    std::vector<Advice> m_all;
    Background m_work;
};

} // namespace fourfold::ui
