// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/rehearsal_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "core/report/views/rehearsal_report.h"

#include <QApplication>
#include <QClipboard>
#include <QProgressBar>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kFine = 1000; // parts of the progress bar
}

RehearsalDialog::RehearsalDialog(const ResolvedPlan& plan, const std::filesystem::path& trainer, QWidget* parent)
    : QDialog(parent)
    , m_job([this] { QMetaObject::invokeMethod(this, &RehearsalDialog::take, Qt::QueuedConnection); })
    , m_headline(named(makeWords("heading"), "rehearsalHeadline"))
    , m_words(named(makeWords("muted"), "rehearsalWords"))
    , m_progress(named(new QProgressBar, "rehearsalProgress", tr("Ranks rehearsed")))
    , m_table(new DataTable)
    , m_planned(named(new TimelineView, "plannedStep"))
    , m_rehearsed(named(new TimelineView, "rehearsedStep"))
    , m_timelines(holderOf(rowOf({{m_planned, 1}, {m_rehearsed, 1}}, 10)))
    , m_copy(makeButton(tr("Copy"), "plain", "copyRehearsal"))
    , m_open(makeButton(
          tr("Open the step"), "plain", "openRehearsedStep", tr("As large as you like, with a table of parts")))
    , m_stop(makeButton(tr("Stop"), "plain", "stopRehearsal"))
{
    setWindowTitle(tr("Rehearsal"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_table->present(m_stages, "rehearsalStages", tr("Memory of each stage"));
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_progress->setTextVisible(false);
    m_copy->setEnabled(false);
    m_open->hide();
    connect(m_open, &QPushButton::clicked, this, [this] {
        const view::RehearsalOutcome& outcome = *m_job.outcome();
        emit traceRequested({outcome.plan + ", rehearsed", {}, outcome.rehearsed},
            {outcome.plan + ", planned", nullptr, outcome.planned});
    });
    m_planned->setTitle(tr("Planned"));
    m_rehearsed->setTitle(tr("Rehearsed"));
    m_planned->linkWindow(*m_rehearsed);
    m_timelines->hide();
    setLayout(columnOf({m_headline, m_progress, m_words, {m_table, 1}, {m_timelines, 1},
                           rowOf({Item::spring(), m_open, m_copy, m_stop})},
        10, {16, 16, 16, 16}));
    resize(px(620), px(420));
    connect(m_stop, &QPushButton::clicked, this, &RehearsalDialog::reject);
    connect(m_copy, &QPushButton::clicked, this,
        [this] { QApplication::clipboard()->setText(exactText(m_job.outcome()->text())); });
    m_headline->setText(tr("The trainer plays every rank on this computer, without GPUs"));
    m_table->hide();
    m_job.start(plan, trainer);
    take();
}

void RehearsalDialog::take()
{
    m_job.deliver();
    const std::optional<view::RehearsalOutcome>& outcome = m_job.outcome();
    m_progress->setVisible(!outcome);
    m_progress->setRange(0, m_job.share() > 0 ? kFine : 0); // a busy mark while the trainer starts
    m_progress->setValue(static_cast<int>(m_job.share() * kFine));
    m_stop->setText(outcome ? tr("Close") : tr("Stop"));
    m_copy->setEnabled(outcome.has_value());
    if (!outcome) {
        m_words->setText(exactText(m_job.progress_text()));
        return;
    }
    changeRole(m_headline, outcome->tone == Tone::bad ? roleOf(Tone::bad) : QStringLiteral("heading"));
    m_headline->setText(fromUtf8(outcome->headline));
    QStringList lines{fromUtf8(outcome->plan)};
    lines << fromUtf8(outcome->culprits) << fromUtf8(outcome->verdict);
    m_words->setText(lines.join(QLatin1Char('\n')));
    m_table->setVisible(outcome->stages.has_value());
    if (outcome->stages) {
        m_stages.show(*outcome->stages);
        m_table->setToolTip(exactText(kRehearsalColumns));
        m_table->resizeColumnsToContents();
    }
    if (outcome->has_timelines() && !m_timelines->isVisibleTo(this)) {
        const double longest = std::max(outcome->planned.length_s, outcome->rehearsed.length_s);
        m_planned->showTimeline(TimelineScene(outcome->planned), tr("the step as planned"), longest);
        m_rehearsed->showTimeline(TimelineScene(outcome->rehearsed), tr("the step as rehearsed"), longest);
        m_timelines->show();
        m_open->show();
        resize(std::max(width(), px(900)), std::max(height(), px(640)));
    }
}

void RehearsalDialog::reject()
{
    if (!m_job.is_running()) {
        QDialog::reject();
        return;
    }
    m_job.cancel();
    take();
}

} // namespace fourfold::ui
