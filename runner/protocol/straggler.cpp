// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/straggler.h"

#include "runner/protocol/message.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace fourfold {

namespace {

std::string who(const Json& rank)
{
    const std::string host = text_field(rank, "host");
    return "rank " + std::to_string(integer_field(rank, "rank", -1)) + " ("
        + describe(object_field(rank, "coordinates")) + ")" + (host.empty() ? "" : " on " + host);
}

std::string seconds(const Json& rank)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.0f s", number_field(rank, "since_s"));
    return text;
}

} // namespace

std::string describe(const Json& coordinates)
{
    std::string out;
    for (const auto& [key, value] : coordinates.items()) {
        if (value.is_number_integer())
            out += (out.empty() ? "" : ", ") + key + " " + std::to_string(value.get<int64_t>());
    }
    return out;
}

std::string name_straggler(const Json& ranks)
{
    std::vector<const Json*> outside, known;
    std::map<std::string, std::vector<const Json*>> groups;
    for (const Json& rank : ranks) {
        const std::string process = text_field(rank, "process");
        if (process == "T" || process == "t")
            return who(rank) + " is stopped by a signal or a debugger";
        if (process == "D" && !flag_field(rank, "inside"))
            return who(rank) + " waits in the kernel (a disk or file system that does not answer)";
        if (integer_field(rank, "number") == 0)
            continue;
        known.push_back(&rank);
        if (!flag_field(rank, "inside"))
            outside.push_back(&rank);
        groups[text_field(rank, "group")].push_back(&rank);
    }
    if (known.empty())
        return ranks.empty() ? "" : "the ranks have not reported a collective";
    const auto longest
        = [](const Json* a, const Json* b) { return number_field(*a, "since_s") < number_field(*b, "since_s"); };
    if (!outside.empty() && outside.size() < known.size()) {
        const Json& rank = **std::max_element(outside.begin(), outside.end(), longest);
        const auto waiting
            = std::find_if(known.begin(), known.end(), [](const Json* one) { return flag_field(*one, "inside"); });
        return who(rank) + " is in no collective since " + seconds(rank) + ", after " + text_field(rank, "operation")
            + "; " + who(**waiting) + " waits in " + text_field(**waiting, "operation");
    }
    if (!outside.empty())
        return "no rank is in a collective; the last one was left "
            + seconds(**std::max_element(outside.begin(), outside.end(), longest)) + " ago";
    for (const auto& [group, members] : groups) {
        const auto [low, high] = std::minmax_element(members.begin(), members.end(), [](const Json* a, const Json* b) {
            return integer_field(*a, "group_number") < integer_field(*b, "group_number");
        });
        if (integer_field(**low, "group_number") < integer_field(**high, "group_number"))
            return who(**low) + " is behind: it waits in operation "
                + std::to_string(integer_field(**low, "group_number")) + " of its group, "
                + text_field(**low, "operation") + "; " + who(**high) + " is in operation "
                + std::to_string(integer_field(**high, "group_number"));
    }
    const Json& rank = **std::max_element(known.begin(), known.end(), longest);
    return "all ranks are in collectives (the network?); longest " + who(rank) + ", for " + seconds(rank) + " in "
        + text_field(rank, "operation");
}

} // namespace fourfold
