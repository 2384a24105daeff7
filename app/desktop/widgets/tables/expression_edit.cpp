// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/expression_edit.h"

#include "app/desktop/look/theme.h"
#include "app/models/shared/text.h"
#include "core/search/fields.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QPainter>
#include <QStringListModel>

namespace fourfold::ui {

ExpressionEdit::ExpressionEdit(const QString& name, QWidget* parent)
    : QLineEdit(parent)
    , m_fields(&plan_field_set())
    , m_words(new QStringListModel(this))
    , m_completer(new QCompleter(m_words, this))
{
    setAccessibleName(name);
    setClearButtonEnabled(true);
    m_completer->setWidget(this);
    m_completer->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &ExpressionEdit::take);
    connect(this, &QLineEdit::textEdited, this, &ExpressionEdit::complete);
    connect(this, &QLineEdit::textChanged, this, &ExpressionEdit::parse);
}

void ExpressionEdit::setFields(const FieldSet& fields)
{
    m_fields = &fields;
    parse();
}

void ExpressionEdit::parse()
{
    m_expression.reset();
    m_error.clear();
    const std::string text = this->text().toStdString();
    if (!this->text().trimmed().isEmpty() && (!m_isMeant || m_isMeant(text))) {
        ExpressionError error;
        Expected<Expression> parsed
            = parse_expression(text, ValueKind::truth, *m_fields, accessibleName().toStdString(), &error);
        if (parsed) {
            m_expression = *std::move(parsed);
        } else {
            const QByteArray bytes = this->text().toUtf8();
            m_errorBegin = QString::fromUtf8(bytes.left(qsizetype(error.position))).size();
            m_errorSize = QString::fromUtf8(bytes.mid(qsizetype(error.position), qsizetype(error.length))).size();
            m_error = tr("character %1: ").arg(m_errorBegin + 1) + fromUtf8(error.message);
            if (!error.hint.empty())
                m_error += QStringLiteral("; ") + fromUtf8(error.hint);
        }
    }
    setToolTip(m_error);
    setAccessibleDescription(m_error);
    update();
    emit expressionChanged();
}

void ExpressionEdit::complete()
{
    const QString before = text().left(cursorPosition());
    const Completions completions = complete_expression(text().toStdString(), before.toUtf8().size(), *m_fields);
    m_replaceFrom = QString::fromUtf8(text().toUtf8().left(static_cast<qsizetype>(completions.begin))).size();
    QStringList words;
    for (const std::string& word : completions.words)
        words << fromUtf8(word);
    const QString typed = before.mid(static_cast<qsizetype>(m_replaceFrom));
    if (typed.isEmpty() || words.isEmpty() || (words.size() == 1 && words.front() == typed)) {
        m_completer->popup()->hide();
        return;
    }
    m_words->setStringList(words);
    QRect place = cursorRect();
    place.setWidth(std::max(160, m_completer->popup()->sizeHintForColumn(0) + 30));
    m_completer->complete(place);
    m_completer->popup()->setCurrentIndex({}); // none is chosen until the user goes there
}

void ExpressionEdit::take(const QString& word)
{
    const int end = cursorPosition();
    const auto begin = static_cast<int>(m_replaceFrom);
    setText(text().left(begin) + word + text().mid(end));
    setCursorPosition(begin + static_cast<int>(word.size()));
}

// While words are offered, a word that was gone to is the popup's to give. Else Tab takes the first one, and Enter
// means what was typed: a finished "memory_gib < 1" is no "1f1b".
bool ExpressionEdit::event(QEvent* event)
{
    if (event->type() != QEvent::KeyPress)
        return QLineEdit::event(event); // some come while this is made
    QAbstractItemView& popup = *m_completer->popup();
    if (popup.isVisible() && !popup.currentIndex().isValid()) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Tab || key == Qt::Key_Enter || key == Qt::Key_Return)
            popup.hide();
        if (key == Qt::Key_Tab) {
            take(m_words->stringList().front());
            event->accept();
            return true;
        }
    }
    return QLineEdit::event(event);
}

void ExpressionEdit::keyPressEvent(QKeyEvent* event)
{
    if (m_completer->popup()->isVisible()) {
        switch (event->key()) {
        case Qt::Key_Enter:
        case Qt::Key_Return:
        case Qt::Key_Escape:
            event->ignore(); // the popup's
            return;
        default:
            break;
        }
    }
    QLineEdit::keyPressEvent(event);
}

void ExpressionEdit::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    update();
}

void ExpressionEdit::paintEvent(QPaintEvent* event)
{
    QLineEdit::paintEvent(event);
    if (m_error.isEmpty())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(themeOf(this).bad, 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 3, 3);
    // Under the characters that the message means; where the text ends too early, behind its end.
    const QRect cursor = cursorRect();
    const auto advance
        = [this](qsizetype characters) { return fontMetrics().horizontalAdvance(text().left(characters)); };
    const int origin = cursor.center().x() - advance(cursorPosition());
    const int from = origin + advance(m_errorBegin);
    const int to = std::max(from + fontMetrics().averageCharWidth(), origin + advance(m_errorBegin + m_errorSize));
    painter.setClipRect(rect().adjusted(3, 0, -3, 0));
    painter.drawLine(from, cursor.bottom() - 1, to, cursor.bottom() - 1);
}

} // namespace fourfold::ui
