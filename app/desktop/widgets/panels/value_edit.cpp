// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/value_edit.h"

#include "app/desktop/widgets/panels/invalid_frame.h"

#include <QKeyEvent>

namespace fourfold::ui {

ValueEdit::ValueEdit(Take take, QWidget* parent)
    : QLineEdit(parent)
    , m_take(std::move(take))
{
    setProperty("setting", true); // the finder offers it
    connect(this, &QLineEdit::editingFinished, this, &ValueEdit::take);
}

void ValueEdit::showValue(const QString& written, const QString& otherwise)
{
    setPlaceholderText(otherwise);
    const bool typing = hasFocus() && text() != m_written;
    const bool refused = !m_problem.isEmpty() && written == m_written; // stays to be mended while others are written
    m_written = written;
    if (typing || refused)
        return;
    if (text() != written)
        setText(written);
    tell({});
}

void ValueEdit::setHelp(const QString& help)
{
    m_help = help;
    tell(m_problem);
}

void ValueEdit::take()
{
    if (text() == m_written) {
        tell({});
        return;
    }
    const QString before = m_written;
    m_written = text(); // what the plan shows now is no longer being typed
    const QString problem = m_take(text());
    if (!problem.isEmpty())
        m_written = before;
    tell(problem);
}

void ValueEdit::tell(const QString& problem)
{
    m_problem = problem;
    setToolTip(problem.isEmpty() ? m_help : problem + QStringLiteral("\n\n") + m_help);
    setAccessibleDescription(problem.isEmpty() ? m_help : problem);
    if (!m_frame && !problem.isEmpty() && parentWidget())
        m_frame = new InvalidFrame(this);
    if (m_frame)
        m_frame->setInvalid(!problem.isEmpty());
}

void ValueEdit::showEvent(QShowEvent* event)
{
    QLineEdit::showEvent(event);
    setCursorPosition(0); // a long value shows its beginning
}

// Ctrl+Z takes back a change of the plan, unless there is one of the text.
bool ValueEdit::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<const QKeyEvent*>(event);
        const bool takesBack = key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
        if (takesBack && text() == m_written) {
            event->ignore();
            return true;
        }
    }
    return QLineEdit::event(event);
}

void ValueEdit::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && text() != m_written) {
        setText(m_written);
        tell({});
        event->accept();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace fourfold::ui
