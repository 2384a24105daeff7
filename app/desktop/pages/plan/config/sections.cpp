// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/config/sections.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/plan/config/form_section.h"
#include "app/desktop/pages/plan/config/layout_rows.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "app/view/prediction/rank_mesh.h"
#include "core/plan/fields.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSignalBlocker>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
using Kind = PresetModel::Kind;

// Edits a part of the last plan that resolved and writes it as the plan's own.
template <typename Part>
void changeOwn(PlanDocument& document, Part ResolvedPlan::*member, Expected<Plan> (*write)(const Plan&, const Part&),
    const QString& name, const QString& key, const std::function<void(Part&)>& change)
{
    if (!document.lastResolved())
        return;
    Part part = (*document.lastResolved()).*member;
    change(part);
    document.apply(tr("Change %1").arg(name), key, write(document.plan(), view::as_own(std::move(part))));
}

void changeShape(
    PlanDocument& document, const QString& name, const char* key, const std::function<void(ModelShape&)>& change)
{
    changeOwn(document, &ResolvedPlan::model, view::with_model, name, QString::fromLatin1(key), change);
}

void changeCluster(
    PlanDocument& document, const QString& name, const char* key, const std::function<void(Cluster&)>& change)
{
    changeOwn(document, &ResolvedPlan::cluster, view::with_cluster, name, QString::fromLatin1(key), change);
}

// The preset that the plan names under this key; empty: an object of its own.
QString writtenId(const PlanDocument& document, const char* key)
{
    const Json written = value_at(document.plan().document, key);
    return written.is_string() ? fromUtf8(written.get<std::string>()) : QString();
}

// Shows as many decimals as there are: 50, 412.5.
class BandwidthBox : public QDoubleSpinBox {
public:
    explicit BandwidthBox(const QString& name)
    {
        setAccessibleName(name);
        setRange(0.001, 100000);
        setDecimals(3);
        setKeyboardTracking(false); // "4" on the way to 412.5 may be refused, and what stands would come back
        setGroupSeparatorShown(true);
        setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
        setSuffix(tr(" GB/s"));
        fixWidth(this, 112);
        setToolTip(tr("Per GPU and direction"));
    }

protected:
    [[nodiscard]] QString textFromValue(double value) const override
    {
        const auto has = [value](int decimals) {
            const double unit = std::pow(10.0, decimals);
            return std::abs(value * unit - std::round(value * unit)) < 1e-6 * unit;
        };
        return locale().toString(value, 'f', has(0) ? 0 : has(1) ? 1 : decimals());
    }
};

template <auto Fact>
QString shown(const ResolvedPlan& plan)
{
    return fromUtf8(Fact(plan));
}

QString joinedOrder(const std::array<Dimension, 4>& order, const QString& between, std::string (*word)(Dimension))
{
    QStringList names;
    for (const Dimension dimension : order)
        names << fromUtf8(word(dimension));
    return names.join(between);
}

QString orderSpelling(const std::array<Dimension, 4>& order)
{
    return joinedOrder(order, QStringLiteral(","), [](Dimension dimension) { return std::string(name(dimension)); });
}

