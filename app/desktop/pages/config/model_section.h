// SPDX-License-Identifier: GPL-3.0-or-later
// Model: a preset, a Hugging Face config.json, or a shape of one's own.
#pragma once

#include "app/desktop/pages/config/form_section.h"
#include "app/models/plan/preset_model.h"

namespace fourfold::ui {

class DegreeSpinBox;

class ModelSection : public FormSection {
    Q_OBJECT
public:
    ModelSection(PlanDocument& document, QWidget* parent = nullptr);
    void showPlan();

signals:
    void importRequested();

private:
    // Edits the shape of the last plan that resolved and writes it as the plan's own.
    template <typename Change>
    void changeShape(const QString& name, const QString& key, Change change);
    QSpinBox* shapeBox(const QString& name);

    PresetModel m_presets;
    QComboBox* m_preset;
    QSpinBox *m_layers, *m_hidden, *m_heads, *m_kvHeads;
    DegreeSpinBox* m_sequence;
};

} // namespace fourfold::ui
