// SPDX-License-Identifier: GPL-3.0-or-later
// What a run does about steps whose loss or gradient norm is not finite or stands out (run.watch). The same on every
// rank, as loss and norm are.
#pragma once

#include "core/layout/run_settings.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::trainer {

class LossRule {
public:
    // `fp16`: gradients beyond its range are the loss scale's matter, which is told as well. `updated`: the step that
    // is looked at has made its update (optimizer in backward), and none can be left out.
    LossRule(const WatchSettings& settings, bool fp16, bool updated = false)
        : settings_(settings)
        , fp16_(fp16)
        , updated_(updated)
    {
    }

    // What it will do, for the start of a run: whole sentences.
    [[nodiscard]] std::vector<std::string> promises() const;

    struct Finding {
        std::string of; // "loss", "grad_norm"
        SpikeAction action = SpikeAction::warn; // never ignore
        double value = 0; // may not be finite
        std::optional<double> mean, limit; // of a spike
        std::string message; // what was found and what is done
    };
    // Of a step before its update, unless that is made; the steps of a run in their order. Those whose update is left
    // out are no measure for later ones.
    std::optional<Finding> look(double loss, double grad_norm);

private:
    [[nodiscard]] Finding not_finite(double loss, double grad_norm) const;

    WatchSettings settings_;
    bool fp16_, updated_;
    std::deque<double> losses_, norms_; // norms: their logarithms
};

} // namespace fourfold::trainer
