// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/notes_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"

#include <QDialog>
#include <QPlainTextEdit>

namespace fourfold::ui {

std::optional<QString> askNotes(QWidget* parent, const QString& project, const QString& notes)
{
    QDialog dialog(parent);
    dialog.setObjectName(QStringLiteral("notesDialog"));
    dialog.setWindowTitle(tr("Notes of %1").arg(project));
    auto* text = named(new QPlainTextEdit(notes), "projectNotes", tr("Notes of the project"));
    text->setTabChangesFocus(true);
    const DialogButtons buttons = acceptOrCancel(&dialog, tr("Keep"), "keepNotes");
    dialog.setLayout(columnOf({{text, 1}, buttons.box}, 8, {9, 9, 9, 9}));
    resizeDialog(&dialog, 560, 360);
    if (dialog.exec() != QDialog::Accepted)
        return {};
    return text->toPlainText();
}

} // namespace fourfold::ui
