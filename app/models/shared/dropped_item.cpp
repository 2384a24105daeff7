// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/dropped_item.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

QString whatItDoes(const DroppedItem& item)
{
    const QString name = fromUtf8(item.file.filename().string());
    switch (item.kind) {
    case DroppedKind::plan:
        return tr("Open plan %1").arg(name);
    case DroppedKind::project:
        return tr("Open project %1, and close the open plans").arg(name);
    case DroppedKind::model:
        return tr("Take the model of the current plan from %1").arg(name);
    case DroppedKind::run:
        return tr("Add run %1 to the history").arg(name);
    case DroppedKind::measurements:
        return tr("Compare with the measurements in %1").arg(name);
    case DroppedKind::trace:
        return tr("Lay the trace %1 beside the plan").arg(name);
    case DroppedKind::tracker:
        return tr("Show the curves of %1").arg(name);
    }
    return {};
}

} // namespace fourfold::ui
