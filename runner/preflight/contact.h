// SPDX-License-Identifier: GPL-3.0-or-later
// The way to a host as findings: where a connection failed, and what its shell said before it was asked.
#pragma once

#include "runner/preflight/finding.h"
#include "runner/protocol/transport.h"

#include <string>
#include <vector>

namespace fourfold {

// Why a host could not be connected, by its place on the way: "DNS", "route", "port", "connection", "host key",
// "authentication", "shell", "base folder", "agent". `host` as in the target.
Finding contact_finding(const std::string& host, const Problem& problem);
// None when the shell was silent; one for its standard output, one for its standard error.
std::vector<Finding> shell_findings(const std::string& host, const ShellNoise& noise);

} // namespace fourfold
