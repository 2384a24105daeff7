// SPDX-License-Identifier: GPL-3.0-or-later
// The selected run under the table: its facts, the user's tags and note, its steps as lines, why it failed, and all
// runs on show as predicted against measured.
#pragma once

#include "app/models/history/facts_model.h"
#include "app/models/history/history_model.h"
#include "app/view/runs/run_failure.h"

#include <QWidget>

class QLineEdit;
class QPlainTextEdit;

namespace fourfold::ui {

class CardStack;
class DataTable;
class ErrorScatter;
class FailureCard;
class LineChart;

class HistoryDetail : public QWidget {
    Q_OBJECT
public:
    // `model` outlives the widget.
    explicit HistoryDetail(const HistoryModel& model, QWidget* parent = nullptr);
    void show(const RunDetail& run);
    using QWidget::show;
    void clear();
    // Words that were typed and not stored yet are stored now.
    void commit();
    [[nodiscard]] ErrorScatter& scatter() { return *m_scatter; }

signals:
    void tagsEdited(const std::vector<std::string>& tags);
    void noteEdited(const std::string& note);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    QWidget* makeFacts();
    void showFailure(std::optional<view::RunFailure> failure, const QString& state);

    RunSummary m_run; // on show; an empty id: none
    FactsModel m_facts;
    DataTable* m_table;
    QLineEdit* m_tags;
    QPlainTextEdit* m_note;
    LineChart *m_throughput, *m_loss;
    FailureCard* m_failure;
    CardStack* m_cards = nullptr;
    ErrorScatter* m_scatter;
};

} // namespace fourfold::ui
