// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/bars.h"

#include <algorithm>
#include <cmath>

namespace fourfold::tui {

namespace {
// The part at a place of the bar; null behind the last.
const BarPart* part_at(std::span<const BarPart> parts, double value)
{
    double end = 0;
    for (const BarPart& part : parts) {
        end += part.value;
        if (value < end)
            return &part;
    }
    return nullptr;
}
} // namespace

void draw_bar(
    Canvas& canvas, int row, int column, int columns, std::span<const BarPart> parts, double scale, const Look& look)
{
    if (!(scale > 0) || columns <= 0)
        return;
    const double cell = scale / columns;
    for (int i = 0; i < columns; ++i) {
        const double begin = cell * i;
        const BarPart* left = part_at(parts, begin + cell * 1e-9);
        if (left == nullptr)
            break;
        const BarPart* right = part_at(parts, begin + cell * (1 - 1.0 / 16));
        if (left == right) {
            put_fill(canvas, row, column + i, left->fill, look);
            continue;
        }
        double end = 0; // of the part at the left
        for (const BarPart& part : parts) {
            end += part.value;
            if (&part == left)
                break;
        }
        const int eighths = std::clamp(static_cast<int>(std::lround((end - begin) / cell * 8)), 0, 8);
        if (!look.colors || look.few) {
            const BarPart* more = eighths >= 4 ? left : right;
            if (more != nullptr)
                put_fill(canvas, row, column + i, more->fill, look);
        } else if (eighths == 8) {
            put_fill(canvas, row, column + i, left->fill, look);
        } else if (eighths == 0) {
            if (right != nullptr)
                put_fill(canvas, row, column + i, right->fill, look);
        } else { // U+258F is one eighth of a block, U+2589 seven
            canvas.put(row, column + i, static_cast<char32_t>(0x2590 - eighths),
                {left->fill.ink, right == nullptr ? Ink::normal : right->fill.ink});
        }
    }
}

int draw_legend(Canvas& canvas, int row, int column, const Fill& fill, std::string_view text, const Look& look)
{
    put_fill(canvas, row, column, fill, look);
    return canvas.text(row, column + 2, text, kMuted) + 2;
}

} // namespace fourfold::tui
