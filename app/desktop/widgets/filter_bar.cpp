// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/filter_bar.h"

#include "app/desktop/zoom.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace fourfold::ui {

FilterBar::FilterBar(
    QLineEdit* filter, int width, const QList<QWidget*>& beside, const QList<QPushButton*>& actions, QWidget* parent)
    : QWidget(parent)
    , m_filter(filter)
    , m_problem(new QLabel)
{
    filter->setClearButtonEnabled(true);
    filter->setTextMargins(4, 2, 4, 2);
    if (width > 0) { // as wide as that where there is room
        limitWidth(filter, width / 2);
        limitGrowth(filter, width);
    }
    m_problem->setProperty("role", "bad");
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_problem->setWordWrap(true);
    m_problem->hide();
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(filter, 1);
    for (QWidget* widget : beside)
        row->addWidget(widget);
    if (width > 0)
        row->addStretch();
    for (QPushButton* button : actions) {
        button->setProperty("plain", true);
        row->addWidget(button);
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(4);
    column->addLayout(row);
    column->addWidget(m_problem);
}

void FilterBar::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void FilterBar::showProblem(const QString& problem)
{
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
}

QString FilterBar::problem() const
{
    return m_problem->text();
}

} // namespace fourfold::ui
