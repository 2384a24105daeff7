// SPDX-License-Identifier: GPL-3.0-or-later
// `--tensorboard` and `--wandb` of run, attach and history export: the same files of a run that goes on and of one
// that is stored.
#pragma once

#include "app/cli/command.h"
#include "core/dashboards/dashboard.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::cli {

struct DashboardOptions {
    std::string tensorboard, wandb; // folders; empty: not asked for

    std::vector<CLI::Option*> add_to(CLI::App& command);
    [[nodiscard]] bool any() const { return !tensorboard.empty() || !wandb.empty(); }
};

class Dashboards {
public:
    explicit Dashboards(DashboardOptions options)
        : options_(std::move(options))
    {
    }

    // The events that the history has of a run; those that follow come through add().
    Expected<void> begin(const std::string& run);
    // An event that was added already is passed over.
    Expected<void> add(const Json& event);
    // Says where the files are.
    Expected<void> finish();

private:
    DashboardOptions options_;
    std::vector<std::unique_ptr<Dashboard>> all_;
    double next_ = 0; // seq
};

} // namespace fourfold::cli
