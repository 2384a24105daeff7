// SPDX-License-Identifier: GPL-3.0-or-later
// Batch, precision, and whose software runs the plan.
#pragma once

#include "app/desktop/pages/config/form_section.h"
#include "app/models/plan/preset_model.h"

namespace fourfold::ui {

class DegreeSpinBox;

class BatchSection : public FormSection {
    Q_OBJECT
public:
    BatchSection(PlanDocument& document, QWidget* parent = nullptr);
    void showPlan();

private:
    PresetModel m_stacks;
    DegreeSpinBox *m_global, *m_micro;
    QComboBox *m_precision, *m_stack;
};

} // namespace fourfold::ui
