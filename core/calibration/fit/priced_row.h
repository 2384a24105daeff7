// SPDX-License-Identifier: GPL-3.0-or-later
// A measured row made ready to be priced again and again with other constants. Schedule, operation list and topology
// are built once; the list is built again only where a constant under trial takes part in it.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/cost/context.h"
#include "core/plan/plan_schedule.h"
#include "core/schedule/schedule_order.h"
#include "core/stack/constants.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold {

class PricedRow {
public:
    // `base`: the constants that are not under trial. Fails where the plan breaks a rule or has no schedule.
    static Expected<PricedRow> make(const FitRow& row, const Stack& base);

    // The constants under trial, in the order in which step_time_s and memory take their values.
    void try_constants(const std::vector<std::string>& names);

    // Seconds; 0 where the price is not a positive number. Not for two threads at once.
    double step_time_s(const std::vector<double>& values);
    struct Memory {
        double gib = 0, device_gib = 0; // in the stack's convention; on the device
    };
    Memory memory(const std::vector<double>& values);

    [[nodiscard]] const FitRow& row() const { return row_; }
    [[nodiscard]] const std::string& gpu() const { return row_.plan.cluster.gpu.id; }
    [[nodiscard]] double capacity_gib() const { return row_.plan.cluster.gpu.memory_gib; }

private:
    explicit PricedRow(const FitRow& row);
    [[nodiscard]] std::vector<StageProgram> build() const;
    void set_stack(const std::vector<double>& values);
    [[nodiscard]] std::vector<double> shifted() const;
    bool shapes_operations(std::size_t constant);

    FitRow row_; // its plan's stack carries the values last tried
    PlanSchedule schedule_, short_schedule_; // whole; enough of it for the peak of memory
    std::optional<ScheduleOrder> order_;
    std::vector<StageProgram> program_;
    std::optional<CostContext> context_;
    std::vector<Constant> ids_;
    std::vector<std::string> names_;
    std::vector<double> base_; // values of the constants under trial before the trial
    std::vector<std::size_t> shaping_; // constants under trial that the operation list depends on
    std::vector<double> built_with_; // their values in program_
    bool whole_context_ = false; // the context is more than a copy of the constants under trial
    double device_gib_ = 0; // for the pressure near the capacity; 0 = not looked at
};

} // namespace fourfold
