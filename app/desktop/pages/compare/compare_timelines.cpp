// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_timelines.h"

#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/compare/trace_difference.h"
#include "core/predict/step_time.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kMostTerms = 4; // told of what differs
constexpr int kFewestRows = 4, kMostRows = 10; // that count for the height
} // namespace

CompareTimelines::CompareTimelines(QWidget* parent)
    : QWidget(parent)
    , m_views{named(new TimelineView, "compare.upper"), named(new TimelineView, "compare.lower")}
    , m_choices{makeChooser("compareTimeline0", tr("Upper timeline"), 20),
          makeChooser("compareTimeline1", tr("Lower timeline"), 20)}
    , m_both(new QWidget)
    , m_rows(columnOf({{m_views[0], 1}, {m_views[1], 1}}, 10, {12, 12, 12, 12}))
    , m_difference(named(makeWords("muted"), "timelineDifference"))
{
    m_both->setLayout(m_rows);
    m_both->setAccessibleName(tr("Two timelines"));
    for (TimelineView* view : m_views)
        view->setTogether(m_both);
    m_views[0]->linkWindow(*m_views[1]);
    setLayout(columnOf({makeControls(), {new ScrollColumn(m_both), 1}}));
}

QWidget* CompareTimelines::makeControls()
{
    QGridLayout* grid = controlsGrid();
    for (std::size_t i = 0; i < m_choices.size(); ++i) {
        QComboBox* choice = m_choices[i];
        const int place = static_cast<int>(i) * 2;
        grid->addWidget(labelOf(i == 0 ? tr("Above") : tr("Below"), choice), 0, place);
        grid->addWidget(choice, 0, place + 1);
        grid->setColumnStretch(place + 1, 1);
        connect(choice, &QComboBox::currentIndexChanged, this, &CompareTimelines::showTimelines);
        connect(choice, &QComboBox::activated, this, [this] { m_chosen = true; });
    }
    grid->addWidget(m_difference, 1, 0, 1, 4);
    return makePanel(grid);
}

QString CompareTimelines::difference() const
{
    return m_difference->text();
}

void CompareTimelines::show(const std::vector<CompareEntry>& entries)
{
    const auto idOf = [this](int choice) {
        if (choice < 0)
            return QString();
        const Choice& at = m_offered[static_cast<std::size_t>(choice)];
        return m_entries[at.entry].id + (at.measured ? QStringLiteral(" measured") : QString());
    };
    const std::array<QString, 2> before{idOf(m_choices[0]->currentIndex()), idOf(m_choices[1]->currentIndex())};
    m_entries = entries;
    m_offered.clear();
    QStringList names, ids;
    int traced = -1; // the first entry with a measured step
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const QString name = QStringLiteral("%1  %2").arg(i + 1).arg(m_entries[i].name);
        m_offered.push_back({i, false});
        names << name;
        if (!m_entries[i].trace)
            continue;
        if (traced < 0)
            traced = static_cast<int>(m_offered.size()) - 1;
        m_offered.push_back({i, true});
        names << tr("%1, measured").arg(name);
    }
    for (int i = 0; i < names.size(); ++i)
        ids << idOf(i);
    for (std::size_t i = 0; i < m_choices.size(); ++i) {
        const QSignalBlocker blocker(m_choices[i]);
        m_choices[i]->clear();
        m_choices[i]->addItems(names);
        // Until somebody chooses: a run as predicted and as measured, else the first two entries.
        const int usual = std::max(0, traced) + static_cast<int>(i);
        const int kept = m_chosen ? static_cast<int>(ids.indexOf(before[i])) : -1;
        m_choices[i]->setCurrentIndex(std::min(kept >= 0 ? kept : usual, static_cast<int>(names.size()) - 1));
    }
    showTimelines();
}

const Timeline* CompareTimelines::timelineOf(int choice) const
{
    if (choice < 0 || choice >= static_cast<int>(m_offered.size()))
        return nullptr;
    const auto& [entry, measured] = m_offered[static_cast<std::size_t>(choice)];
    if (measured)
        return &*m_entries[entry].trace;
    const std::optional<Prediction>& prediction = m_entries[entry].prediction;
    return prediction ? &prediction->timeline : nullptr;
}

void CompareTimelines::showTimelines()
{
    const std::array<const Timeline*, 2> shown{
        timelineOf(m_choices[0]->currentIndex()), timelineOf(m_choices[1]->currentIndex())};
    double longest = 0;
    for (const Timeline* timeline : shown)
        longest = std::max(longest, timeline ? timeline->length_s : 0);
    std::array<std::optional<SteadyPart>, 2> steady;
    for (std::size_t i = 0; i < m_views.size(); ++i) {
        const int choice = m_choices[i]->currentIndex();
        const bool measured = choice >= 0 && m_offered[static_cast<std::size_t>(choice)].measured;
        TimelineScene scene = shown[i] ? TimelineScene(*shown[i]) : TimelineScene();
        if (shown[i] && !measured)
            steady[i] = steady_part(*m_entries[m_offered[static_cast<std::size_t>(choice)].entry].prediction);
        scene.set_steady(steady[i]);
        m_views[i]->setTitle(choice >= 0 ? m_choices[i]->currentText() : tr("Pipeline timeline"));
        m_views[i]->setEmptyText(choice >= 0 ? tr("This entry has no timeline.")
                                             : tr("Open a plan, or add one: its timeline appears here."));
        m_views[i]->showTimeline(std::move(scene), measured ? tr("the traced step") : tr("predicted"), longest);
        // The one with more stages gets more of the height.
        m_rows->setStretch(static_cast<int>(i), std::clamp(shown[i] ? shown[i]->stages : 0, kFewestRows, kMostRows));
    }
    const auto difference = [&](int most) {
        return shown[0] && shown[1] && shown[0] != shown[1]
            ? traceDifference({*shown[0], steady[0]}, {*shown[1], steady[1]}, most)
            : QString();
    };
    m_difference->setText(difference(kMostTerms));
    m_difference->setToolTip(difference(100));
    m_difference->setVisible(!m_difference->text().isEmpty());
}

} // namespace fourfold::ui
