// SPDX-License-Identifier: GPL-3.0-or-later
// Constants fitted to the selected runs: first what would change, run by run and constant by constant; then, if it is
// wanted, a preset of the user's own.
#pragma once

#include "app/models/shared/table_model.h"
#include "app/view/history/recalibration.h"

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
    // `presets` outlives the dialog.
    RecalibrateDialog(const Presets& presets, const std::filesystem::path& history, const std::vector<RunSummary>& runs,
        QWidget* parent);
    [[nodiscard]] const view::Recalibration& recalibration() const { return m_recalibration; }

signals:
    void saved(const QString& stack, const QString& file); // id of the new preset

private:
    void start();
    void showState();
    void save();

    view::Recalibration m_recalibration;
    TableModel m_runRows, m_constantRows;
    QComboBox* m_stack;
    QLabel* m_summary;
    DataTable *m_runTable, *m_constantTable;
    QLineEdit* m_id;
    QPushButton* m_save;
};

} // namespace fourfold::ui
