// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/run_signs.h"

#include "app/desktop/notify.h"
#include "app/models/runs/live_run.h"
#include "app/models/runs/run_controller.h"
#include "app/models/shared/text.h"
#include "app/view/runs/run_end_words.h"

#include <QWidget>

#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kBetweenAlerts = 60'000; // milliseconds
}

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
    connect(&controller, &RunController::started, this, [this] {
        m_sinceAlert.invalidate();
        m_untold = 0;
    });
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

// A loss that stands out seldom does so once: one notification a minute, which says how many there were.
void RunSigns::tellOf(const view::RunAlert& alert)
{
    if (!alert.stops && m_sinceAlert.isValid() && m_sinceAlert.elapsed() < kBetweenAlerts) {
        ++m_untold;
        return;
    }
    m_sinceAlert.start();
    const QString title = tr("Step %1: %2").arg(grouped(alert.step), fromUtf8(alert.text));
    QString text = fromUtf8(m_live.run().title());
    if (const int more = std::exchange(m_untold, 0); more > 0)
        text += tr("\n%1 more since the last").arg(grouped(more));
    notify(m_window, title, text, alert.stops);
    if (!m_runsPage.isVisible())
        emit alerted(title);
}

// Somebody may have looked elsewhere for hours.
void RunSigns::tellOfEnd()
{
    const view::RunEndWords words = view::run_end_words(m_live.run());
    const QString title = fromUtf8(words.title);
    notify(m_window, title, fromUtf8(words.text), words.urgent);
    if (!m_runsPage.isVisible())
        emit ended(QStringLiteral("%1, %2").arg(title, fromUtf8(m_live.run().title())));
}

} // namespace fourfold::ui
