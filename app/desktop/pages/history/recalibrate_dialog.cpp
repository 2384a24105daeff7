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
#include <QMap>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kShortId = 12;
constexpr int kWidestName = 280; // at 100 % zoom

QLabel* makeHeading(const QString& text)
{
    auto* label = new QLabel(text);
    label->setProperty("role", "heading");
    return label;
}
} // namespace

RecalibrateDialog::RecalibrateDialog(
    const Presets& presets, const std::filesystem::path& history, const std::vector<Run>& runs, QWidget* parent)
    : QDialog(parent)
    , m_runs(runs)
    , m_recalibration(presets, history)
    , m_stack(new QComboBox)
    , m_summary(named(makeWords("normal"), "recalibrateSummary"))
    , m_runTable(new DataTable)
    , m_constantTable(new DataTable)
    , m_id(new QLineEdit)
{
    setObjectName(QStringLiteral("recalibrate"));
    setWindowTitle(tr("Recalibrate from %1").arg(counted(double(runs.size()), tr("run"))));
    resizeDialog(this, 900, 620);
    QMap<QString, int> stacks;
    for (const Run& run : runs)
        ++stacks[run.stack];
    for (auto stack = stacks.begin(); stack != stacks.end(); ++stack)
        m_stack->addItem(tr("%1 (%2)").arg(stack.key(), counted(stack.value(), tr("run"))), stack.key());
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
    connect(&m_recalibration, &Recalibration::ready, this, &RecalibrateDialog::showResult);
    connect(&m_recalibration, &Recalibration::failed, this, &RecalibrateDialog::showFailure);
    start();
}

void RecalibrateDialog::start()
{
    const QString stack = m_stack->currentData().toString();
    QStringList ids;
    for (const Run& run : m_runs) {
        if (run.stack == stack)
            ids << run.id;
    }
    m_summary->setText(tr("Fitting the constants of %1 to the runs\u2026").arg(stack));
    m_save->setEnabled(false);
    m_id->setEnabled(false);
    m_recalibration.start(stack.toStdString(), ids);
    m_runRows.show(m_recalibration.runsTable());
    m_constantRows.show(m_recalibration.constantsTable());
}

void RecalibrateDialog::showResult()
{
    QString text = m_recalibration.summary();
    const std::vector<std::string>& skipped = m_recalibration.result()->skipped;
    if (!skipped.empty())
        text += tr("\n%1 left out; the first: %2")
                    .arg(counted(double(skipped.size()), tr("run")), fromUtf8(skipped.front()));
    m_summary->setText(text);
    m_runRows.show(namedRuns());
    m_constantRows.show(m_recalibration.constantsTable());
    for (DataTable* table : {m_runTable, m_constantTable})
        table->resizeColumnsToContents();
    m_runTable->setColumnWidth(0, std::min(m_runTable->columnWidth(0), px(kWidestName)));
    m_id->setText(m_recalibration.defaultId());
    m_id->setEnabled(true);
    m_save->setEnabled(true);
}

// The fit knows runs by their ids; people know them by their names.
Table RecalibrateDialog::namedRuns() const
{
    Table table = m_recalibration.runsTable();
    for (std::vector<Cell>& row : table.rows) {
        const auto* label = std::get_if<std::string>(&row.front());
        const auto run = std::find_if(m_runs.begin(), m_runs.end(),
            [&](const Run& known) { return label && fromUtf8(*label).endsWith(known.id); });
        if (run != m_runs.end() && !run->name.isEmpty())
            row.front() = tr("%1, %2").arg(run->name, run->id.left(kShortId)).toStdString();
    }
    return table;
}

void RecalibrateDialog::showFailure(const Problem& problem)
{
    m_summary->setText(tr("This cannot be fitted: %1").arg(fromUtf8(problem.line())));
}

void RecalibrateDialog::save()
{
    const Expected<std::filesystem::path> file = m_recalibration.save(m_id->text().trimmed());
    if (!succeeded(this, tr("The preset was not saved"), file))
        return;
    emit saved(m_id->text().trimmed(), fromUtf8(file->string()));
    accept();
}

} // namespace fourfold::ui
