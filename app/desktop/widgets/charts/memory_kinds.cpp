// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_kinds.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"

namespace fourfold::ui {

std::vector<LegendPlace> placesOfMemoryKinds(int width, const QString& more)
{
    std::vector<LegendPlace> places;
    const QFont font = scaledFont(-0.5); // of drawLegend()
    int x = 0, line = 0;
    const auto add = [&](const QString& text) {
        const int needed = px(16) + lineWidth(font, text);
        if (x > 0 && x + needed > width) {
            x = 0;
            ++line;
        }
        places.push_back({text, x, line});
        x += needed + px(16);
    };
    for (const MemoryKind& kind : kMemoryKinds)
        add(kind.label());
    if (!more.isEmpty())
        add(more);
    return places;
}

} // namespace fourfold::ui
