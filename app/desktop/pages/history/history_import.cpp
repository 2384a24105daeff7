// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/history_import.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "core/calibration/score_card.h"

#include <QFileDialog>
#include <QMenu>
#include <QPushButton>

namespace fourfold::ui {

HistoryImport::HistoryImport(std::filesystem::path history, QWidget& page)
    : QObject(&page)
    , m_history(std::move(history))
    , m_page(page)
    , m_button(makeButton(tr("Import\u2026"), "plain", "importRuns",
          tr("Exported runs (JSON) and measured tables (CSV) become runs of the history")))
{
    auto* menu = new QMenu(m_button);
    menu->addAction(tr("File\u2026"), this, &HistoryImport::ask);
    menu->addAction(tr("Curves of TensorBoard or wandb\u2026"), this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(&m_page, tr("Curves of a folder's runs"));
        if (!folder.isEmpty())
            emit trackerChosen(folder.toStdString());
    });
    QMenu* published = menu->addMenu(tr("Published table"));
    for (const std::filesystem::path& csv : published_tables())
        published->addAction(fromUtf8(csv.stem().string()), this, [this, csv] { readTable(csv); });
    published->setEnabled(!published->isEmpty());
    m_button->setMenu(menu);
}

void HistoryImport::ask()
{
    const QString file = QFileDialog::getOpenFileName(
        &m_page, tr("Take runs into the history"), {}, tr("Exported runs and tables (*.json *.csv);;All files (*)"));
    if (file.isEmpty())
        return;
    if (file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive))
        readTable(file.toStdString());
    else
        run(file.toStdString());
}

bool HistoryImport::table(const std::filesystem::path& csv)
{
    return tell(tr("The table was not added"), view::import_from(m_history, csv));
}

void HistoryImport::readTable(const std::filesystem::path& csv)
{
    m_button->setEnabled(false);
    emit message(tr("Reading %1\u2026").arg(fromUtf8(csv.filename().string())));
    m_reader.start([this, csv, history = m_history](const std::stop_token&) -> Background::Done {
        return [this, done = std::make_shared<const view::RunImport>(view::import_from(history, csv))] {
            m_button->setEnabled(true);
            tell(tr("The table was not added"), *done);
        };
    });
}

bool HistoryImport::tell(const QString& failure, const view::RunImport& done)
{
    if (done.problem)
        showProblem(&m_page, failure, *done.problem);
    if (done.problem && done.added.empty())
        return false;
    const QString only = fromUtf8(done.only());
    emit imported(only);
    emit message(only.isEmpty() ? fromUtf8(done.said()) : tr("Run %1 is in the history").arg(only));
    if (done.remarks.empty())
        return !done.problem;
    QStringList lines;
    for (const std::string& remark : done.remarks)
        lines << fromUtf8(remark);
    showLongText(
        &m_page, tr("%1 left out").arg(counted(double(lines.size()), tr("row"))), lines.join(QLatin1Char('\n')));
    return !done.problem;
}

bool HistoryImport::run(const std::filesystem::path& path)
{
    return tell(tr("The run was not added"), view::import_from(m_history, path));
}

} // namespace fourfold::ui
