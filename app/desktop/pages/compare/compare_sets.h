// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons that are kept by a name: of which plans, runs, rows and layouts, against which reference.
#pragma once

#include "app/models/plan/plan_tabs.h"

#include <QVariantMap>

class QMenu;

namespace fourfold::ui {

class ComparePage;

class CompareSets : public QObject {
    Q_OBJECT
public:
    // The page is the parent; `plans` outlives it.
    CompareSets(ComparePage& page, PlanTabs& plans);
    [[nodiscard]] const QVariantMap& all() const { return m_sets; } // by their names (comparison_state.h)
    void set(const QVariantMap& sets) { m_sets = sets; }
    void addTo(QMenu& menu); // entries for all of this
    // What is compared now; of a plan that was never saved there is nothing to keep.
    void save(const QString& name);
    // Opens the plans of it that are not open, and takes the others out of the comparison.
    void show(const QString& name);

signals:
    void changed();
    void message(const QString& text); // for the status bar

private:
    ComparePage& m_page;
    PlanTabs& m_plans;
    QVariantMap m_sets;
};

} // namespace fourfold::ui
