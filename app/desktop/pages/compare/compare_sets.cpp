// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_sets.h"

#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/widgets/panels/kept_names.h"
#include "app/models/compare/comparison_state.h"
#include "app/models/shared/text.h"

namespace fourfold::ui {

CompareSets::CompareSets(ComparePage& page, PlanTabs& plans)
    : QObject(&page)
    , m_page(page)
    , m_plans(plans)
{
}

void CompareSets::addTo(QMenu& menu)
{
    addKeptNames(menu, m_page,
        {m_sets.keys(), [this](const QString& name) { show(name); }, [this](const QString& name) { save(name); },
            [this](const QString& name) {
                m_sets.remove(name);
                emit changed();
            },
            {}, tr("Save this comparison\u2026"), tr("Save comparison"), {}, tr("Name of this comparison:")});
}

void CompareSets::save(const QString& name)
{
    QVariantMap comparison = m_page.comparison();
    const QStringList leftOut = comparison.take(compared::kLeftOut).toStringList();
    QStringList plans;
    for (int i = 0; i < m_plans.count(); ++i) {
        const std::filesystem::path& file = m_plans.document(i).file();
        const QString path = file.empty() ? QString() : exactText(std::filesystem::absolute(file).string());
        if (!path.isEmpty() && !leftOut.contains(path))
            plans << path;
    }
    comparison.insert(compared::kPlans, plans);
    m_sets.insert(name, comparison);
    emit changed();
}

void CompareSets::show(const QString& name)
{
    const QVariantMap comparison = m_sets.value(name).toMap();
    QStringList problems;
    for (const QString& file : comparison.value(compared::kPlans).toStringList()) {
        const std::filesystem::path path = file.toStdString();
        if (m_plans.indexOf(path) >= 0)
            continue;
        // Read before a tab is made: an unusable file leaves no trace.
        const Expected<Plan> readable = view::read_plan_file(path);
        const Expected<void> opened = readable ? m_plans.add().open(path) : Expected<void>(readable.error());
        if (!opened)
            problems << fromUtf8(opened.error().line());
    }
    m_page.setComparison(comparison);
    if (!problems.isEmpty())
        emit message(tr("%1 of this comparison cannot be opened: %2")
                         .arg(counted(double(problems.size()), tr("plan")), problems.front()));
}

} // namespace fourfold::ui
