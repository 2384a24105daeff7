// SPDX-License-Identifier: GPL-3.0-or-later
// Of a run, what is told to somebody who looks elsewhere: that it goes on, how far it is, what its watch reports, and
// how it ended.
#pragma once

#include "app/view/runs/run_notices.h"

#include <QObject>

class QWidget;

namespace fourfold::ui {

class LiveRun;
class RunController;

class RunSigns : public QObject {
    Q_OBJECT
public:
    // All outlive this. `window` is marked and notified for at an end, where it is not the active one; ended() is left
    // out where `runsPage`, which shows it all, is on show.
    RunSigns(const RunController& controller, const LiveRun& live, QWidget& window, const QWidget& runsPage);

signals:
    void running(const QString& text); // how far it is; empty: none runs
    void ended(const QString& text);
    void alerted(const QString& text); // of its watch, left out likewise

private:
    void mark();
    void tellOfEnd();
    void tellOf(const view::RunAlert& alert);

    const RunController& m_controller;
    const LiveRun& m_live;
    QWidget& m_window;
    const QWidget& m_runsPage;
    view::AlertNotices m_alerts; // of this run
};

} // namespace fourfold::ui
