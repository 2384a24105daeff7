// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/dashboards.h"

#include "app/cli/history/history_view.h"
#include "core/base/text.h"
#include "core/history/run_event.h"

#include <iostream>

namespace fourfold::cli {

std::vector<CLI::Option*> DashboardOptions::add_to(CLI::App& command)
{
    return {
        command.add_option("--tensorboard", tensorboard, "write the run's metrics for `tensorboard --logdir FOLDER`")
            ->type_name("FOLDER"),
        command
            .add_option("--wandb", wandb,
                "write the run as an offline run of Weights & Biases, which `wandb sync FOLDER/wandb/offline-run-*` "
                "uploads")
            ->type_name("FOLDER")};
}

Expected<void> Dashboards::begin(const std::string& run)
{
    if (!options_.any())
        return {};
    all_.clear();
    next_ = 0;
    FOURFOLD_TRY(const auto store, open_history_with_runs());
    FOURFOLD_TRY(RunDetail detail, store.show(run));
    const DashboardRun shown{detail.summary.id, detail.summary.name, std::move(detail.plan)};
    if (!options_.tensorboard.empty())
        all_.push_back(tensorboard_file(options_.tensorboard, shown));
    if (!options_.wandb.empty())
        all_.push_back(weights_and_biases_run(options_.wandb, shown));
    FOURFOLD_TRY(const auto lines, store.events(shown.id));
    for (const std::string& line : lines) {
        FOURFOLD_TRY(const Json event, parse_json(line, "an event of run " + shown.id));
        FOURFOLD_CHECK(add(event));
    }
    return {};
}

Expected<void> Dashboards::add(const Json& event)
{
    const double number = number_at(event, "seq").value_or(next_);
    if (number < next_)
        return {};
    next_ = number + 1;
    for (const auto& dashboard : all_)
        FOURFOLD_CHECK(dashboard->add(event));
    return {};
}

Expected<void> Dashboards::finish()
{
    for (const auto& dashboard : all_) {
        FOURFOLD_CHECK(dashboard->finish());
        if (!dashboard->where().empty())
            std::cerr << "wrote " << printable(dashboard->where(), kUncut) << "\n";
    }
    all_.clear();
    return {};
}

} // namespace fourfold::cli
