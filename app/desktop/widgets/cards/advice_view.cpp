// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/advice_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"

#include <QEvent>
#include <QHeaderView>
#include <QPushButton>

namespace fourfold::ui {

namespace {
constexpr int kChangeColumn = 1;
}

AdviceView::AdviceView(AdviceFinder& finder, QWidget* parent)
    : Card(tr("What would help"), parent)
    , m_finder(finder)
    , m_table(new DataTable(this))
    , m_apply(makeButton(tr("Apply to plan"), "small", "applyChosenAdvice",
          tr("Put the chosen change into the plan (Enter); undo takes it back"), this))
{
    setFocusPolicy(Qt::StrongFocus);
    setFocusProxy(m_table);
    m_table->present(m_model, "advice", title());
    m_table->setWidths({74, 280, 80, 76, 84, 104, 90, 56});
    const auto apply = [this] {
        if (m_table->currentIndex().isValid())
            m_finder.apply(static_cast<std::size_t>(m_table->currentIndex().row()));
    };
    m_table->addRowAction(m_apply->text(), Qt::Key_Return, apply);
    connect(m_apply, &QPushButton::clicked, this, apply);
    connect(m_table, &QAbstractItemView::activated, this, apply);
    connect(&finder, &AdviceFinder::changed, this, &AdviceView::showState);
    showState();
}

void AdviceView::showState()
{
    const std::optional<AdviceReport>& report = m_finder.report();
    m_model.show(m_finder.table());
    // What changes is the point of the row: it is never cut.
    if (m_model.columnCount() > kChangeColumn)
        m_table->horizontalHeader()->setSectionResizeMode(kChangeColumn, QHeaderView::ResizeToContents);
    m_table->setVisible(!isEmpty());
    m_apply->setVisible(!isEmpty());
    if (!isEmpty())
        m_table->selectRow(0);
    QString said;
    if (!report)
        said = m_finder.isLooking() ? tr("Looking for changes that help\u2026") : tr("The plan has no answer yet.");
    else if (report->now.fit == Fit::no)
        said = tr("Nothing that was tried makes the plan fit.");
    else
        said = tr("No single change makes the plan faster by 1 % or more.");
    setEmptyText(said);
    setSubtitle(!report     ? QString()
            : report->pairs ? tr("%1 tried; only pairs of changes make it fit").arg(grouped(double(report->tried)))
                            : tr("%1 single changes tried, the cheapest first").arg(grouped(double(report->tried))));
    setAccessibleDescription(isEmpty() ? said : fromUtf8(view::advice_words(m_finder.all().front())));
}

void AdviceView::place()
{
    const QSize button = m_apply->sizeHint();
    const QRect body = bodyArea();
    m_apply->setGeometry(
        body.right() - button.width() + 1, body.bottom() - button.height() + 1, button.width(), button.height());
    m_table->setGeometry(body.adjusted(-px(6), 0, px(6), -button.height() - px(6)));
}

void AdviceView::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    place();
}

void AdviceView::changeEvent(QEvent* event)
{
    Card::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        place();
}

} // namespace fourfold::ui
