// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/failure_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"

#include <QLabel>
#include <QPlainTextEdit>

#include <utility>

namespace fourfold::ui {

FailureView::FailureView(QWidget* parent)
    : QWidget(parent)
    , m_facts(named(makeWords("normal"), "failureFacts"))
    , m_log(new QPlainTextEdit)
{
    m_facts->setTextFormat(Qt::RichText); // what it shows is escaped
    m_log->setReadOnly(true);
    m_log->setLineWrapMode(QPlainTextEdit::NoWrap);
    useFixedFont(m_log);
    m_log->setFrameShape(QFrame::NoFrame);
    named(m_log, "failureLog", tr("Last lines of the rank that failed"));
    m_log->setPlaceholderText(tr("It printed nothing before that."));
    setLayout(columnOf({m_facts, {m_log, 1}}, 6));
}

void FailureView::show(const view::RunFailure& failure, const QStringList& more)
{
    QStringList lines;
    for (const QString& line : fromUtf8(view::failure_lines(failure)) + more)
        lines << line.toHtmlEscaped();
    lines.front() = QStringLiteral("<b>%1</b>").arg(lines.front());
    m_facts->setText(lines.join(QStringLiteral("<br>")));
    m_log->setPlainText(fromUtf8(failure.log));
}

QString FailureView::text() const
{
    return m_facts->text();
}

FailureCard::FailureCard(QWidget* parent)
    : Card(tr("Failure"), parent)
    , m_view(new FailureView(this))
{
    setFocusPolicy(Qt::StrongFocus);
    showFailure({}, {});
}

void FailureCard::showFailure(std::optional<view::RunFailure> failure, const QString& state)
{
    m_failure = std::move(failure);
    m_view->setVisible(m_failure.has_value());
    if (m_failure)
        m_view->show(*m_failure);
    setSubtitle(m_failure ? state : QString());
    setEmptyText(state.isEmpty() ? tr("Select a run.") : tr("%1: no rank told of an error.").arg(state));
    setAccessibleDescription(
        m_failure ? fromUtf8(view::failure_lines(*m_failure)).join(QStringLiteral("; ")) : QString());
}

Table FailureCard::table() const
{
    Table table;
    table.columns = {{"rank", tr("Rank").toStdString()}, {"host", tr("Host").toStdString()},
        {"mesh", tr("Place in the mesh").toStdString()}, {"message", tr("Message").toStdString()},
        {"collective", tr("Last collective").toStdString()}};
    if (!m_failure)
        return table;
    table.rows.push_back({m_failure->rank ? Cell(std::int64_t(*m_failure->rank)) : Cell(), m_failure->host,
        m_failure->mesh, m_failure->message, m_failure->collective});
    return table;
}

void FailureCard::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    m_view->setGeometry(bodyArea());
}

} // namespace fourfold::ui
