// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/hardware_section.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/models/plan/plan_edits.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QSignalBlocker>

#include <cmath>
#include <utility>

namespace fourfold::ui {

namespace {
// Shows as many decimals as there are: 50, 412.5.
class BandwidthBox : public QDoubleSpinBox {
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
} // namespace

HardwareSection::HardwareSection(PlanDocument& document, QWidget* parent)
    : FormSection(tr("Hardware"), document, parent)
    , m_clusters(document.presets(), PresetModel::Kind::clusters)
    , m_gpus(document.presets(), PresetModel::Kind::gpus)
    , m_cluster(makeComboBox(tr("Cluster preset")))
    , m_gpu(makeComboBox(tr("GPU")))
    , m_count(new DegreeSpinBox)
    , m_perNode(new DegreeSpinBox)
    , m_inNode(bandwidthBox(tr("Bandwidth inside a node")))
    , m_between(bandwidthBox(tr("Bandwidth between nodes")))
    , m_inNodeNote(makeNote())
    , m_betweenNote(makeNote())
{
    m_cluster->setModel(&m_clusters);
    m_cluster->setObjectName(QStringLiteral("cluster"));
    m_gpu->setModel(&m_gpus);
    m_gpu->setObjectName(QStringLiteral("cluster.gpu"));
    m_perNode->setRange(1, 4096);
    m_perNode->setAccessibleName(tr("GPUs per node"));
    addSpinBox("gpus", tr("number of GPUs"), m_count);

    addRow(tr("Cluster"), {{m_cluster, "cluster"}});
    addRow(tr("GPU"), {{m_gpu, {}}});
    m_gpuNote = addNote();
    addRow(tr("GPUs, per node"), {{m_count, "gpus"}, {m_perNode, {}}});
    addRow(tr("In node"), {{m_inNode, {}}}, m_inNodeNote);
    addRow(tr("Between nodes"), {{m_between, {}}}, m_betweenNote);

    connect(m_cluster, &QComboBox::activated, this, [this] {
        const QString id = m_cluster->currentData(PresetModel::IdRole).toString();
        if (!id.isEmpty())
            this->document().setValue("cluster", id.toStdString(), tr("Change cluster"), false);
    });
    connect(m_gpu, &QComboBox::activated, this, [this] {
        const QString id = m_gpu->currentData(PresetModel::IdRole).toString();
        const Expected<Gpu> gpu = this->document().presets().gpu(id.toStdString());
        if (!gpu)
            return;
        changeCluster(tr("GPU"), {}, [&gpu](Cluster c) {
            c.gpu = *gpu;
            return c;
        });
    });
    connect(m_perNode, &QSpinBox::valueChanged, this, [this](int value) {
        changeCluster(tr("GPUs per node"), QStringLiteral("cluster.gpus_per_node"), [value](Cluster c) {
            c.gpus_per_node = value;
            return c;
        });
    });
    connect(m_inNode, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        changeCluster(tr("bandwidth in node"), QStringLiteral("cluster.intra_node"), [value](Cluster c) {
            c.intra_node.bandwidth_gb_s = value;
            return c;
        });
    });
    connect(m_between, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        changeCluster(tr("bandwidth between nodes"), QStringLiteral("cluster.inter_node"), [value](Cluster c) {
            c.inter_node.bandwidth_gb_s = value;
            return c;
        });
    });
}

QDoubleSpinBox* HardwareSection::bandwidthBox(const QString& name)
{
    auto* box = new BandwidthBox;
    box->setAccessibleName(name);
    box->setRange(0.001, 100000);
    box->setDecimals(3);
    box->setKeyboardTracking(false); // "4" on the way to 412.5 may be refused, and what stands would come back
    box->setGroupSeparatorShown(true);
    box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    box->setSuffix(tr(" GB/s"));
    fixWidth(box, 112);
    box->setToolTip(tr("Per GPU and direction"));
    return box;
}

template <typename Change>
void HardwareSection::changeCluster(const QString& name, const QString& key, Change change)
{
    if (!document().lastResolved())
        return;
    Cluster cluster = change(document().lastResolved()->cluster);
    if (!cluster.id.empty()) {
        cluster.name += " (changed)";
        cluster.id.clear();
    }
    document().apply(tr("Change %1").arg(name), key, withCluster(document().plan(), cluster));
}

void HardwareSection::showPlan()
{
    const std::optional<ResolvedPlan>& plan = document().lastResolved();
    if (!plan)
        return;
    const Cluster& cluster = plan->cluster;
    setFact(QStringLiteral("%1, %2").arg(gpusFact(*plan), nodesFact(*plan)));
    const Json written = valueAt(document().plan().document, "cluster");
    const bool custom = written.is_object();
    m_clusters.setCustom(
        custom ? tr("Own: %1").arg(cluster.name.empty() ? tr("cluster") : fromUtf8(cluster.name)) : QString());
    const bool ownGpu = m_gpus.rowOf(fromUtf8(cluster.gpu.id)) < 0;
    m_gpus.setCustom(ownGpu ? tr("Own: %1").arg(fromUtf8(cluster.gpu.name)) : QString());
    if (written.is_string())
        m_clusters.lookAgainFor(fromUtf8(written.get<std::string>()));
    const QSignalBlocker blockers[]{
        QSignalBlocker(m_cluster), QSignalBlocker(m_gpu), QSignalBlocker(m_inNode), QSignalBlocker(m_between)};
    m_cluster->setCurrentIndex(
        m_clusters.rowOf(custom || !written.is_string() ? QString() : fromUtf8(written.get<std::string>())));
    m_gpu->setCurrentIndex(m_gpus.rowOf(ownGpu ? QString() : fromUtf8(cluster.gpu.id)));
    m_gpuNote->setText(gpuFact(cluster.gpu));
    showValue(m_count, plan->gpus);
    showValue(m_perNode, cluster.gpus_per_node);
    for (const auto& [box, value] : {std::pair(m_inNode, cluster.intra_node.bandwidth_gb_s),
             std::pair(m_between, cluster.inter_node.bandwidth_gb_s)}) {
        if (box->value() != value)
            box->setValue(value);
    }
    m_inNodeNote->setText(intraNodeFact(cluster));
    m_betweenNote->setText(interNodeFact(cluster));
}

} // namespace fourfold::ui
