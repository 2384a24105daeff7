// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/text/choice_names.h"

#include <QComboBox>
#include <QEvent>
#include <QLabel>

#include <algorithm>

namespace fourfold::ui {

bool ChoiceNames::eventFilter(QObject* watched, QEvent* event)
{
    auto* box = event->type() == QEvent::Polish ? qobject_cast<QComboBox*>(watched) : nullptr;
    QWidget* parent = box ? box->parentWidget() : nullptr;
    if (!parent || box->accessibleName().isEmpty())
        return QObject::eventFilter(watched, event);
    const auto labels = parent->findChildren<QLabel*>(QString(), Qt::FindDirectChildrenOnly);
    if (std::ranges::none_of(labels, [box](const QLabel* label) { return label->buddy() == box; })) {
        auto* label = new QLabel(box->accessibleName().replace(QLatin1Char('&'), QStringLiteral("&&")), parent);
        label->setBuddy(box);
        label->hide();
    }
    return QObject::eventFilter(watched, event);
}

} // namespace fourfold::ui
