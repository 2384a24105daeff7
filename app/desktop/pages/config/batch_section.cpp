// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/batch_section.h"

#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QSignalBlocker>

namespace fourfold::ui {

BatchSection::BatchSection(PlanDocument& document, QWidget* parent)
    : FormSection(tr("Batch"), document, parent)
    , m_stacks(document.presets(), PresetModel::Kind::stacks)
    , m_global(new DegreeSpinBox)
    , m_micro(new DegreeSpinBox)
    , m_precision(makeChoice("training.precision", tr("precision")))
    , m_stack(makeComboBox(tr("Software stack")))
{
    m_global->setRange(1, 1 << 26);
    addSpinBox("training.global_batch", tr("global batch"), m_global);
    addSpinBox("training.micro_batch", tr("micro-batch"), m_micro);
    m_stack->setModel(&m_stacks);
    m_stack->setObjectName(QStringLiteral("stack"));
    connect(m_stack, &QComboBox::activated, this, [this] {
        const QString id = m_stack->currentData(PresetModel::IdRole).toString();
        if (!id.isEmpty())
            this->document().setValue("stack", id.toStdString(), tr("Change software stack"), false);
    });
    addRow(tr("Global batch"), {{m_global, "training.global_batch"}});
    addRow(tr("Micro-batch"), {{m_micro, "training.micro_batch"}});
    addRow(tr("Precision"), {{m_precision, "training.precision"}});
    addRow(tr("Software stack"), {{m_stack, "stack"}});
}

void BatchSection::showPlan()
{
    const std::optional<ResolvedPlan>& plan = document().lastResolved();
    if (!plan)
        return;
    setFact(tokensFact(*plan));
    showValue(m_global, plan->training.global_batch);
    showValue(m_micro, plan->training.micro_batch);
    for (DegreeSpinBox* box : {m_global, m_micro})
        box->setSuffix(box->value() == 1 ? tr(" sequence") : tr(" sequences"));
    showChoice(m_precision, fromUtf8(to_text(plan->training.precision)));
    const QString stack = fromUtf8(plan->stack.id);
    m_stacks.lookAgainFor(stack);
    const bool own = m_stacks.rowOf(stack) < 0;
    m_stacks.setCustom(own ? tr("Own: %1").arg(fromUtf8(plan->stack.name)) : QString());
    const QSignalBlocker blocker(m_stack);
    m_stack->setCurrentIndex(m_stacks.rowOf(own ? QString() : stack));
}

} // namespace fourfold::ui
