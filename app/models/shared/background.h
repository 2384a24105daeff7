// SPDX-License-Identifier: GPL-3.0-or-later
// Work that takes longer than a frame, on a thread of its own; the newest request wins and the owner never waits.
#pragma once

#include <QObject>

#include <functional>
#include <stop_token>
#include <thread>

namespace fourfold::ui {

class Background : public QObject {
    Q_OBJECT
public:
    explicit Background(QObject* parent = nullptr);
    ~Background() override; // cancels and waits

    // What is to be done with the outcome, on the owner's thread.
    using Done = std::function<void()>;
    // Runs `work` on a thread after the one before, which is asked to stop. Its Done is called unless start() or
    // cancel() came in between.
    void start(std::function<Done(const std::stop_token&)> work);
    void cancel();
    // True from start() until its Done was called, or cancel().
    [[nodiscard]] bool isRunning() const { return m_running; }

private:
    std::jthread m_thread;
    quint64 m_serial = 0;
    bool m_running = false;
};

} // namespace fourfold::ui
