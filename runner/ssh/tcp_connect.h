// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/expected.h"

#include <stop_token>
#include <string>

namespace fourfold {

// A connected, non-blocking socket with keepalive and TCP_USER_TIMEOUT (a dead peer is noticed within seconds). Each
// cause has its own message: name not known, refused, no route, no answer in time.
Expected<int> tcp_connect(const std::string& host, int port, double timeout_s, std::stop_token stop);

} // namespace fourfold
