// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/notify.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QVariantMap>
#include <QWidget>

namespace fourfold::ui {

void notify(QWidget& window, const QString& title, const QString& text, bool urgent)
{
    if (window.isActiveWindow())
        return;
    QApplication::alert(&window);
    const QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    constexpr int kDesktopDecides = -1; // how long it is shown
    const QString service = QStringLiteral("org.freedesktop.Notifications");
    QDBusMessage message = QDBusMessage::createMethodCall(
        service, QStringLiteral("/org/freedesktop/Notifications"), service, QStringLiteral("Notify"));
    const auto urgency = QVariant::fromValue<uchar>(urgent ? 2 : 1);
    message << QStringLiteral("Fourfold") << uint(0) << QStringLiteral("fourfold") << title << text.toHtmlEscaped()
            << QStringList() << QVariantMap{{QStringLiteral("urgency"), urgency}} << kDesktopDecides;
    bus.send(message);
}

} // namespace fourfold::ui
