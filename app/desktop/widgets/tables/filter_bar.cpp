// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/filter_bar.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace fourfold::ui {

namespace {
constexpr int kRoom = 260; // for the filter beside the buttons, with the margins
}

FilterBar::FilterBar(
    QLineEdit* filter, int width, const QList<QWidget*>& beside, const QList<QPushButton*>& actions, QWidget* parent)
    : QWidget(parent)
    , m_filter(filter)
    , m_problem(makeWords("bad"))
    , m_above(new QHBoxLayout)
    , m_row(new QHBoxLayout)
    , m_folds(width == 0)
{
    filter->setClearButtonEnabled(true);
    filter->setTextMargins(4, 2, 4, 2);
    if (width > 0) { // as wide as that where there is room
        limitWidth(filter, width / 2);
        limitGrowth(filter, width);
    }
    m_problem->hide();
    m_row->setSpacing(8);
    m_row->addWidget(filter, 1);
    for (QWidget* widget : beside)
        m_row->addWidget(widget);
    if (width > 0)
        m_row->addStretch();
    for (QPushButton* button : actions)
        m_row->addWidget(button);
    setLayout(columnOf({m_above, m_row, m_problem}, 4, {12, 8, 12, 8}));
}

void FilterBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fold();
}

void FilterBar::fold()
{
    if (!m_folds)
        return;
    int beside = 0;
    for (int i = 0; i < m_row->count(); ++i) {
        const QWidget* widget = m_row->itemAt(i)->widget();
        if (widget && widget != m_filter)
            beside += widget->sizeHint().width() + m_row->spacing();
    }
    const bool narrow = width() < beside + px(kRoom);
    if (narrow == (m_above->count() > 0))
        return;
    (narrow ? m_row : m_above)->removeWidget(m_filter);
    if (narrow)
        m_above->addWidget(m_filter);
    else
        m_row->insertWidget(0, m_filter, 1);
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
