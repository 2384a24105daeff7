// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/cluster/node_cluster.h"

#include <cctype>

namespace fourfold::view {

std::string proposed_cluster_id(const ProbeReport& report)
{
    std::string id = "measured-";
    for (const char c : report.hosts.front().name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-')
            id += c;
        else if (id.back() != '-')
            id += '-';
    }
    return id;
}

bool needs_like(const ProbeReport& report)
{
    return !report.hosts.front().facts.gpus.empty();
}

} // namespace fourfold::view