// Every order of the four; with TP innermost, as most stacks have it, first.
QComboBox* makeOrder(PlanDocument& document, FormSection& section)
{
    QComboBox* box = makeChooser("layout.order", tr("rank order"));
    box->setToolTip(tr("Innermost first: ranks that differ only there are neighbours, in one node where they fit"));
    std::array<Dimension, 4> order = kDimensions;
    do
        box->addItem(joinedOrder(order, QStringLiteral(" \u2192 "), view::dimension_label), orderSpelling(order));
    while (std::next_permutation(order.begin(), order.end()));
    QObject::connect(box, &QComboBox::activated, &section, [&document, box] {
        Json chosen = Json::array();
        for (const QString& dimension : box->currentData().toString().split(QLatin1Char(',')))
            chosen.push_back(dimension.toStdString());
        document.setValue("layout.order", chosen, tr("Change rank order"), false);
    });
    section.follow(
        [box](const ResolvedPlan& plan) { box->setCurrentIndex(box->findData(orderSpelling(plan.layout.order))); });
    return box;
}
// What of a layer selective recomputation repeats: any of its parts, or what torchtitan chooses among operations.
void addRecomputedParts(PlanDocument& document, FormSection& section)
{
    constexpr const char* kPath = "training.recompute_parts";
    using enum RecomputePart;
    constexpr std::array kParts{std::pair{core_attention, QT_TR_NOOP("core attention")},
        std::pair{mlp, QT_TR_NOOP("MLP")}, std::pair{layer_norm, QT_TR_NOOP("norms")},
        std::pair{moe, QT_TR_NOOP("experts")}};
    QComboBox* box = makeChooser(kPath, tr("parts that recompute"));
    const auto spelling = [](const WordSet<RecomputePart>& parts) {
        QStringList words;
        for (const RecomputePart part : parts.values())
            words << fromUtf8(name(part));
        return words.join(QLatin1Char(','));
    };
    box->addItem(tr("by operation"), spelling({operations}));
    for (unsigned chosen = 1; chosen < 1U << kParts.size(); ++chosen) {
        WordSet<RecomputePart> parts;
        QStringList names;
        for (std::size_t i = 0; i < kParts.size(); ++i) {
            if ((chosen & 1U << i) == 0)
                continue;
            parts.insert(kParts[i].first);
            names << tr(kParts[i].second);
        }
        box->addItem(names.join(QStringLiteral(", ")), spelling(parts));
    }
    QObject::connect(box, &QComboBox::activated, &section, [&document, box] {
        Json chosen = Json::array();
        for (const QString& part : box->currentData().toString().split(QLatin1Char(',')))
            chosen.push_back(part.toStdString());
        document.setValue(kPath, chosen, tr("Change parts that recompute"), false);
    });
    const FormSection::Row row = section.addRow(tr("Parts"), {{box, kPath}});
    section.follow([box, row, spelling](const ResolvedPlan& plan) {
        const QString parts = spelling(plan.training.recompute_parts);
        if (box->findData(parts) < 0) // a plan may name parts that are not offered
            box->addItem(QString(parts).replace(QLatin1Char(','), QStringLiteral(", ")), parts);
        box->setCurrentIndex(box->findData(parts));
        FormSection::showRow(row, plan.training.recompute == Recompute::selective);
    });
}

// How many of a stage's layers recompute; 0 stands for all.
void addRecomputedLayers(PlanDocument& document, FormSection& section)
{
    constexpr const char* kPath = "training.recompute_layers";
    auto* box = named(new QSpinBox, kPath, tr("layers that recompute"));
    box->setSpecialValueText(tr("all"));
    section.shows(box, [](const ResolvedPlan& plan) { return plan.training.recompute_layers.value_or(0); });
    section.follow([box](const ResolvedPlan& plan) {
        const QSignalBlocker blocker(box);
        box->setRange(0, std::max(1, plan.model.layers));
    });
    QObject::connect(box, &QSpinBox::valueChanged, &section, [&document](int layers) {
        document.setValue(kPath, layers == 0 ? Json() : Json(layers), tr("Change layers that recompute"));
    });
    const FormSection::Row row = section.addRow(tr("Of layers"), {{box, kPath}});
    section.follow(
        [row](const ResolvedPlan& plan) { FormSection::showRow(row, plan.training.recompute != Recompute::none); });
}
} // namespace

