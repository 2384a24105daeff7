// SPDX-License-Identifier: GPL-3.0-or-later
// Which address of a node belongs to the network interface that a target names.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold {

// `interfaces` as an agent tells them: [{"name": "ib0", "address": "10.0.0.1"}, ...]. `wanted` as NCCL reads
// NCCL_SOCKET_IFNAME: names or their beginnings, the first one that is there counts; behind "=" whole names. Empty when
// none matches, and for "^..." (all but these), which leaves the choice open.
std::string address_of_interface(const Json& interfaces, const std::string& wanted);
// True when `wanted` names interfaces, one of which must be there.
bool names_interface(const std::string& wanted);
// "eth0 10.0.0.1, ib0 10.1.0.1", for messages.
std::string interfaces_text(const Json& interfaces);

} // namespace fourfold
