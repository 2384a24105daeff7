// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/config/reason_row.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/announcer.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/plan/choices.h"

#include <QLabel>
#include <QPushButton>

namespace fourfold::ui {

namespace {
QString wordsOf(const std::string& field, const Json& value)
{
    if (value.is_string())
        return fromUtf8(view::choice_label(field, value.get<std::string>()));
    if (value.is_boolean())
        return value.get<bool>() ? ReasonRow::tr("on") : ReasonRow::tr("off");
    if (value.is_number_integer())
        return grouped(value.get<double>());
    return fromUtf8(value.dump());
}
} // namespace

ReasonRow::ReasonRow(QWidget& field, QWidget* parent)
    : QWidget(parent)
    , m_field(field)
    , m_message(makeWords("bad"))
    , m_use(makeButton({}, "small", "useNearest"))
{
    useFont(m_message, -0.5);
    setLayout(rowOf({{m_message, 1}, {m_use, 0, Qt::AlignTop}}, 8, {0, 0, 0, 2}));
    connect(m_use, &QPushButton::clicked, this, [this] { emit useRequested(Json(m_nearest)); });
    hide();
}

void ReasonRow::show(const Reason* reason)
{
    setVisible(reason != nullptr);
    speak(reason ? fromUtf8(reason->message) : QString());
    if (!reason)
        return;
    const Expected<Json> nearest = reason->nearest.empty() ? Expected<Json>(Json()) : parse_json(reason->nearest, {});
    m_use->setVisible(nearest && !nearest->is_null());
    QString message = fromUtf8(reason->message);
    if (m_use->isVisibleTo(this)) // the button says it
        message = message.left(message.lastIndexOf(QLatin1String("; use ")));
    m_message->setText(message);
    if (m_use->isVisibleTo(this)) {
        m_nearest = *nearest;
        m_use->setText(tr("Use %1").arg(wordsOf(reason->field, m_nearest)));
    }
}

// What is new of the field with the focus is said by itself.
void ReasonRow::speak(const QString& message)
{
    if (m_spoken.isEmpty())
        m_usual = m_field.accessibleDescription();
    const QString& description = message.isEmpty() ? m_usual : message;
    if (m_field.accessibleDescription() != description)
        m_field.setAccessibleDescription(description);
    if (!message.isEmpty() && message != m_spoken && m_field.isVisible() && !m_field.hasFocus())
        announce(*this, QStringLiteral("%1: %2").arg(m_field.accessibleName(), message));
    m_spoken = message;
}

} // namespace fourfold::ui
