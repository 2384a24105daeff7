// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/history_import.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "app/view/runs/run_folder.h"
#include "core/calibration/score_card.h"
#include "core/history/transfer.h"

#include <QFileDialog>
#include <QMenu>
#include <QPushButton>

namespace fourfold::ui {

namespace {
constexpr std::size_t kLargestRun = std::size_t{1} << 30; // bytes of an exported run

Expected<ImportedTable> tableInto(const std::filesystem::path& history, const std::filesystem::path& csv)
{
    FOURFOLD_TRY(HistoryStore store, view::writable_history(history));
    return import_table(store, csv);
}

Expected<std::string> runInto(const std::filesystem::path& history, const std::filesystem::path& path)
{
    std::error_code error;
    FOURFOLD_TRY(const Json run,
        std::filesystem::is_directory(path, error) ? view::run_from_folder(path) : read_json_file(path, kLargestRun));
    FOURFOLD_TRY(HistoryStore store, view::writable_history(history));
    const std::string id = run.value("id", std::string());
    if (store.full_id(id))
        return id; // there already
    return import_run(store, run);
}
} // namespace

HistoryImport::HistoryImport(std::filesystem::path history, QWidget& page)
    : QObject(&page)
    , m_history(std::move(history))
    , m_page(page)
    , m_button(makeButton(tr("Import\u2026"), "plain", "importRuns",
          tr("Exported runs (JSON) and measured tables (CSV) become runs of the history")))
{
    auto* menu = new QMenu(m_button);
    menu->addAction(tr("File\u2026"), this, &HistoryImport::ask);
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
    return tell(tableInto(m_history, csv));
}

void HistoryImport::readTable(const std::filesystem::path& csv)
{
    m_button->setEnabled(false);
    emit message(tr("Reading %1\u2026").arg(fromUtf8(csv.filename().string())));
    m_reader.start([this, csv, history = m_history](const std::stop_token&) -> Background::Done {
        return [this, done = std::make_shared<const Expected<ImportedTable>>(tableInto(history, csv))] {
            m_button->setEnabled(true);
            tell(*done);
        };
    });
}

bool HistoryImport::tell(const Expected<ImportedTable>& done)
{
    if (!succeeded(&m_page, tr("The table was not added"), done))
        return false;
    emit imported({});
    emit message(tr("%1 added, %2 there already").arg(counted(done->added, tr("run")), grouped(done->known)));
    if (done->remarks.empty())
        return true;
    QStringList lines;
    for (const std::string& remark : done->remarks)
        lines << fromUtf8(remark);
    showLongText(
        &m_page, tr("%1 left out").arg(counted(double(lines.size()), tr("row"))), lines.join(QLatin1Char('\n')));
    return true;
}

bool HistoryImport::run(const std::filesystem::path& path)
{
    const Expected<std::string> id = runInto(m_history, path);
    if (!succeeded(&m_page, tr("The run was not added"), id))
        return false;
    emit imported(fromUtf8(*id));
    emit message(tr("Run %1 is in the history").arg(fromUtf8(*id)));
    return true;
}

} // namespace fourfold::ui
