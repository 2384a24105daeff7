// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_files.h"

#include "app/desktop/dialogs/trace_dialog.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/project_files.h"

#include <QFileDialog>

namespace fourfold::ui {

namespace {
struct FileWords {
    Q_DECLARE_TR_FUNCTIONS(fourfold::ui::FileWords)
};
} // namespace

void openItem(MainWindow& window, const DroppedItem& item)
{
    switch (item.kind) {
    case DroppedKind::plan:
        if (window.files().open(item.file))
            window.showPage(QStringLiteral("plan"));
        break;
    case DroppedKind::model:
        if (window.files().importModel(item.file))
            window.showPage(QStringLiteral("plan"));
        break;
    case DroppedKind::run:
        window.showPage(QStringLiteral("history"));
        window.historyPage().importRun(item.file);
        break;
    case DroppedKind::project:
        if (window.projects().open(item.file))
            window.showPage(QStringLiteral("plan"));
        break;
    case DroppedKind::measurements:
        window.showPage(QStringLiteral("compare"));
        window.comparePage().addTable(item.file);
        break;
    case DroppedKind::trace:
        showKernels(window).openFiles({item.file});
        break;
    case DroppedKind::tracker:
        window.showPage(QStringLiteral("history"));
        window.historyPage().openTracker(item.file);
        break;
    }
}

TraceDialog& showKernels(MainWindow& window)
{
    auto* dialog = window.findChild<TraceDialog*>();
    if (!dialog) {
        dialog = new TraceDialog(window.plans(), &window);
        window.keepLayoutOf(*dialog);
    }
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
    return *dialog;
}

void showTrace(MainWindow& window, const StepTrace& trace, const view::TraceBeside& beside)
{
    showKernels(window).showTrace(trace, beside);
}

void askOpenTraces(MainWindow& window)
{
    if (const auto files = TraceDialog::askFiles(&window); !files.empty())
        showKernels(window).openFiles(files);
}

void askOpenTracker(MainWindow& window)
{
    const QString folder
        = QFileDialog::getExistingDirectory(&window, FileWords::tr("Folder of TensorBoard or Weights & Biases"));
    if (!folder.isEmpty())
        openItem(window, {DroppedKind::tracker, folder.toStdString()});
}

} // namespace fourfold::ui
