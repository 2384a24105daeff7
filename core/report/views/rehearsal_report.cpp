// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/rehearsal_report.h"

#include "core/base/text.h"

namespace fourfold {

Table rehearsal_stages(const Json& rehearsal)
{
    Table table;
    table.columns = {{"pp", "stage"}, {"peak_tensors_gib", "tensors", 2, 1, " GiB"},
        {"reserved_gib", "reserved", 2, 1, " GiB"}, {"planned_gib", "planned", 2, 1, " GiB"},
        {"collectives", "collectives per step"}, {"messages", "messages per step"}, {"launches", "launches per step"},
        {"step_flops", "products", 1, 1e-12, " TFLOP"}};
    for (const Json& stage : rehearsal["stages"]) {
        std::int64_t collectives = 0, messages = 0;
        for (const Json& part : stage["traffic"])
            (part["operation"] == "send_receive" ? messages : collectives) += part["count"].get<std::int64_t>();
        const auto number
            = [&](const char* key) { return stage[key].is_number() ? Cell(stage[key].get<double>()) : Cell(); };
        table.rows.push_back({Cell(stage["pp"].get<std::int64_t>()), number("peak_tensors_gib"), number("reserved_gib"),
            number("planned_gib"), Cell(collectives), Cell(messages), Cell(stage["launches"].get<std::int64_t>()),
            number("step_flops")});
    }
    return table;
}

std::string rehearsal_verdict(const Json& rehearsal)
{
    const int ranks = rehearsal["ranks"].get<int>(), rehearsed = rehearsal["rehearsed"].get<int>();
    std::string text = text_of("%d rank%s, %d of them rehearsed%s, two steps each: ", ranks, ranks == 1 ? "" : "s",
        rehearsed, rehearsed < ranks ? " (the corners of each stage's mesh)" : "");
    text += rehearsal["problems"].empty() ? "" : "FAILED: ";
    text += rehearsal["fits"].get<bool>() ? "fits, " : "does not fit, ";
    text += rehearsal["deadlock"].get<bool>() ? "deadlock" : "no deadlock: no rank waits for ever under NCCL's rules";
    if (const Json& at_once = rehearsal["at_once"]; at_once.is_number())
        text += text_of(", in one queue with room for %d operation%s", at_once.get<int>(), at_once == 1 ? "" : "s");
    if (const Json& step_s = rehearsal["step_time_s"]; step_s.is_number())
        text += text_of("; %.4g s per step", step_s.get<double>());
    if (const Json& planned_s = rehearsal["planned_step_time_s"]; planned_s.is_number())
        text += text_of(" (planned: %.4g s)", planned_s.get<double>());
    return text;
}

std::string rehearsal_text(const Json& rehearsal)
{
    std::string text = rehearsal_verdict(rehearsal) + "\n";
    if (const auto imbalance = rehearsal.find("expert_imbalance"); imbalance != rehearsal.end())
        text += text_of("Experts: the busiest expert-parallel rank gets %.0f %% more tokens than the mean.\n",
            imbalance->get<double>() * 100);
    for (const Json& problem : rehearsal["problems"])
        text += problem.get<std::string>() + "\n";
    return text + rehearsal_stages(rehearsal).write(TableFormat::text) + kRehearsalColumns + "\n";
}

} // namespace fourfold
