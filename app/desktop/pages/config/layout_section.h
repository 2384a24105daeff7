// SPDX-License-Identifier: GPL-3.0-or-later
// Layout: the degrees of parallelism with what they come to, and how the pipeline and the optimizer share the work.
#pragma once

#include "app/desktop/pages/config/form_section.h"

class QCheckBox;

namespace fourfold::ui {

class DegreeSpinBox;

class LayoutSection : public FormSection {
    Q_OBJECT
public:
    LayoutSection(PlanDocument& document, QWidget* parent = nullptr);
    void showPlan();

private:
    DegreeSpinBox* addDegree(
        const std::string& path, const QString& label, const QString& name, QLabel* note, Row* row = nullptr);
    QComboBox* makeOrder();

    QLabel *m_tpNote, *m_cpNote, *m_ppNote, *m_dpNote, *m_virtualNote, *m_expertNote;
    Row m_expertRow; // shown for a mixture of experts
    DegreeSpinBox *m_tp, *m_cp, *m_pp, *m_dp, *m_virtual, *m_expert;
    QComboBox *m_order, *m_sharding, *m_schedule, *m_recompute;
    QCheckBox* m_sequenceParallel;
};

} // namespace fourfold::ui
