// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/config/layout_rows.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/plan/config/form_section.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/desktop/widgets/panels/value_edit.h"
#include "app/models/shared/text.h"
#include "app/view/plan/integer_list.h"
#include "core/plan/fields.h"

namespace fourfold::ui {

namespace {
constexpr int kDegreeWidth = 72;
} // namespace

void addExpertTensor(FormSection& section)
{
    constexpr const char* kPath = "layout.etp";
    DegreeSpinBox* box = section.degreeBox(
        kPath, tr("expert tensor parallel degree"), [](const ResolvedPlan& plan) { return plan.layout.etp; });
    fixWidth(box, kDegreeWidth);
    box->setRange(1, kMaxGpus);
    section.follow([box](const ResolvedPlan& plan) { box->setDividend(plan.layout.tp); });
    const FormSection::Row row = section.addRow(tr("Expert TP (ETP)"), {{box, kPath}}, [](const ResolvedPlan& plan) {
        return plan.layout.etp == plan.layout.tp ? tr("as TP") : tr("ranks for each expert");
    });
    section.follow([row](const ResolvedPlan& plan) {
        FormSection::showRow(row, plan.model.experts.has_value() || plan.layout.etp != plan.layout.tp);
    });
}

void addShardDegree(FormSection& section)
{
    constexpr const char* kPath = "layout.dp_shard";
    DegreeSpinBox* box = section.degreeBox(
        kPath, tr("ranks that share one sharded copy"), [](const ResolvedPlan& plan) { return plan.layout.dp_shard; });
    fixWidth(box, kDegreeWidth);
    box->setRange(1, kMaxGpus);
    section.follow([box](const ResolvedPlan& plan) { box->setDividend(plan.layout.dp * plan.layout.cp); });
    const FormSection::Row row = section.addRow(tr("Shard over"), {{box, kPath}},
        [](const ResolvedPlan& plan) { return tr("of %1 replicas").arg(grouped(plan.layout.dp * plan.layout.cp)); });
    section.follow(
        [row](const ResolvedPlan& plan) { FormSection::showRow(row, plan.training.sharding == Sharding::hybrid); });
}

void addStageLayers(PlanDocument& document, FormSection& section)
{
    constexpr const char* kPath = "layout.stage_layers";
    auto* line = named(new ValueEdit([&document](const QString& text) {
        const Expected<Json> layers = view::parse_integer_list(kPath, text.toStdString());
        if (!layers) {
            const QString why = fromUtf8(layers.error().line());
            emit document.editRefused(why);
            return why;
        }
        document.setValue(kPath, *layers, tr("Change layers of the stages"), false);
        return QString();
    }),
        kPath, tr("layers of the stages"));
    line->setHelp(
        tr("Layers of each of the pp \u00d7 virtual stages chunks, first to last: 10, 10, 11 or 3 \u00d7 10, 11. "
           "Empty: the stack's rule"));
    section.follow([&document, line](const ResolvedPlan& plan) {
        const QString layers = fromUtf8(view::integer_list_text(plan.layout.stage_layers));
        const bool written = value_at(document.plan().document, kPath).is_array();
        line->showValue(written ? layers : QString(), layers);
    });
    const FormSection::Row row = section.addRow(tr("Stage layers"), {{line, kPath}});
    section.follow([row](const ResolvedPlan& plan) {
        FormSection::showRow(row, plan.layout.pp * plan.layout.virtual_stages > 1);
    });
}

} // namespace fourfold::ui
