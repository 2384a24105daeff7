// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/layout_section.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/prediction/rank_mesh.h"
#include "app/models/shared/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>

#include <algorithm>

namespace fourfold::ui {

namespace {
QString joined(const std::array<Dimension, 4>& order, const QString& between, bool upper)
{
    QStringList names;
    for (const Dimension dimension : order)
        names << (upper ? dimensionLabel(dimension) : fromUtf8(name(dimension)));
    return names.join(between);
}

QString orderText(const std::array<Dimension, 4>& order)
{
    return joined(order, QStringLiteral(" \u2192 "), true);
}

QString orderSpelling(const std::array<Dimension, 4>& order)
{
    return joined(order, QStringLiteral(","), false);
}
} // namespace

LayoutSection::LayoutSection(PlanDocument& document, QWidget* parent)
    : FormSection(tr("Layout"), document, parent)
    , m_tpNote(makeNote())
    , m_cpNote(makeNote())
    , m_ppNote(makeNote())
    , m_dpNote(makeNote())
    , m_virtualNote(makeNote())
    , m_expertNote(makeNote())
    , m_tp(addDegree("layout.tp", tr("Tensor (TP)"), tr("tensor parallel degree"), m_tpNote))
    , m_cp(addDegree("layout.cp", tr("Context (CP)"), tr("context parallel degree"), m_cpNote))
    , m_pp(addDegree("layout.pp", tr("Pipeline (PP)"), tr("pipeline parallel degree"), m_ppNote))
    , m_dp(addDegree("layout.dp", tr("Data (DP)"), tr("data parallel degree"), m_dpNote))
    , m_virtual(addDegree("layout.virtual_stages", tr("Virtual stages"), tr("virtual stages"), m_virtualNote))
    , m_expert(addDegree("layout.ep", tr("Experts (EP)"), tr("expert parallel degree"), m_expertNote, &m_expertRow))
    , m_order(makeOrder())
    , m_sharding(makeChoice("training.sharding", tr("sharding")))
    , m_schedule(makeChoice("training.schedule", tr("pipeline schedule")))
    , m_recompute(makeChoice("training.recompute", tr("recomputation")))
    , m_sequenceParallel(new QCheckBox(tr("split norms over TP")))
{
    m_virtual->setRange(1, 64);
    m_virtualNote->setText(tr("chunks per GPU"));
    m_sequenceParallel->setAccessibleName(tr("Sequence parallel"));
    m_sequenceParallel->setObjectName(QStringLiteral("training.sequence_parallel"));
    addRow(tr("Rank order"), {{m_order, "layout.order"}});
    addRow(tr("Sharding"), {{m_sharding, "training.sharding"}});
    addRow(tr("Schedule"), {{m_schedule, "training.schedule"}});
    addRow(tr("Recompute"), {{m_recompute, "training.recompute"}});
    addRow(tr("Sequence parallel"), {{m_sequenceParallel, "training.sequence_parallel"}});
    connect(m_sequenceParallel, &QCheckBox::clicked, this, [this](bool on) {
        this->document().setValue("training.sequence_parallel", on, tr("Change sequence parallel"), false);
    });
}

DegreeSpinBox* LayoutSection::addDegree(
    const std::string& path, const QString& label, const QString& name, QLabel* note, Row* row)
{
    auto* box = new DegreeSpinBox;
    addSpinBox(path, name, box);
    fixWidth(box, 72);
    const Row added = addRow(label, {{box, path}}, note);
    if (row)
        *row = added;
    return box;
}

// Every order of the four; with TP innermost, as most stacks have it, first.
QComboBox* LayoutSection::makeOrder()
{
    QComboBox* box = makeComboBox(tr("rank order"));
    box->setObjectName(QStringLiteral("layout.order"));
    box->setToolTip(tr("Innermost first: ranks that differ only there are neighbours, in one node where they fit"));
    std::array<Dimension, 4> order = kDimensions;
    do
        box->addItem(orderText(order), orderSpelling(order));
    while (std::next_permutation(order.begin(), order.end()));
    connect(box, &QComboBox::activated, this, [this, box] {
        Json chosen = Json::array();
        for (const QString& dimension : box->currentData().toString().split(QLatin1Char(',')))
            chosen.push_back(dimension.toStdString());
        document().setValue("layout.order", chosen, tr("Change rank order"), false);
    });
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
    const bool hasExperts = plan->model.experts.has_value();
    m_expert->setDividend(hasExperts ? plan->model.experts->count : 0);
    showValue(m_expert, layout.ep);
    m_expertNote->setText(expertFact(*plan));
    showRow(m_expertRow, hasExperts || layout.ep > 1);
    showChoice(m_order, orderSpelling(layout.order));
    showChoice(m_sharding, fromUtf8(to_text(plan->training.sharding)));
    showChoice(m_schedule, fromUtf8(to_text(plan->training.schedule)));
    showChoice(m_recompute, fromUtf8(to_text(plan->training.recompute)));
    const QSignalBlocker blocker(m_sequenceParallel);
    m_sequenceParallel->setChecked(plan->training.sequence_parallel);
}

} // namespace fourfold::ui
