// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one pipeline stage over the step, stacked by what it holds, against the usable memory of the GPU.
#pragma once

#include "app/tui/desk.h"
#include "core/predict/memory_curve.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::tui {

class MemoryOverTime {
public:
    explicit MemoryOverTime(const Desk& desk)
        : desk_(desk)
    {
    }
    // Takes the stage that is called so in the prediction; what it was of already stays as it was worked out.
    void show(std::shared_ptr<const Prediction> prediction, int stage);
    // The rest is of what is shown.
    void draw(Canvas& canvas, const Rect& place, const Look& look);
    [[nodiscard]] const MemoryCurve& curve() const { return curve_; }
    [[nodiscard]] std::vector<std::string> lines() const { return {said(), reading()}; }
    bool key(const Key& key); // the cursor that is read off

private:
    [[nodiscard]] std::string said() const;
    [[nodiscard]] std::string reading() const; // at the cursor

    const Desk& desk_;
    std::shared_ptr<const Prediction> prediction_;
    int stage_ = -1;
    MemoryCurve curve_;
    double length_s_ = 0;
    std::optional<double> cursor_; // seconds
};

} // namespace fourfold::tui
