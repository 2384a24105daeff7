// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/kernel_words.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/table/table.h"

#include <array>

namespace fourfold::view {

std::string with_prefix(double value, const std::string& unit)
{
    constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    for (; value >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix)
        value /= 1000;
    return shown_number(value) + " " + kPrefixes[prefix] + unit;
}

std::vector<std::string> kernel_lines(const TimelineScene& scene, const BarRef& ref)
{
    constexpr std::size_t kLongestName = 120;
    const TimelineBar& bar = scene.bar(ref);
    const KernelFacts& facts = scene.facts(bar);
    const double seconds = bar.end_s - bar.start_s;
    std::string what(name(bar.kind));
    if (bar.chunk >= 0)
        what += ", layer " + std::to_string(bar.chunk);
    if (bar.microBatch >= 0)
        what += ", micro-batch " + std::to_string(bar.microBatch);
    what += "; " + scene.row_name(ref.row);
    if (!scene.row_ranks(ref.row).empty())
        what += " (" + scene.row_ranks(ref.row) + ")";
    std::vector<std::string> lines{printable(facts.name, kLongestName), what,
        "start " + duration(bar.start_s) + "    length " + duration(seconds) + "    wait before "
            + duration(scene.waitBefore(ref))};
    std::string moved;
    if (!facts.collective.empty())
        moved = facts.collective;
    if (facts.bytes > 0)
        moved += (moved.empty() ? "" : " of ") + with_prefix(facts.bytes, "B");
    if (!facts.group.empty())
        moved += (moved.empty() ? "" : ", ") + facts.group;
    if (facts.ranks > 0)
        moved += (moved.empty() ? "" : ", ") + counted(facts.ranks, "rank");
    if (facts.bytes > 0)
        moved += ": " + with_prefix(facts.bytes / seconds, "B/s");
    if (!moved.empty())
        lines.push_back(moved);
    if (facts.flops > 0)
        lines.push_back(with_prefix(facts.flops, "FLOP") + ": " + with_prefix(facts.flops / seconds, "FLOP/s"));
    return lines;
}

std::vector<bool> kernels_named(const TimelineScene& scene, const std::string& text)
{
    const std::string wanted = lower_case(text);
    std::vector<bool> named;
    named.reserve(scene.all_facts().size());
    for (const KernelFacts& facts : scene.all_facts())
        named.push_back(lower_case(facts.name).find(wanted) != std::string::npos);
    return named;
}

} // namespace fourfold::view
