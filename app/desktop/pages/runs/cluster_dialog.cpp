// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/cluster_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/plan/preset_model.h"
#include "app/models/shared/text.h"
#include "app/view/cluster/node_cluster.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace fourfold::ui {

ClusterDialog::ClusterDialog(const Presets& presets, const ProbeReport& report, QWidget* parent)
    : QDialog(parent)
    , m_id(new QLineEdit(fromUtf8(view::proposed_cluster_id(report))))
    , m_like(makeChooser("clusterLike", tr("Preset of the same kind of node"), 24))
{
    setObjectName(QStringLiteral("saveCluster"));
    setWindowTitle(tr("Save the nodes as a cluster"));
    auto* what
        = new QLabel(tr("The speeds of cores, memory and links are measured first: the nodes are busy for up to a "
                        "minute. The cluster is then a preset that plans can name."));
    what->setWordWrap(true);
    limitWidth(what, 420);
    named(m_id, "clusterId", tr("Id of the cluster"));
    if (!view::needs_like(report))
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
    const auto [buttons, save] = acceptOrCancel(this, tr("Measure and save"), "clusterSave");
    connect(m_id, &QLineEdit::textChanged, this, [this, save = save] { save->setEnabled(!id().isEmpty()); });
    setLayout(columnOf({what, form, buttons}, 12, {20, 18, 20, 14}));
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
