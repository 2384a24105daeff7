// SPDX-License-Identifier: GPL-3.0-or-later
// What the GUI tests share: a home of their own, plans, and answers to dialogs.
#pragma once

#include "core/plan/plan.h"

#include <QString>
#include <QTemporaryDir>
#include <QTimer>

#include <functional>

class QMessageBox;

namespace fourfold::ui::test {

// The user's folders point into a temporary one for the life of the program; make it before anything else.
class Home {
public:
    Home();
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    // Writes a file and returns its path.
    QString write(const QString& name, const QByteArray& text) const;

private:
    QTemporaryDir m_folder;
};

// Llama 3.1 8B on 16 H100 of TSUBAME4: tp 2, dp 8, with a key that nothing reads.
QByteArray clusterPlan();
// A tiny Llama on two CPU ranks for the fake trainer: `steps` of `milliseconds` each.
QByteArray tinyPlan(int steps, int milliseconds);

QByteArray readFile(const QString& file);

// Waits for the next message box, hands it to `answer`, and closes it if that did not. Counts what it saw.
class DialogWatch {
public:
    explicit DialogWatch(std::function<void(QMessageBox&)> answer);
    [[nodiscard]] int seen() const { return m_seen; }

private:
    std::function<void(QMessageBox&)> m_answer;
    QTimer m_timer;
    int m_seen = 0;
};

} // namespace fourfold::ui::test
