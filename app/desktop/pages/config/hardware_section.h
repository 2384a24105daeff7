// SPDX-License-Identifier: GPL-3.0-or-later
// Hardware: a cluster preset or one's own GPUs, nodes and links.
#pragma once

#include "app/desktop/pages/config/form_section.h"
#include "app/models/plan/preset_model.h"

class QDoubleSpinBox;

namespace fourfold::ui {

class DegreeSpinBox;

class HardwareSection : public FormSection {
    Q_OBJECT
public:
    HardwareSection(PlanDocument& document, QWidget* parent = nullptr);
    void showPlan();

private:
    template <typename Change>
    void changeCluster(const QString& name, const QString& key, Change change);
    QDoubleSpinBox* bandwidthBox(const QString& name);

    PresetModel m_clusters, m_gpus;
    QComboBox *m_cluster, *m_gpu;
    DegreeSpinBox *m_count, *m_perNode;
    QDoubleSpinBox *m_inNode, *m_between;
    QLabel *m_gpuNote, *m_inNodeNote, *m_betweenNote;
};

} // namespace fourfold::ui