FormSection* makeModelSection(PlanDocument& document, const std::function<void()>& askImport)
{
    auto* section = new FormSection(tr("Model"), document, shown<view::parameters_fact>);
    QComboBox* preset = section->presetBox(
        Kind::models, "model", tr("Model preset"), [&](const ResolvedPlan&) { return writtenId(document, "model"); },
        [](const ResolvedPlan& plan) {
            return fromUtf8(plan.model.name.empty() ? plan.model.model_type : plan.model.name);
        },
        [&document](const std::string& id) {
            document.changeModel(tr("Change model"), view::with_other_model(document.plan(), document.presets(), id));
        });
    QPushButton* import
        = makeButton(tr("Import\u2026"), "small", "", tr("Take the model from a Hugging Face config.json"));
    QObject::connect(import, &QPushButton::clicked, section, askImport);
    const auto shapeBox = [&](const QString& name, const QString& accessible, const char* key, auto shown,
                              void (*put)(ModelShape&, int), int most = 4096) {
        auto* box = new QSpinBox;
        box->setAccessibleName(accessible);
        box->setRange(1, most);
        section->shows(box, [shown](const ResolvedPlan& plan) { return static_cast<int>(shown(plan.model)); });
        QObject::connect(box, &QSpinBox::valueChanged, section, [&document, name, key, put](int value) {
            changeShape(document, name, key, [put, value](ModelShape& shape) { put(shape, value); });
        });
        return box;
    };
    QSpinBox* layers = shapeBox(
        tr("layers"), tr("Layers"), "model.layers", [](const ModelShape& s) { return s.layers; },
        [](ModelShape& shape, int value) { shape.layers = value; });
    QSpinBox* hidden = shapeBox(
        tr("hidden size"), tr("Hidden size"), "model.hidden", [](const ModelShape& s) { return s.hidden; },
        [](ModelShape& shape, int value) { shape = view::with_hidden(shape, value); }, 1 << 20);
    hidden->setSingleStep(128);
    QSpinBox* heads = shapeBox(
        tr("heads"), tr("Attention heads"), "model.heads", [](const ModelShape& s) { return s.heads; },
        [](ModelShape& shape, int value) { shape = view::with_heads(shape, value); });
    QSpinBox* kvHeads = shapeBox(
        tr("key/value heads"), tr("Key/value heads"), "model.kv_heads", [](const ModelShape& s) { return s.kv_heads; },
        [](ModelShape& shape, int value) { shape.kv_heads = value; });
    QSpinBox* sequence = section->degreeBox("training.seq_len", tr("sequence length"),
        [](const ResolvedPlan& plan) { return static_cast<int>(plan.training.seq_len); });
    sequence->setRange(1, 1 << 24);
    sequence->setSuffix(tr(" tokens"));
    section->addRow(tr("Preset"), {{preset, "model"}, {import, {}}});
    section->addRow(tr("Layers, hidden"), {{layers, {}}, {hidden, {}}});
    section->addRow(tr("Heads, KV heads"), {{heads, {}}, {kvHeads, {}}});
    section->addRow(tr("Sequence"), {{sequence, "training.seq_len"}});
    return section;
}

