// SPDX-License-Identifier: GPL-3.0-or-later
// What `fourfold probe --measure` saw of a target's ranks (runner/trainer/measure/measure.h), as a cluster preset with
// the constants of the stack that ran there.
#pragma once

#include "core/calibration/user/calibrate.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct MachineMeasurement {
    std::vector<Json> figures; // the events `measured`
    std::string date; // "2026-01-31"
    [[nodiscard]] double pace_spread() const; // of the same product over the measurement: 0.1 is a tenth
};

struct MeasuredMachine {
    Json cluster; // the preset, without its id
    FitError error; // of the fitted constants on the measured steps themselves
    int steps = 0; // plans whose steps were measured
    Json compared; // of each its layout, training, and measured and predicted step time
    double pace_spread = 0;
    bool unsteady = false; // the clocks changed: said in the preset, and its intervals are wider
};

// `base`: the cluster before, whose GPU and links are kept where nothing was measured; `stack`: with its constants for
// that GPU, from which the fit starts. Fails where the figures hold no product or no step that can be read.
Expected<MeasuredMachine> measured_machine(
    const MachineMeasurement& measurement, const Cluster& base, const Stack& stack);

// Where save_machine() writes; makes the folder. Fails as it would: for a command to ask before it measures for a
// minute.
Expected<std::filesystem::path> machine_file(const std::string& id);
// Writes it to the user's presets as cluster `id`, in place of what ships under that id. A file there that
// somebody wrote stays (`refused`).
Expected<std::filesystem::path> save_machine(const MeasuredMachine& machine, const std::string& id);

// "measured 9 products ...": what was found, a line each.
std::string to_text(const MeasuredMachine& machine);
Json to_json(const MeasuredMachine& machine);

} // namespace fourfold
