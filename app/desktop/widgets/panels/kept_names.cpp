// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/kept_names.h"

#include "app/models/shared/text.h"

#include <QInputDialog>
#include <QMenu>

namespace fourfold::ui {

namespace {
void addNames(QMenu& menu, QWidget& owner, const QStringList& names, const std::function<void(const QString&)>& run)
{
    for (const QString& name : names) {
        // An ampersand would be taken for a mnemonic.
        menu.addAction(
            QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")), &owner, [run, name] { run(name); });
    }
}

void ask(QWidget& owner, const QString& title, const QString& question, const QString& now,
    const std::function<void(const QString&)>& take)
{
    bool accepted = false;
    const QString name
        = QInputDialog::getText(owner.window(), title, question, QLineEdit::Normal, now, &accepted).trimmed();
    if (accepted && !name.isEmpty())
        take(name);
}
} // namespace

QAction* addKeptNames(QMenu& menu, QWidget& owner, const KeptNames& kept)
{
    addNames(menu, owner, kept.names, kept.show);
    if (!kept.names.isEmpty())
        menu.addSeparator();
    menu.addAction(kept.saveText, &owner, [&owner, kept] { ask(owner, kept.saveTitle, kept.question, {}, kept.save); });
    if (kept.names.isEmpty())
        return nullptr;
    QAction* behind = nullptr;
    if (kept.rename) {
        QMenu* rename = menu.addMenu(tr("Rename"));
        addNames(*rename, owner, kept.names, [&owner, kept](const QString& name) {
            ask(owner, kept.renameTitle, kept.question, name,
                [&kept, &name](const QString& to) { kept.rename(name, to); });
        });
        behind = rename->menuAction();
    }
    QMenu* forget = menu.addMenu(tr("Forget"));
    addNames(*forget, owner, kept.names, kept.forget);
    return behind ? behind : forget->menuAction();
}

} // namespace fourfold::ui
