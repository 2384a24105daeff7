// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/banner.h"

#include "app/desktop/widgets/panels/announcer.h"
#include "app/desktop/widgets/panels/arrange.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace fourfold::ui {

Banner::Banner(QWidget* parent)
    : QFrame(parent)
    , m_text(makeWords("normal"))
    , m_close(makeButton(tr("Close"), "small", "bannerClose"))
    , m_row(rowOf({{m_text, 1}, m_close}, 8, {12, 6, 12, 6}))
{
    setProperty("role", "banner");
    setObjectName(QStringLiteral("banner"));
    setLayout(m_row);
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
        QPushButton* button = makeButton(action.text, "small");
        m_row->insertWidget(m_row->count() - 1, button);
        connect(button, &QPushButton::clicked, this, [this, run = action.run] {
            hide();
            run();
        });
        m_buttons.push_back(button);
    }
    m_close->setVisible(closable);
    show();
    announce(*this, text);
}

QString Banner::text() const
{
    return m_text->text();
}

} // namespace fourfold::ui
