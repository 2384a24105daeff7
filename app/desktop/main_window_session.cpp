// SPDX-License-Identifier: GPL-3.0-or-later
// How the main window starts and ends: the stored session, what a crash left, runs that go on.
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare_page.h"
#include "app/desktop/pages/runs_page.h"
#include "app/desktop/pages/search_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/models/plan/plan_journal.h"
#include "app/models/runs/run_setup.h"
#include "app/models/shared/answer.h"
#include "app/models/shared/text.h"

#include <QCloseEvent>

namespace fourfold::ui {

void MainWindow::openStartPlan()
{
    m_files->openSession();
    m_isStarted = true;
    if (!m_journal)
        return;
    m_search->restore(m_session.search);
    m_compare->restore(m_session.compare);
    offerRunsUnderWay();
    const int restored = m_files->restore(m_journal->takeLeftovers());
    if (restored > 0) {
        m_journal->flush(); // they are this program's to lose now
        m_banner->say(Tone::warning,
            tr("Fourfold did not end in order the last time. %1 with unsaved changes %2 restored.")
                .arg(counted(restored, tr("plan")), restored == 1 ? tr("was") : tr("were")));
    }
}

// Runs of this computer's history that a closed window, or a lost one, left on their nodes.
void MainWindow::offerRunsUnderWay()
{
    const std::vector<RunSummary> runs = runsUnderWay(m_options.history);
    if (runs.empty())
        return;
    const QString id = fromUtf8(runs.front().id);
    m_banner->say(Tone::neutral,
        tr("Run %1 (%2) was still going when Fourfold was closed.").arg(id.left(12), fromUtf8(runs.front().name)),
        {{tr("Follow it"), [this, id] {
              showPage(Page::runs);
              m_runs->follow(id);
          }}});
}

// At the end, and a moment after each change of what is open: a program may be ended without being asked.
void MainWindow::saveSession()
{
    if (!m_journal)
        return;
    m_session.geometry = saveGeometry();
    m_session.page = pageNames()[static_cast<int>(page())];
    m_session.layout = layoutOf(this);
    m_session.search = m_search->state();
    m_session.compare = m_compare->state();
    m_files->rememberSession();
    m_session.save();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    CloseAnswer answer = CloseAnswer::stop;
    if (!m_files->mayCloseAll()
        || (m_controller.isRunning() && m_controller.work() != RunController::Work::check
            && (answer = askAboutRun(this, m_options.session)) == CloseAnswer::stay)) {
        event->ignore();
        return;
    }
    saveSession();
    if (m_journal)
        m_journal->discard();
    if (answer == CloseAnswer::leave) {
        m_leftRun = m_controller.isRunning();
        m_controller.leaveBehind();
    }
    m_controller.stop();
    event->accept();
}

} // namespace fourfold::ui
