// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/sweep_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/compare/grid_around.h"
#include "core/base/json.h"
#include "core/calibration/measured_grid.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>

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
    , m_said(named(makeWords("normal"), "sweepSaid"))
{
    setObjectName(QStringLiteral("sweepSetup"));
    setWindowTitle(tr("Measure a table of layouts"));
    resizeDialog(this, 560, 480);
    QString text = QStringLiteral("tp,cp,pp,micro_batch\n");
    for (const GridLayout& layout : view::layouts_around(plan)) {
        if (layout.virtual_stages == 1)
            text
                += QStringLiteral("%1,%2,%3,%4\n").arg(layout.tp).arg(layout.cp).arg(layout.pp).arg(layout.micro_batch);
    }
    m_layouts->setPlainText(text);
    named(m_layouts, "sweepLayouts", tr("Layouts, one per line"));
    useFixedFont(m_layouts);
    m_layouts->setTabChangesFocus(true);
    named(m_gpus, "sweepGpuCounts", tr("Numbers of ranks, separated by commas"));
    named(m_steps, "sweepSteps", tr("Steps of each cell"));
    m_steps->setRange(1, 1'000'000);
    m_steps->setValue(steps);
    auto* open = new QPushButton(tr("Load a file\u2026"));
    connect(open, &QPushButton::clicked, this, &SweepDialog::load);
    auto* form = new QFormLayout;
    form->addRow(tr("Ranks"), m_gpus);
    form->addRow(tr("Steps of each"), m_steps);
    form->addRow(QString(), m_skipUnfit);
    form->addRow(QString(), m_again);
    const auto [buttons, start] = acceptOrCancel(this, tr("Start"), "sweepStart");
    m_start = start;
    auto* what = new QLabel(tr("Layouts (a CSV as for fourfold sweep)"));
    setLayout(columnOf({rowOf({{what, 1}, open}, 6), {m_layouts, 1}, form, m_said, buttons}, 6, {9, 9, 9, 9}));
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
    changeRole(m_said, layouts && gpus ? QStringLiteral("normal") : QStringLiteral("bad"));
    if (!layouts || !gpus) {
        m_said->setText(labelText(fromUtf8((layouts ? gpus.error() : layouts.error()).line())));
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
