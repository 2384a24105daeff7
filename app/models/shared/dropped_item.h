// SPDX-License-Identifier: GPL-3.0-or-later
// What is dropped on the window, in words.
#pragma once

#include "app/view/dropped_item.h"

#include <QString>

namespace fourfold::ui {

using view::classify;
using view::DroppedItem;
using view::DroppedKind;

// "Open plan x.plan.json": said while the item is over the window.
QString whatItDoes(const DroppedItem& item);

} // namespace fourfold::ui
