// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/recalibrate_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kWidestName = 280; // at 100 % zoom

QLabel* makeHeading(const QString& text)
{
    auto* label = new QLabel(text);
    label->setProperty("role", "heading");
    return label;
}
} // namespace

RecalibrateDialog::RecalibrateDialog(
    const Presets& presets, const std::filesystem::path& history, const std::vector<RunSummary>& runs, QWidget* parent)
    : QDialog(parent)
    , m_recalibration(presets, history, runs,
          [this] {
              QMetaObject::invokeMethod(
                  this,
                  [this] {
                      if (m_recalibration.deliver())
                          showState();
                  },
                  Qt::QueuedConnection);
          })
    , m_stack(new QComboBox)
    , m_summary(named(makeWords("normal"), "recalibrateSummary"))
    , m_runTable(new DataTable)
    , m_constantTable(new DataTable)
    , m_id(new QLineEdit)
{
    setObjectName(QStringLiteral("recalibrate"));
    setWindowTitle(tr("Recalibrate from %1").arg(counted(double(runs.size()), tr("run"))));
    resizeDialog(this, 900, 620);
    for (const auto& [stack, count] : m_recalibration.stacks())
        m_stack->addItem(tr("%1 (%2)").arg(fromUtf8(stack), counted(count, tr("run"))), exactText(stack));
    named(m_stack, "recalibrateStack", tr("Stack"));
    named(m_id, "recalibrateId", tr("Id of the new preset"));
    m_runTable->present(m_runRows, "", tr("Runs before and after"));
    m_constantTable->present(m_constantRows, "", tr("Constants that move"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_save = named(buttons->addButton(tr("Save as a preset"), QDialogButtonBox::AcceptRole), "recalibrateSave");
    auto* form = new QFormLayout;
    form->addRow(tr("Stack"), m_stack);
    auto* name = new QFormLayout;
    name->addRow(tr("Save as"), m_id);
    setLayout(columnOf({form, m_summary, makeHeading(m_runTable->accessibleName()), {m_runTable, 3},
                           makeHeading(m_constantTable->accessibleName()), {m_constantTable, 2}, name, buttons},
        6, {9, 9, 9, 9}));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, &RecalibrateDialog::save);
    connect(m_stack, &QComboBox::currentIndexChanged, this, &RecalibrateDialog::start);
    start();
}

void RecalibrateDialog::start()
{
    m_recalibration.start(m_stack->currentData().toString().toStdString());
    showState();
}

void RecalibrateDialog::showState()
{
    m_summary->setText(fromUtf8(m_recalibration.summary()));
    m_runRows.show(m_recalibration.runs_table());
    m_constantRows.show(m_recalibration.constants_table());
    const bool fitted = m_recalibration.has_result();
    m_id->setEnabled(fitted);
    m_save->setEnabled(fitted);
    if (!fitted)
        return;
    for (DataTable* table : {m_runTable, m_constantTable})
        table->resizeColumnsToContents();
    m_runTable->setColumnWidth(0, std::min(m_runTable->columnWidth(0), px(kWidestName)));
    m_id->setText(fromUtf8(m_recalibration.default_id()));
}

void RecalibrateDialog::save()
{
    const std::string id = m_id->text().trimmed().toStdString();
    const Expected<std::filesystem::path> file = m_recalibration.save(id);
    if (!succeeded(this, tr("The preset was not saved"), file))
        return;
    emit saved(fromUtf8(m_recalibration.name_in_plans(id)), fromUtf8(file->string()));
    accept();
}

} // namespace fourfold::ui
