// SPDX-License-Identifier: GPL-3.0-or-later
// What a measured sweep runs: layouts, numbers of ranks, steps of each cell. The fields are read as the command line
// reads them, and say what is wrong.
#pragma once

#include "core/plan/plan.h"
#include "runner/sweep/cells.h"

#include <QDialog>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace fourfold::ui {

struct SweepSetup {
    std::vector<GridLayout> layouts;
    std::vector<int> gpus;
    int steps = 1;
    bool skipUnfit = false, again = false;
};

class SweepDialog : public QDialog {
    Q_OBJECT
public:
    // `plan` gives the first layouts and counts.
    SweepDialog(const ResolvedPlan& plan, int steps, QWidget* parent);
    // Precondition: the dialog was accepted.
    [[nodiscard]] const SweepSetup& setup() const { return m_setup; }

private:
    void read();
    void load();

    SweepSetup m_setup;
    QPlainTextEdit* m_layouts;
    QLineEdit* m_gpus;
    QSpinBox* m_steps;
    QCheckBox *m_skipUnfit, *m_again;
    QLabel* m_said;
    QPushButton* m_start;
};

} // namespace fourfold::ui
