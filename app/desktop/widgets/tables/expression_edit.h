// SPDX-License-Identifier: GPL-3.0-or-later
// A line for an expression over the fields of a plan or a run, with completion as it is typed and the error in words.
#pragma once

#include "core/expression/expression.h"

#include <QLineEdit>

#include <functional>
#include <optional>

class QCompleter;
class QStringListModel;

namespace fourfold::ui {

class ExpressionEdit : public QLineEdit {
    Q_OBJECT
public:
    explicit ExpressionEdit(const QString& name, QWidget* parent = nullptr);
    // Other fields than those of a plan; they outlive the line or the next call.
    void setFields(const FieldSet& fields);
    // Text for which this is false is no expression and no error: words, say.
    void setMeant(std::function<bool(const std::string&)> isMeant) { m_isMeant = std::move(isMeant); }
    // Empty text and text with an error have none.
    [[nodiscard]] const std::optional<Expression>& expression() const { return m_expression; }
    [[nodiscard]] QString error() const { return m_error; } // empty: none

signals:
    void expressionChanged(); // expression() or error()

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void parse();
    void complete();
    void take(const QString& word);

    const FieldSet* m_fields;
    std::function<bool(const std::string&)> m_isMeant;
    std::optional<Expression> m_expression;
    QString m_error;
    qsizetype m_errorBegin = 0, m_errorSize = 0; // the characters that it means, in UTF-16 units
    std::size_t m_replaceFrom = 0; // in UTF-16 units: what a completion replaces begins here
    QStringListModel* m_words;
    QCompleter* m_completer;
};

} // namespace fourfold::ui
