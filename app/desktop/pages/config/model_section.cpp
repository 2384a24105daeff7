// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/model_section.h"

#include "app/desktop/look/icons.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/models/plan/plan_edits.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalBlocker>

namespace fourfold::ui {

ModelSection::ModelSection(PlanDocument& document, QWidget* parent)
    : FormSection(tr("Model"), document, parent)
    , m_presets(document.presets(), PresetModel::Kind::models)
    , m_preset(makeComboBox(tr("Model preset")))
    , m_layers(shapeBox(tr("Layers")))
    , m_hidden(shapeBox(tr("Hidden size")))
    , m_heads(shapeBox(tr("Attention heads")))
    , m_kvHeads(shapeBox(tr("Key/value heads")))
    , m_sequence(new DegreeSpinBox)
{
    m_preset->setModel(&m_presets);
    m_preset->setObjectName(QStringLiteral("model"));
    connect(m_preset, &QComboBox::activated, this, [this] {
        const QString id = m_preset->currentData(PresetModel::IdRole).toString();
        if (!id.isEmpty())
            this->document().changeModel(tr("Change model"),
                withOtherModel(this->document().plan(), this->document().presets(), id.toStdString()));
    });
    auto* importButton = new QPushButton(tr("Import\u2026"));
    importButton->setProperty("small", true);
    importButton->setToolTip(tr("Take the model from a Hugging Face config.json"));
    connect(importButton, &QPushButton::clicked, this, &ModelSection::importRequested);

    m_hidden->setRange(1, 1 << 20);
    m_hidden->setSingleStep(128);
    m_sequence->setRange(1, 1 << 24);
    m_sequence->setSuffix(tr(" tokens"));
    addSpinBox("training.seq_len", tr("sequence length"), m_sequence);

    addRow(tr("Preset"), {{m_preset, "model"}, {importButton, {}}});
    addRow(tr("Layers, hidden"), {{m_layers, {}}, {m_hidden, {}}});
    addRow(tr("Heads, KV heads"), {{m_heads, {}}, {m_kvHeads, {}}});
    addRow(tr("Sequence"), {{m_sequence, "training.seq_len"}});

    connect(m_layers, &QSpinBox::valueChanged, this, [this](int value) {
        changeShape(tr("layers"), QStringLiteral("model.layers"), [value](ModelShape s) {
            s.layers = value;
            return s;
        });
    });
    connect(m_hidden, &QSpinBox::valueChanged, this, [this](int value) {
        changeShape(tr("hidden size"), QStringLiteral("model.hidden"),
            [value](const ModelShape& s) { return withHidden(s, value); });
    });
    connect(m_heads, &QSpinBox::valueChanged, this, [this](int value) {
        changeShape(
            tr("heads"), QStringLiteral("model.heads"), [value](const ModelShape& s) { return withHeads(s, value); });
    });
    connect(m_kvHeads, &QSpinBox::valueChanged, this, [this](int value) {
        changeShape(tr("key/value heads"), QStringLiteral("model.kv_heads"), [value](ModelShape s) {
            s.kv_heads = value;
            return s;
        });
    });
}

QSpinBox* ModelSection::shapeBox(const QString& name)
{
    auto* box = new QSpinBox;
    box->setAccessibleName(name);
    box->setRange(1, 4096);
    box->setGroupSeparatorShown(true);
    limitWidth(box, 64);
    return box;
}

template <typename Change>
void ModelSection::changeShape(const QString& name, const QString& key, Change change)
{
    if (!document().lastResolved())
        return;
    ModelShape shape = change(document().lastResolved()->model);
    if (!shape.id.empty()) {
        shape.name += " (changed)";
        shape.id.clear();
    }
    document().apply(tr("Change %1").arg(name), key, withModel(document().plan(), shape));
}

void ModelSection::showPlan()
{
    const std::optional<ResolvedPlan>& plan = document().lastResolved();
    if (!plan)
        return;
    setFact(parametersFact(*plan));
    const Json written = valueAt(document().plan().document, "model");
    const bool custom = written.is_object();
    const QString name = fromUtf8(plan->model.name.empty() ? plan->model.model_type : plan->model.name);
    m_presets.setCustom(custom ? tr("Own: %1").arg(name) : QString());
    {
        const QSignalBlocker blocker(m_preset);
        m_preset->setCurrentIndex(
            m_presets.rowOf(custom || !written.is_string() ? QString() : fromUtf8(written.get<std::string>())));
    }
    showValue(m_layers, plan->model.layers);
    showValue(m_hidden, static_cast<int>(plan->model.hidden));
    showValue(m_heads, plan->model.heads);
    showValue(m_kvHeads, plan->model.kv_heads);
    showValue(m_sequence, plan->training.seq_len);
}

} // namespace fourfold::ui
