// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/run_signs.h"

#include "app/desktop/notify.h"
#include "app/models/runs/live_run.h"
#include "app/models/runs/run_controller.h"
#include "app/models/shared/text.h"

#include <QWidget>

namespace fourfold::ui {

RunSigns::RunSigns(const RunController& controller, const LiveRun& live, QWidget& window, const QWidget& runsPage)
    : QObject(&window)
    , m_controller(controller)
    , m_live(live)
    , m_window(window)
    , m_runsPage(runsPage)
{
    connect(&controller, &RunController::workChanged, this, &RunSigns::mark);
    connect(&live, &LiveRun::changed, this, &RunSigns::mark);
    connect(&live, &LiveRun::alerted, this, &RunSigns::tellOf);
    connect(&controller, &RunController::started, this, [this] { m_alerts.begin(); });
    connect(&live, &LiveRun::ended, this, [this](const QString& run) {
        if (!run.isEmpty())
            tellOfEnd();
    });
}

void RunSigns::mark()
{
    if (!m_controller.isRunning() || m_controller.work() == RunController::Work::check) {
        emit running({});
        return;
    }
    const view::LiveRun& run = m_live.run();
    emit running(run.step() == 0
            ? exactText(view::state_label(run.state()))
            : tr("Step %1 of %2: %3").arg(grouped(run.step()), grouped(run.total_steps()), fromUtf8(run.title())));
}

void RunSigns::tellOf(const view::RunAlert& alert)
{
    const std::optional<view::RunNotice> notice = m_alerts.take(alert, m_live.run().title());
    if (!notice)
        return;
    notify(m_window, fromUtf8(notice->title), fromUtf8(notice->text), notice->urgent);
    if (!m_runsPage.isVisible())
        emit alerted(fromUtf8(notice->title));
}

// Somebody may have looked elsewhere for hours.
void RunSigns::tellOfEnd()
{
    const view::RunNotice notice = view::run_end_notice(m_live.run());
    const QString title = fromUtf8(notice.title);
    notify(m_window, title, fromUtf8(notice.text), notice.urgent);
    if (!m_runsPage.isVisible())
        emit ended(QStringLiteral("%1, %2").arg(title, fromUtf8(m_live.run().title())));
}

} // namespace fourfold::ui
