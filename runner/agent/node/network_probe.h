// SPDX-License-Identifier: GPL-3.0-or-later
// Whether, and how fast, this node's ranks will reach another node's: real connections on ports like theirs.
#pragma once

#include "core/base/json.h"
#include "runner/agent/system/server_process.h"

#include <string>

namespace fourfold {

// Answers probes of the other nodes on a free port of `address`, until nobody has come for ten minutes. Only
// connections that prove `token` are answered.
Expected<ServerProcess> start_probe_server(const std::string& address, const std::string& token);

struct ProbeOrder {
    std::string address; // numeric
    int port = 0;
    std::string token;
    double timeout_s = 5;
    bool speed = false; // measure bandwidth too
    bool brief = false; // few round trips, and no message larger than some packets: before every run
};

// {"state": "ok" | "refused" | "timeout" | "no route" | "failed", "error", "local_address", "interface", "mtu",
//  "latency_us" (half a round trip of 64 bytes), "bandwidth_gb_s", "largest_message" (bytes that came back whole),
//  "largest_asked"}
Json probe_peer(const ProbeOrder& order);

// The interface that carries `address`; empty when none does.
std::string interface_of(const std::string& address);
// All with an address, as runner/protocol/interfaces.h wants them; of several addresses the first IPv4 one.
Json network_interfaces();

} // namespace fourfold
