// SPDX-License-Identifier: GPL-3.0-or-later
// A run's events as other programs' dashboards read them, while the run goes on or from the history. A file is written
// from the run's first event on: the same events make the same file again.
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fourfold {

struct DashboardRun {
    std::string id, name;
    Json plan; // resolved; null where it is not known
};

class Dashboard {
public:
    virtual ~Dashboard() = default;
    // The next event of the run's stream. What it has no numbers for is passed over.
    virtual Expected<void> add(const Json& event) = 0;
    // What was held back, at the end; no event may follow.
    virtual Expected<void> finish() = 0;
    // What was written, for people; empty before the first event.
    [[nodiscard]] virtual std::string where() const = 0;
};

// FOLDER/<run>/events.out.tfevents.<seconds>.fourfold: `tensorboard --logdir FOLDER` shows it. The plan stands there as
// a text, its settings as hyperparameters.
std::unique_ptr<Dashboard> tensorboard_file(const std::filesystem::path& folder, DashboardRun run);
// FOLDER/wandb/offline-run-<date>_<time>-<run>: `wandb sync` of that folder uploads it.
std::unique_ptr<Dashboard> weights_and_biases_run(const std::filesystem::path& folder, DashboardRun run);

// The numbers of an event by the names that dashboards show: "train/loss", "speed/mfu", "eval/loss". Empty of all but
// steps and evaluations; a number that was not finite is left out.
struct EventNumbers {
    std::int64_t step = 0;
    double time = 0; // seconds since 1970
    std::vector<std::pair<std::string, double>> values;
};
EventNumbers numbers_of(const Json& event);
// What a number of that name is, with its unit, for people; empty for any other name.
std::string_view about_number(std::string_view name);

} // namespace fourfold
