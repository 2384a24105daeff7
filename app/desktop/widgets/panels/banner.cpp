// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/banner.h"

#include "app/desktop/widgets/panels/panel.h"
#include "app/models/shared/answer.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace fourfold::ui {

Banner::Banner(QWidget* parent)
    : QFrame(parent)
    , m_text(new QLabel)
    , m_row(new QHBoxLayout(this))
    , m_close(new QPushButton(tr("Close")))
{
    setProperty("role", "banner");
    setObjectName(QStringLiteral("banner"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close->setProperty("small", true);
    m_close->setObjectName(QStringLiteral("bannerClose"));
    m_row->setContentsMargins(12, 6, 12, 6);
    m_row->setSpacing(8);
    m_row->addWidget(m_text, 1);
    m_row->addWidget(m_close);
    connect(m_close, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

void Banner::say(Tone tone, const QString& text, const std::vector<Action>& actions, bool closable)
{
    changeRole(m_text, roleOf(tone));
    m_text->setText(text);
    setAccessibleName(text);
    for (QPushButton* button : m_buttons)
        button->deleteLater();
    m_buttons.clear();
    for (const Action& action : actions) {
        auto* button = new QPushButton(action.text);
        button->setProperty("small", true);
        m_row->insertWidget(m_row->count() - 1, button);
        connect(button, &QPushButton::clicked, this, [this, run = action.run] {
            hide();
            run();
        });
        m_buttons.push_back(button);
    }
    m_close->setVisible(closable);
    show();
}

QString Banner::text() const
{
    return m_text->text();
}

} // namespace fourfold::ui
