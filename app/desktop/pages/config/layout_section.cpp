// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/layout_section.h"

#include "app/desktop/widgets/degree_spin_box.h"
#include "app/desktop/zoom.h"
#include "app/models/plan_facts.h"
#include "app/models/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>

namespace fourfold::ui {

LayoutSection::LayoutSection(PlanDocument& document, QWidget* parent)
    : FormSection(tr("Layout"), document, parent)
    , m_tpNote(makeNote())
    , m_cpNote(makeNote())
    , m_ppNote(makeNote())
    , m_dpNote(makeNote())
    , m_virtualNote(makeNote())
    , m_tp(addDegree("layout.tp", tr("Tensor (TP)"), tr("tensor parallel degree"), m_tpNote))
    , m_cp(addDegree("layout.cp", tr("Context (CP)"), tr("context parallel degree"), m_cpNote))
    , m_pp(addDegree("layout.pp", tr("Pipeline (PP)"), tr("pipeline parallel degree"), m_ppNote))
    , m_dp(addDegree("layout.dp", tr("Data (DP)"), tr("data parallel degree"), m_dpNote))
    , m_virtual(addDegree("layout.virtual_stages", tr("Virtual stages"), tr("virtual stages"), m_virtualNote))
    , m_sharding(makeChoice("training.sharding", tr("sharding")))
    , m_schedule(makeChoice("training.schedule", tr("pipeline schedule")))
    , m_recompute(makeChoice("training.recompute", tr("recomputation")))
    , m_sequenceParallel(new QCheckBox(tr("split norms over TP")))
{
    m_virtual->setRange(1, 64);
    m_virtualNote->setText(tr("chunks per GPU"));
    m_sequenceParallel->setAccessibleName(tr("Sequence parallel"));
    m_sequenceParallel->setObjectName(QStringLiteral("training.sequence_parallel"));
    addRow(tr("Sharding"), {{m_sharding, "training.sharding"}});
    addRow(tr("Schedule"), {{m_schedule, "training.schedule"}});
    addRow(tr("Recompute"), {{m_recompute, "training.recompute"}});
    addRow(tr("Sequence parallel"), {{m_sequenceParallel, "training.sequence_parallel"}});
    connect(m_sequenceParallel, &QCheckBox::clicked, this, [this](bool on) {
        this->document().setValue("training.sequence_parallel", on, tr("Change sequence parallel"), false);
    });
}

DegreeSpinBox* LayoutSection::addDegree(
    const std::string& path, const QString& label, const QString& name, QLabel* note)
{
    auto* box = new DegreeSpinBox;
    addSpinBox(path, name, box);
    fixWidth(box, 72);
    addRow(label, {{box, path}}, note);
    return box;
}

void LayoutSection::showPlan()
{
    const std::optional<ResolvedPlan>& plan = document().lastResolved();
    if (!plan)
        return;
    setFact(productFact(*plan));
    const Layout& layout = plan->layout;
    for (DegreeSpinBox* box : {m_tp, m_cp, m_pp, m_dp})
        box->setDividend(plan->gpus);
    showValue(m_tp, layout.tp);
    showValue(m_cp, layout.cp);
    showValue(m_pp, layout.pp);
    showValue(m_dp, layout.dp);
    showValue(m_virtual, layout.virtual_stages);
    m_tpNote->setText(tensorFact(*plan));
    m_cpNote->setText(contextFact(*plan));
    m_ppNote->setText(pipelineFact(*plan));
    m_dpNote->setText(dataFact(*plan));
    showChoice(m_sharding, fromUtf8(to_text(plan->training.sharding)));
    showChoice(m_schedule, fromUtf8(to_text(plan->training.schedule)));
    showChoice(m_recompute, fromUtf8(to_text(plan->training.recompute)));
    const QSignalBlocker blocker(m_sequenceParallel);
    m_sequenceParallel->setChecked(plan->training.sequence_parallel);
}

} // namespace fourfold::ui
