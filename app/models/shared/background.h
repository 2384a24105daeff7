// SPDX-License-Identifier: GPL-3.0-or-later
// The background work of app/view, delivered by the owner's event loop.
#pragma once

#include "app/view/background.h"

#include <QMetaObject>
#include <QObject>

namespace fourfold::ui {

class Background : public QObject {
public:
    using Done = view::Background::Done;
    void start(std::function<Done(const std::stop_token&)> work) { m_work.start(std::move(work)); }
    void cancel() { m_work.cancel(); }
    [[nodiscard]] bool isRunning() const { return m_work.is_running(); }

private:
    view::Background m_work{[this] {
        QMetaObject::invokeMethod(
            this, [this] { m_work.deliver(); }, Qt::QueuedConnection);
    }};
};

} // namespace fourfold::ui
