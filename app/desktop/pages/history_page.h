// SPDX-License-Identifier: GPL-3.0-or-later
// History mode: every stored run with predicted beside measured; the selected one in detail under the table.
#pragma once

#include "app/models/facts_model.h"
#include "app/models/history_model.h"

#include <QWidget>

#include <filesystem>

class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;

namespace fourfold::ui {

class DataTable;
class LineChart;

class HistoryPage : public QWidget {
    Q_OBJECT
public:
    explicit HistoryPage(QWidget* parent = nullptr);
    // Instead of the user's history.
    void setHistoryFile(const std::filesystem::path& file) { m_file = file; }
    // Reads the history again. `select`: the run to show, by id; empty keeps the selection.
    void refresh(const QString& select = {});
    [[nodiscard]] const HistoryModel& model() const { return m_model; }
    // Adds a run's folder or an exported run; false: it cannot, and said so. A run that is there already is shown.
    bool importRun(const std::filesystem::path& path);
    // Writes the runs on show; the ending (.csv, .md, .json, .tex) decides the form. False: it failed, and said so.
    bool exportTo(const QString& file);
    void focusFilter();

signals:
    void compareRequested(const QStringList& runs); // their ids
    void message(const QString& text); // for the status bar

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeTable();
    QWidget* makeDetail();
    void showSelected();
    void showCounts();
    void compareSelected();
    void askForExport(const QString& ending, const QString& filter);

    std::filesystem::path m_file;
    HistoryModel m_model;
    FactsModel m_facts;
    QString m_selected;
    DataTable *m_table, *m_details;
    QLineEdit* m_filter;
    QLabel *m_count, *m_problem;
    QPushButton* m_compare;
    LineChart *m_throughput, *m_loss;
};

} // namespace fourfold::ui
