// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/advice_table.h"

#include <cmath>

namespace fourfold {

namespace {

std::string speed_words(const Advice& advice)
{
    const double change = advice.speed_change;
    if (std::abs(change) < 0.0005)
        return "as fast";
    return shown_number(100 * std::abs(change), 1) + " % " + (change > 0 ? "faster" : "slower")
        + (advice.gpus_change != 0 ? " on each GPU" : "");
}

std::string change_words(double gib)
{
    return std::string(gib >= 0 ? "+" : "-").append(shown_number(std::abs(gib), 1)).append(" GiB");
}

std::string note_of(const Advice& advice)
{
    if (advice.edit.edit_class == EditClass::gpus)
        return std::to_string(advice.edit.plan.gpus) + " GPUs, the job "
            + shown_number(100 * advice.job_speed_change, 0) + " % faster";
    if (advice.edit.edit_class == EditClass::numerics)
        return "changes the numerics";
    return advice.evidence == Evidence::extrapolated ? "extrapolated" : "";
}

// Indented, as a part of a text.
std::string indented(Table table)
{
    table.columns.front().title = "  " + table.columns.front().title;
    for (std::vector<Cell>& row : table.rows)
        row.front() = "  " + std::get<std::string>(row.front());
    return table.write(TableFormat::text);
}

} // namespace

Table advice_table(const std::vector<Advice>& list)
{
    Table table;
    table.columns = {{"change", "change"}, {"tps_per_gpu", "TPS/GPU"}, {"speed_change", "speed", 1, 100, " %"},
        {"step_time_s", "step (s)", 3}, {"memory_device_gib", "device GiB", 1}, {"memory_change", "memory"},
        {"fit", "fit"}, {"note", "note"}};
    for (const Advice& advice : list)
        table.rows.push_back(
            {advice.edit.summary, advice.tps_per_gpu, advice.speed_change, advice.step_time_s, advice.memory_device_gib,
                change_words(advice.memory_change_gib), std::string(name(advice.fit)), note_of(advice)});
    return table;
}

std::string advice_line(const Advice& advice)
{
    return advice.edit.summary + " (" + shown_number(advice.memory_device_gib, 1) + " GiB of device memory, "
        + speed_words(advice) + ")";
}

std::string advice_text(const AdviceReport& report)
{
    std::string out;
    if (report.now.fit == Fit::no) {
        out += report.pairs ? "\nwhat would make it fit: no single change does, these pairs do\n"
                            : "\nwhat would make it fit, cheapest first\n";
        out += report.to_fit.empty() ? "  nothing that was tried (" + std::to_string(report.tried) + " changes)\n"
                                     : indented(advice_table(report.to_fit));
    }
    out += "\nwhat would make it faster\n";
    out += report.faster.empty() ? "  no single change by 1 % or more (" + std::to_string(report.tried) + " tried)\n"
                                 : indented(advice_table(report.faster));
    return out;
}

} // namespace fourfold
