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
} // namespace

void addKeptNames(QMenu& menu, QWidget& owner, const KeptNames& kept)
{
    addNames(menu, owner, kept.names, kept.show);
    if (!kept.names.isEmpty())
        menu.addSeparator();
    menu.addAction(kept.saveText, &owner, [&owner, kept] {
        bool accepted = false;
        const QString name
            = QInputDialog::getText(owner.window(), kept.saveTitle, kept.saveQuestion, QLineEdit::Normal, {}, &accepted)
                  .trimmed();
        if (accepted && !name.isEmpty())
            kept.save(name);
    });
    if (!kept.names.isEmpty())
        addNames(*menu.addMenu(tr("Forget")), owner, kept.names, kept.forget);
}

} // namespace fourfold::ui
