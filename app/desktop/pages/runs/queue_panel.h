// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that wait for their turn, go on or have ended, of whatever program queued them.
#pragma once

#include "app/models/shared/table_model.h"
#include "runner/queue/run_queue.h"

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
    // Reads the queue; done by itself each second.
    void look();
    [[nodiscard]] int count() const { return m_model.rowCount(); }

signals:
    void changed(); // what the queue has
    void runChosen(const QString& runId); // to be looked at

private:
    [[nodiscard]] const QueuedRun* selected() const;
    void select(std::int64_t number);
    void showState();
    void change(const std::function<Expected<void>()>& edit);
    void move(int places);

    RunQueue m_queue;
    QueueContents m_contents;
    TableModel m_model;
    DataTable* m_table;
    QLabel* m_summary;
    QPushButton *m_show, *m_earlier, *m_later, *m_remove, *m_pause, *m_clear;
    QTimer m_timer;
};

} // namespace fourfold::ui
