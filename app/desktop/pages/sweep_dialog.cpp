// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/sweep_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/models/search/heat_grid.h"
#include "app/models/shared/text.h"
#include "core/base/json.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr std::size_t kLargestFile = std::size_t{1} << 20; // bytes
}

SweepDialog::SweepDialog(const ResolvedPlan& plan, int steps, QWidget* parent)
    : QDialog(parent)
    , m_layouts(new QPlainTextEdit)
    , m_gpus(new QLineEdit(QString::number(plan.gpus)))
    , m_steps(new QSpinBox)
    , m_skipUnfit(new QCheckBox(tr("Leave out layouts that are predicted not to fit")))
    , m_again(new QCheckBox(tr("Measure again what an earlier sweep measured")))
    , m_said(new QLabel)
{
    setObjectName(QStringLiteral("sweepSetup"));
    setWindowTitle(tr("Measure a table of layouts"));
    resizeDialog(this, 560, 480);
    QString text = QStringLiteral("tp,cp,pp,micro_batch\n");
    for (const GridLayout& layout : layoutsAround(plan)) {
        if (layout.virtual_stages == 1)
            text
                += QStringLiteral("%1,%2,%3,%4\n").arg(layout.tp).arg(layout.cp).arg(layout.pp).arg(layout.micro_batch);
    }
    m_layouts->setPlainText(text);
    m_layouts->setObjectName(QStringLiteral("sweepLayouts"));
    m_layouts->setAccessibleName(tr("Layouts, one per line"));
    useFixedFont(m_layouts);
    m_layouts->setTabChangesFocus(true);
    m_gpus->setObjectName(QStringLiteral("sweepGpuCounts"));
    m_gpus->setAccessibleName(tr("Numbers of ranks, separated by commas"));
    m_steps->setRange(1, 1'000'000);
    m_steps->setValue(steps);
    m_steps->setAccessibleName(tr("Steps of each cell"));
    m_steps->setObjectName(QStringLiteral("sweepSteps"));
    m_said->setWordWrap(true);
    m_said->setObjectName(QStringLiteral("sweepSaid"));
    auto* open = new QPushButton(tr("Load a file\u2026"));
    connect(open, &QPushButton::clicked, this, &SweepDialog::load);
    auto* form = new QFormLayout;
    form->addRow(tr("Ranks"), m_gpus);
    form->addRow(tr("Steps of each"), m_steps);
    form->addRow(QString(), m_skipUnfit);
    form->addRow(QString(), m_again);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_start = buttons->addButton(tr("Start"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("sweepStart"));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* head = new QHBoxLayout;
    head->addWidget(new QLabel(tr("Layouts (a CSV as for fourfold sweep)")), 1);
    head->addWidget(open);
    auto* column = new QVBoxLayout(this);
    column->addLayout(head);
    column->addWidget(m_layouts, 1);
    column->addLayout(form);
    column->addWidget(m_said);
    column->addWidget(buttons);
    connect(m_layouts, &QPlainTextEdit::textChanged, this, &SweepDialog::read);
    connect(m_gpus, &QLineEdit::textChanged, this, &SweepDialog::read);
    connect(m_steps, &QSpinBox::valueChanged, this, &SweepDialog::read);
    for (QCheckBox* box : {m_skipUnfit, m_again})
        connect(box, &QCheckBox::toggled, this, &SweepDialog::read);
    read();
}

void SweepDialog::read()
{
    const Expected<std::vector<GridLayout>> layouts
        = read_grid_layouts(m_layouts->toPlainText().toStdString(), tr("layouts").toStdString());
    const Expected<std::vector<int>> gpus = read_grid_gpus(m_gpus->text().toStdString(), tr("GPUs").toStdString());
    m_start->setEnabled(layouts && gpus);
    if (!layouts || !gpus) {
        m_said->setText(fromUtf8((layouts ? gpus.error() : layouts.error()).line()));
        return;
    }
    m_setup = {*layouts, *gpus, m_steps->value(), m_skipUnfit->isChecked(), m_again->isChecked()};
    m_said->setText(tr("%1, one run each; a stopped sweep continues where it was.")
                        .arg(counted(double(layouts->size() * gpus->size()), tr("cell"))));
}

void SweepDialog::load()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Layouts"), {}, tr("CSV (*.csv)"));
    if (file.isEmpty())
        return;
    if (const Expected<std::string> text = read_text_file(file.toStdString(), kLargestFile))
        m_layouts->setPlainText(fromUtf8(*text));
    else
        showProblem(this, tr("The file cannot be read"), text.error());
}

} // namespace fourfold::ui