FormSection* makeHardwareSection(PlanDocument& document)
{
    auto* section = new FormSection(tr("Hardware"), document,
        [](const ResolvedPlan& plan) { return fromUtf8(view::gpus_fact(plan) + ", " + view::nodes_fact(plan)); });
    QComboBox* cluster = section->presetBox(
        Kind::clusters, "cluster", tr("Cluster preset"),
        [&](const ResolvedPlan&) { return writtenId(document, "cluster"); },
        [](const ResolvedPlan& plan) {
            return plan.cluster.name.empty() ? tr("cluster") : fromUtf8(plan.cluster.name);
        },
        [&document](const std::string& id) { document.setValue("cluster", id, tr("Change cluster"), false); });
    QComboBox* gpu = section->presetBox(
        Kind::gpus, "cluster.gpu", tr("GPU"), [](const ResolvedPlan& plan) { return fromUtf8(plan.cluster.gpu.id); },
        [](const ResolvedPlan& plan) { return fromUtf8(plan.cluster.gpu.name); },
        [&document](const std::string& id) {
            if (const Expected<Gpu> chosen = document.presets().gpu(id))
                changeCluster(document, tr("GPU"), "", [&](Cluster& changed) { changed.gpu = *chosen; });
        });
    QSpinBox* count
        = section->degreeBox("gpus", tr("number of GPUs"), [](const ResolvedPlan& plan) { return plan.gpus; });
    auto* perNode = new DegreeSpinBox;
    perNode->setRange(1, 4096);
    perNode->setAccessibleName(tr("GPUs per node"));
    section->shows(perNode, [](const ResolvedPlan& plan) { return plan.cluster.gpus_per_node; });
    QObject::connect(perNode, &QSpinBox::valueChanged, section, [&document](int value) {
        changeCluster(document, tr("GPUs per node"), "cluster.gpus_per_node",
            [value](Cluster& changed) { changed.gpus_per_node = value; });
    });
    section->addRow(tr("Cluster"), {{cluster, "cluster"}});
    section->addRow(tr("GPU"), {{gpu, {}}});
    section->addNote([](const ResolvedPlan& plan) { return fromUtf8(view::gpu_fact(plan.cluster.gpu)); });
    section->addRow(tr("GPUs, per node"), {{count, "gpus"}, {perNode, {}}});
    const auto addBandwidth = [&](const QString& label, const QString& accessible, const QString& name, const char* key,
                                  double& (*of)(Cluster&), std::string (*fact)(const Cluster&)) {
        auto* box = new BandwidthBox(accessible);
        section->follow([box, of](const ResolvedPlan& plan) {
            Cluster shown = plan.cluster;
            if (box->value() != of(shown))
                box->setValue(of(shown));
        });
        QObject::connect(
            box, &QDoubleSpinBox::valueChanged, section, [&document, section, name, key, of](double value) {
                if (!section->isShowing())
                    changeCluster(document, name, key, [of, value](Cluster& changed) { of(changed) = value; });
            });
        section->addRow(label, {{box, {}}}, [fact](const ResolvedPlan& plan) { return fromUtf8(fact(plan.cluster)); });
    };
    addBandwidth(
        tr("In node"), tr("Bandwidth inside a node"), tr("bandwidth in node"), "cluster.intra_node",
        [](Cluster& c) -> double& { return c.intra_node.bandwidth_gb_s; }, view::intra_node_fact);
    addBandwidth(
        tr("Between nodes"), tr("Bandwidth between nodes"), tr("bandwidth between nodes"), "cluster.inter_node",
        [](Cluster& c) -> double& { return c.inter_node.bandwidth_gb_s; }, view::inter_node_fact);
    return section;
}

