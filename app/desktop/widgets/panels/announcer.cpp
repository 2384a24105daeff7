// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/announcer.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QTimer>
#include <QWidget>

namespace fourfold::ui {

namespace {
constexpr int kAskedUntil = 10'000; // milliseconds: a screen reader asks for the words in its own time

// The words as an object of the accessibility tree. It is never on show: the words stand elsewhere for who sees.
class Announcement : public QWidget {
public:
    Announcement(QWidget* window, const QString& words)
        : QWidget(window)
    {
        hide();
        setAccessibleName(words);
    }
};

QAccessibleInterface* makeAnnouncement(const QString&, QObject* object)
{
    auto* words = dynamic_cast<Announcement*>(object);
    return words ? new QAccessibleWidget(words, QAccessible::Notification) : nullptr;
}
} // namespace

// Qt 6.4 has no event for it; that an object of this role appears is what a screen reader goes by.
void announce(const QWidget& from, const QString& words)
{
    QWidget* window = from.window();
    if (words.isEmpty() || !window->isVisible())
        return;
    auto* announcement = new Announcement(window, words); // one each: two in a row would else be the second twice
    QTimer::singleShot(kAskedUntil, announcement, &QObject::deleteLater);
    QAccessibleEvent appeared(announcement, QAccessible::ObjectShow);
    QAccessible::updateAccessibility(&appeared);
}

void installAnnouncements()
{
    QAccessible::installFactory(makeAnnouncement);
}

} // namespace fourfold::ui
