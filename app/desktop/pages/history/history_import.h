// SPDX-License-Identifier: GPL-3.0-or-later
// Exported runs, run folders and measured tables become runs of the history: the button, its menu, and what each says.
#pragma once

#include "app/models/shared/background.h"
#include "app/view/history/run_import.h"

#include <QObject>

#include <filesystem>

class QPushButton;
class QWidget;

namespace fourfold::ui {

class HistoryImport : public QObject {
    Q_OBJECT
public:
    // `history`: the file. `page`: over which problems are shown.
    HistoryImport(std::filesystem::path history, QWidget& page);
    [[nodiscard]] QPushButton* button() const { return m_button; } // the page's layout takes it
    // Adds a run's folder or an exported run; false: it cannot, and said so. One that is there already is told of too.
    bool run(const std::filesystem::path& path);
    // Takes the rows of a measured table as runs; false: it cannot, and said so.
    bool table(const std::filesystem::path& csv);
    // The same beside the window, for each row is predicted; message() follows.
    void readTable(const std::filesystem::path& csv);

signals:
    void imported(const QString& run); // its id; empty: several
    void message(const QString& text);
    void trackerChosen(const std::filesystem::path& folder); // of TensorBoard or Weights & Biases

private:
    void ask(); // for a file
    // False: nothing was taken, or not all of it, and said so.
    bool tell(const QString& failure, const view::RunImport& done);

    std::filesystem::path m_history;
    QWidget& m_page;
    QPushButton* m_button;
    Background m_reader;
};

} // namespace fourfold::ui
