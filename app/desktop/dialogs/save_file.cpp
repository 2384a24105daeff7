// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/save_file.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/models/shared/text.h"
#include "app/view/output.h"

#include <QFileDialog>
#include <QMainWindow>
#include <QStatusBar>

namespace fourfold::ui {

namespace {
constexpr int kSavedMilliseconds = 10'000;

// "csv" of "CSV (*.csv)".
QString endingOf(const QString& filter)
{
    return filter.section(QStringLiteral("*."), 1).section(QLatin1Char(')'), 0, 0);
}
} // namespace

QString askSaveFile(
    QWidget* parent, const QString& title, const QString& name, const QString& filters, const QString& ending)
{
    static QString folder; // of the last file
    QFileDialog dialog(parent, title, folder, filters);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    dialog.setDefaultSuffix(ending);
    for (const QString& filter : dialog.nameFilters()) {
        if (endingOf(filter) == ending)
            dialog.selectNameFilter(filter);
    }
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog,
        [&dialog](const QString& filter) { dialog.setDefaultSuffix(endingOf(filter)); });
    dialog.selectFile(name);
    if (dialog.exec() != QDialog::Accepted)
        return {};
    folder = dialog.directory().absolutePath();
    const QString file = dialog.selectedFiles().value(0);
    if (const Expected<void> usable = view::check_output(file.toStdString()); !usable) {
        showProblem(parent, tr("The file cannot be written"), usable.error());
        return {};
    }
    return file;
}

void sayWritten(const QWidget* from, const QString& file)
{
    for (const QWidget* at = from; at; at = at->parentWidget()) {
        if (const auto* window = qobject_cast<const QMainWindow*>(at))
            window->statusBar()->showMessage(tr("Written to %1").arg(file), kSavedMilliseconds);
    }
}

} // namespace fourfold::ui
