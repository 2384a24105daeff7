// SPDX-License-Identifier: GPL-3.0-or-later
// A menu of what the user keeps by names of his own: to show one, to keep what is on show, to forget one.
#pragma once

#include <QStringList>

#include <functional>

class QMenu;
class QWidget;

namespace fourfold::ui {

struct KeptNames {
    QStringList names;
    std::function<void(const QString&name)> show, save, forget; // saving under a name that is there replaces it
    QString saveText, saveTitle, saveQuestion; // of the entry and of the dialog that asks for the name
};

// The actions belong to `owner`, which outlives what the functions use.
void addKeptNames(QMenu& menu, QWidget& owner, const KeptNames& kept);

} // namespace fourfold::ui
