// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/cluster_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/models/plan/preset_model.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
// "measured-node-1" of a node "node 1".
QString proposedId(const ProbeReport& report)
{
    static const QRegularExpression unusable(QStringLiteral("[^A-Za-z0-9.-]+"));
    return QStringLiteral("measured-%1")
        .arg(fromUtf8(report.hosts.front().name).replace(unusable, QStringLiteral("-")));
}
} // namespace

ClusterDialog::ClusterDialog(const Presets& presets, const ProbeReport& report, QWidget* parent)
    : QDialog(parent)
    , m_id(new QLineEdit(proposedId(report)))
    , m_like(new QComboBox)
{
    setObjectName(QStringLiteral("saveCluster"));
    setWindowTitle(tr("Save the nodes as a cluster"));
    auto* what
        = new QLabel(tr("The speeds of cores, memory and links are measured first: the nodes are busy for up to a "
                        "minute. The cluster is then a preset that plans can name."));
    what->setWordWrap(true);
    m_id->setObjectName(QStringLiteral("clusterId"));
    m_id->setAccessibleName(tr("Id of the cluster"));
    m_like->setObjectName(QStringLiteral("clusterLike"));
    m_like->setAccessibleName(tr("Preset of the same kind of node"));
    m_like->setMinimumContentsLength(24);
    m_like->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    const bool hasGpus = !report.hosts.front().facts.gpus.empty();
    if (!hasGpus)
        m_like->addItem(tr("Nothing: the cores as measured"), QString());
    const PresetModel clusters(presets, PresetModel::Kind::clusters);
    for (int row = 0; row < clusters.rowCount(); ++row) {
        const QModelIndex at = clusters.index(row);
        m_like->addItem(at.data().toString(), at.data(PresetModel::IdRole));
    }
    m_like->setToolTip(tr("GPUs and the links between them cannot be measured from outside: they are taken from here"));
    auto* form = new QFormLayout;
    form->addRow(tr("Id"), m_id);
    form->addRow(tr("GPUs as in"), m_like);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_save = buttons->addButton(tr("Measure and save"), QDialogButtonBox::AcceptRole);
    m_save->setObjectName(QStringLiteral("clusterSave"));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_id, &QLineEdit::textChanged, this, [this] { m_save->setEnabled(!id().isEmpty()); });
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 18, 20, 14);
    column->setSpacing(12);
    column->addWidget(what);
    column->addLayout(form);
    column->addWidget(buttons);
    what->setMinimumWidth(px(420));
    m_id->setFocus();
}

QString ClusterDialog::id() const
{
    return m_id->text().trimmed();
}

QString ClusterDialog::like() const
{
    return m_like->currentData().toString();
}

} // namespace fourfold::ui
