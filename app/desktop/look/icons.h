// SPDX-License-Identifier: GPL-3.0-or-later
// Line icons from resources/icons, drawn in the text colour of the theme.
#pragma once

#include "app/desktop/look/theme.h"

#include <QIcon>
#include <QString>

namespace fourfold::ui {

// `name` is a file of resources/icons without ".svg". Its strokes use currentColor.
QIcon themedIcon(const QString& name, const Theme& theme);
QIcon applicationIcon();

} // namespace fourfold::ui
