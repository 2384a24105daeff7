// SPDX-License-Identifier: GPL-3.0-or-later
// The notes of a project, to be read and written.
#pragma once

#include <QString>

#include <optional>

class QWidget;

namespace fourfold::ui {

// The notes as they are afterwards; empty: they were left alone.
std::optional<QString> askNotes(QWidget* parent, const QString& project, const QString& notes);

} // namespace fourfold::ui
