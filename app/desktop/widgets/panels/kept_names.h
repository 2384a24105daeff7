// SPDX-License-Identifier: GPL-3.0-or-later
// A menu of what the user keeps by names of his own: to show one, to keep what is on show, to forget one.
#pragma once

#include <QStringList>

#include <functional>

class QAction;
class QMenu;
class QWidget;

namespace fourfold::ui {

struct KeptNames {
    QStringList names;
    std::function<void(const QString&name)> show, save, forget; // saving under a name that is there replaces it
    std::function<void(const QString& name, const QString& to)> rename; // may be empty
    QString saveText, saveTitle, renameTitle, question; // of the entry and of the dialogs that ask for the name
};

// The actions belong to `owner`, which outlives what the functions use. Returns the entry that stands behind the one
// for saving; null where that is the last.
QAction* addKeptNames(QMenu& menu, QWidget& owner, const KeptNames& kept);

} // namespace fourfold::ui
