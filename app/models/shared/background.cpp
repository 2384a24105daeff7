// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/background.h"

#include <QMetaObject>

namespace fourfold::ui {

Background::Background(QObject* parent)
    : QObject(parent)
{
}

Background::~Background()
{
    cancel();
}

void Background::start(std::function<Done(const std::stop_token&)> work)
{
    m_thread.request_stop();
    const quint64 serial = ++m_serial;
    m_running = true;
    // The old thread is joined by the new one, not by the window.
    m_thread = std::jthread(
        [this, serial, work = std::move(work), before = std::move(m_thread)](const std::stop_token& stop) mutable {
            if (before.joinable())
                before.join();
            if (stop.stop_requested())
                return;
            Done done = work(stop);
            QMetaObject::invokeMethod(
                this,
                [this, serial, done = std::move(done)] {
                    if (serial != m_serial || !m_running)
                        return;
                    m_running = false;
                    if (done)
                        done();
                },
                Qt::QueuedConnection);
        });
}

void Background::cancel()
{
    m_running = false;
    ++m_serial;
    m_thread.request_stop();
}

} // namespace fourfold::ui
