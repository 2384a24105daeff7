// SPDX-License-Identifier: GPL-3.0-or-later
// Constants fitted to the selected runs: first what would change, run by run and constant by constant; then, if it is
// wanted, a preset of the user's own.
#pragma once

#include "app/models/history/recalibration.h"
#include "app/models/shared/table_model.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace fourfold::ui {

class DataTable;

class RecalibrateDialog : public QDialog {
    Q_OBJECT
public:
    struct Run {
        QString id, stack, name;
    };
    // `presets` outlives the dialog.
    RecalibrateDialog(
        const Presets& presets, const std::filesystem::path& history, const std::vector<Run>& runs, QWidget* parent);
    [[nodiscard]] Recalibration& recalibration() { return m_recalibration; }

signals:
    void saved(const QString& stack, const QString& file); // id of the new preset

private:
    void start();
    void showResult();
    void showFailure(const Problem& problem);
    [[nodiscard]] Table namedRuns() const;
    void save();

    std::vector<Run> m_runs;
    Recalibration m_recalibration;
    TableModel m_runRows, m_constantRows;
    QComboBox* m_stack;
    QLabel* m_summary;
    DataTable *m_runTable, *m_constantTable;
    QLineEdit* m_id;
    QPushButton* m_save;
};

} // namespace fourfold::ui
