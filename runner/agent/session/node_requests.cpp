// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/node_requests.h"

#include "runner/agent/checks/container_checks.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/files/garbage.h"
#include "runner/agent/node/links.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/node/node_speed.h"
#include "runner/agent/slurm/slurm_checks.h"
#include "runner/agent/supervision/strays.h"
#include "runner/protocol/message.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace fourfold {

Expected<void> NodeRequests::probe(const Json& request) const
{
    Json reply = {{"is", "probe"},
        {"findings",
            node_checks(
                node_.base, static_cast<int>(integer_field(request, "ranks", 1)), flag_field(request, "on_gpus"))}};
    if (const auto slurm = request.find("slurm"); slurm != request.end() && slurm->is_object()) {
        for (Json& finding : slurm_checks(*slurm))
            reply["findings"].push_back(std::move(finding));
    }
    if (const std::string image = text_field(request, "container"); !image.empty()) {
        for (Json& finding : container_findings(image, flag_field(request, "prelude"), own_environment()))
            reply["findings"].push_back(std::move(finding));
    }
    if (flag_field(request, "cluster")) {
        reply["links"] = node_links();
        reply["slurm"] = slurm_partitions();
    }
    if (flag_field(request, "speed"))
        reply["speed"] = measure_speed();
    wire_.send(reply);
    return {};
}

Expected<void> NodeRequests::clock() const
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    wire_.send(
        {{"is", "clock"}, {"time_s", static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9}});
    return {};
}

Expected<void> NodeRequests::clear(const Json& request) const
{
    char own[4096] = {};
    (void)!readlink("/proc/self/exe", own, sizeof own - 1);
    Json reply = collect_garbage(node_.base,
        {std::max(0.0, number_field(request, "older_than_s", 30 * 86400.0)), flag_field(request, "dry_run")}, own);
    reply["strays"] = strays(node_.base, flag_field(request, "end_processes") && !flag_field(request, "dry_run"));
    reply["is"] = "cleared";
    wire_.send(reply);
    return {};
}

Expected<void> NodeRequests::listen(const Json& request)
{
    probe_server_.reset();
    FOURFOLD_TRY(
        ServerProcess server, start_probe_server(text_field(request, "address"), text_field(request, "token")));
    const int port = server.port();
    probe_server_ = std::make_unique<ServerProcess>(std::move(server));
    wire_.send({{"is", "listening"}, {"port", port}, {"interface", interface_of(text_field(request, "address"))}});
    return {};
}

Expected<void> NodeRequests::unlisten()
{
    probe_server_.reset();
    wire_.send({{"is", "silent"}});
    return {};
}

Expected<void> NodeRequests::reach(const Json& request) const
{
    ProbeOrder order;
    order.address = text_field(request, "address");
    order.port = static_cast<int>(integer_field(request, "port"));
    order.token = text_field(request, "token");
    order.timeout_s = std::clamp(number_field(request, "timeout_s", 5), 0.1, 60.0);
    order.speed = flag_field(request, "speed");
    order.brief = flag_field(request, "brief");
    Json reply = probe_peer(order);
    reply["is"] = "reached";
    wire_.send(reply);
    return {};
}

} // namespace fourfold
