// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one pipeline stage over the step, stacked by what it holds, against the usable memory of the GPU.
#pragma once

#include "app/tui/look.h"
#include "app/tui/terminal/key.h"
#include "core/predict/memory_curve.h"

#include <optional>
#include <string>

namespace fourfold::tui {

class MemoryOverTime {
public:
    // Of the stage that is called so in the prediction.
    void draw(Canvas& canvas, const Rect& place, const Prediction& prediction, int stage, const Look& look);
    bool key(const Key& key); // the cursor that is read off

private:
    [[nodiscard]] std::string said() const;
    [[nodiscard]] std::string reading() const; // at the cursor

    MemoryCurve curve_; // as drawn last
    double length_s_ = 0;
    std::optional<double> cursor_; // seconds
};

} // namespace fourfold::tui