FormSection* makeLayoutSection(PlanDocument& document)
{
    auto* section = new FormSection(tr("Layout"), document, shown<view::product_fact>);
    // What a step divides: the GPUs, or the experts.
    const auto addDegree = [&](const char* path, const QString& label, const QString& name, int Layout::*degree,
                               const FormSection::TextOf& fact, int (*dividend)(const ResolvedPlan&)) {
        DegreeSpinBox* box
            = section->degreeBox(path, name, [degree](const ResolvedPlan& plan) { return plan.layout.*degree; });
        fixWidth(box, 72);
        if (dividend)
            section->follow([box, dividend](const ResolvedPlan& plan) { box->setDividend(dividend(plan)); });
        else
            box->setRange(1, 64);
        return section->addRow(label, {{box, path}}, fact);
    };
    const auto gpus = [](const ResolvedPlan& plan) { return plan.gpus; };
    addDegree(
        "layout.tp", tr("Tensor (TP)"), tr("tensor parallel degree"), &Layout::tp, shown<view::tensor_fact>, gpus);
    addDegree(
        "layout.cp", tr("Context (CP)"), tr("context parallel degree"), &Layout::cp, shown<view::context_fact>, gpus);
    addDegree("layout.pp", tr("Pipeline (PP)"), tr("pipeline parallel degree"), &Layout::pp, shown<view::pipeline_fact>,
        gpus);
    addDegree("layout.dp", tr("Data (DP)"), tr("data parallel degree"), &Layout::dp, shown<view::data_fact>, gpus);
    addDegree(
        "layout.virtual_stages", tr("Virtual stages"), tr("virtual stages"), &Layout::virtual_stages,
        [](const ResolvedPlan&) { return tr("chunks per GPU"); }, nullptr);
    const FormSection::Row experts = addDegree("layout.ep", tr("Experts (EP)"), tr("expert parallel degree"),
        &Layout::ep, shown<view::expert_fact>,
        [](const ResolvedPlan& plan) { return plan.model.experts ? plan.model.experts->count : 0; });
    section->follow([experts](const ResolvedPlan& plan) {
        FormSection::showRow(experts, plan.model.experts.has_value() || plan.layout.ep > 1);
    });
    addExpertTensor(*section);
    addStageLayers(document, *section);
    section->addRow(tr("Rank order"), {{makeOrder(document, *section), "layout.order"}});
    section->addChoice(tr("Sharding"), "training.sharding", tr("sharding"),
        [](const ResolvedPlan& plan) { return to_text(plan.training.sharding); });
    addShardDegree(*section);
    section->addChoice(tr("Schedule"), "training.schedule", tr("pipeline schedule"),
        [](const ResolvedPlan& plan) { return to_text(plan.training.schedule); });
    section->addChoice(tr("Recompute"), "training.recompute", tr("recomputation"),
        [](const ResolvedPlan& plan) { return to_text(plan.training.recompute); });
    addRecomputedParts(document, *section);
    addRecomputedLayers(document, *section);
    section->addToggle(tr("Sequence parallel"), tr("split norms over TP"), "training.sequence_parallel",
        tr("sequence parallel"), [](const ResolvedPlan& plan) { return plan.training.sequence_parallel; });
    return section;
}

FormSection* makeBatchSection(PlanDocument& document)
{
    auto* section = new FormSection(tr("Batch"), document, shown<view::tokens_fact>);
    const auto addBatch = [&](const char* path, const QString& label, const QString& name, int Training::*batch) {
        DegreeSpinBox* box
            = section->degreeBox(path, name, [batch](const ResolvedPlan& plan) { return plan.training.*batch; });
        box->setRange(1, 1 << 26);
        section->follow(
            [box](const ResolvedPlan&) { box->setSuffix(box->value() == 1 ? tr(" sequence") : tr(" sequences")); });
        section->addRow(label, {{box, path}});
    };
    addBatch("training.global_batch", tr("Global batch"), tr("global batch"), &Training::global_batch);
    addBatch("training.micro_batch", tr("Micro-batch"), tr("micro-batch"), &Training::micro_batch);
    // The global batch follows, where this is written.
    DegreeSpinBox* count = section->degreeBox("training.micro_batches", tr("micro-batches of a step"),
        [](const ResolvedPlan& plan) { return plan.training.micro_batches; });
    count->setRange(1, 1 << 26);
    count->setSuffix(tr(" per step"));
    section->addRow(tr("Micro-batches"), {{count, "training.micro_batches"}});
    section->addChoice(tr("Precision"), "training.precision", tr("precision"),
        [](const ResolvedPlan& plan) { return to_text(plan.training.precision); });
    QComboBox* stack = section->presetBox(
        Kind::stacks, "stack", tr("Software stack"),
        [](const ResolvedPlan& plan) { return fromUtf8(plan.stack.written()); },
        [](const ResolvedPlan& plan) { return fromUtf8(plan.stack.full_name()); },
        [&document](const std::string& id) { document.setValue("stack", id, tr("Change software stack"), false); });
    section->addRow(tr("Software stack"), {{stack, "stack"}});
    return section;
}

} // namespace fourfold::ui
