// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that wait for their turn, go on or have ended, of whatever program queued them.
#pragma once

#include "app/models/shared/table_model.h"
#include "app/view/runs/queue_view.h"

#include <QTimer>
#include <QWidget>

#include <functional>

class QLabel;
class QPushButton;

namespace fourfold::ui {

class DataTable;

class QueuePanel : public QWidget {
    Q_OBJECT
public:
    explicit QueuePanel(QWidget* parent = nullptr);
    [[nodiscard]] Expected<std::int64_t> add(const RunRequest& request);
    // Reads the queue; done by itself each second.
    void look();
    [[nodiscard]] int count() const { return m_model.rowCount(); }

signals:
    void changed(); // what the queue has
    void runChosen(const QString& runId); // to be looked at

private:
    [[nodiscard]] const QueuedRun* selected() const;
    [[nodiscard]] std::int64_t selectedNumber() const; // 0: none
    void present(std::int64_t number); // all of it, with this one chosen
    void showState();
    void change(const std::function<Expected<void>(std::int64_t number)>& edit);

    view::QueueView m_queue;
    TableModel m_model;
    DataTable* m_table;
    QLabel* m_summary;
    QPushButton *m_show, *m_earlier, *m_later, *m_remove, *m_pause, *m_clear;
    QTimer m_timer;
};

} // namespace fourfold::ui
