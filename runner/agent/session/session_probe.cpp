// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests before a run: what stands in its way, how the nodes reach each other, what may be cleared
// away.
#include "runner/agent/checks/container_checks.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/files/garbage.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/node/node_speed.h"
#include "runner/agent/session/session.h"
#include "runner/agent/slurm/slurm_checks.h"
#include "runner/agent/supervision/strays.h"
#include "runner/protocol/message.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace fourfold {

Expected<void> Session::probe(const Json& request)
{
    Json reply = {{"is", "probe"},
        {"findings",
            node_checks(base_, static_cast<int>(integer_field(request, "ranks", 1)), flag_field(request, "on_gpus"))}};
    if (const auto slurm = request.find("slurm"); slurm != request.end() && slurm->is_object()) {
        for (Json& finding : slurm_checks(*slurm))
            reply["findings"].push_back(std::move(finding));
    }
    if (const std::string image = text_field(request, "container"); !image.empty()) {
        for (Json& finding : container_findings(image, flag_field(request, "prelude"), own_environment()))
            reply["findings"].push_back(std::move(finding));
    }
    if (flag_field(request, "speed"))
        reply["speed"] = measure_speed();
    send(reply);
    return {};
}

Expected<void> Session::clock()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    send({{"is", "clock"}, {"time_s", static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9}});
    return {};
}

Expected<void> Session::clear(const Json& request)
{
    char own[4096] = {};
    (void)!readlink("/proc/self/exe", own, sizeof own - 1);
    Json reply = collect_garbage(base_,
        {std::max(0.0, number_field(request, "older_than_s", 30 * 86400.0)), flag_field(request, "dry_run")}, own);
    reply["strays"] = strays(base_, flag_field(request, "end_processes") && !flag_field(request, "dry_run"));
    reply["is"] = "cleared";
    send(reply);
    return {};
}

Expected<void> Session::listen(const Json& request)
{
    probe_server_.reset();
    FOURFOLD_TRY(
        ServerProcess server, start_probe_server(text_field(request, "address"), text_field(request, "token")));
    const int port = server.port();
    probe_server_ = std::make_unique<ServerProcess>(std::move(server));
    send({{"is", "listening"}, {"port", port}, {"interface", interface_of(text_field(request, "address"))}});
    return {};
}

Expected<void> Session::unlisten()
{
    probe_server_.reset();
    send({{"is", "silent"}});
    return {};
}

Expected<void> Session::reach(const Json& request)
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
    send(reply);
    return {};
}

} // namespace fourfold
