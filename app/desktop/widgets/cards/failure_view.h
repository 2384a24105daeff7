// SPDX-License-Identifier: GPL-3.0-or-later
// The rank that failed first: who and where it was, its last collective, the end of its output.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/view/runs/run_failure.h"

class QLabel;
class QPlainTextEdit;

namespace fourfold::ui {

class FailureView : public QWidget {
    Q_OBJECT
public:
    explicit FailureView(QWidget* parent = nullptr);
    // `more`: further lines of plain text under the facts.
    void show(const view::RunFailure& failure, const QStringList& more = {});
    using QWidget::show;
    [[nodiscard]] QString text() const;

private:
    QLabel* m_facts;
    QPlainTextEdit* m_log;
};

// The same of a stored run, as a card that can be empty.
class FailureCard : public Card {
    Q_OBJECT
public:
    explicit FailureCard(QWidget* parent = nullptr);
    void showFailure(std::optional<view::RunFailure> failure, const QString& state);
    [[nodiscard]] Table table() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(220, 150); }

protected:
    [[nodiscard]] bool isEmpty() const override { return !m_failure; }
    void resizeEvent(QResizeEvent* event) override;

private:
    std::optional<view::RunFailure> m_failure;
    FailureView* m_view;
};

} // namespace fourfold::ui
