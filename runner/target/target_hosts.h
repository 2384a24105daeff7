// SPDX-License-Identifier: GPL-3.0-or-later
// How people write hosts: "alice@node[01-16]:22", lists of them, and what may stand in a name.
#pragma once

#include "runner/target/target.h"

#include <string>
#include <vector>

namespace fourfold {

// "node[01-03,7]" -> node01, node02, node03, node7; several brackets multiply; at most 4096 names. A text without
// brackets is itself; brackets around an IPv6 address are left alone.
Expected<std::vector<std::string>> expand_ranges(const std::string& text, const std::string& where);
// Cuts at commas outside brackets.
std::vector<std::string> split_hosts(const std::string& text);
// "[user@]host[:port]"; an IPv6 address stands in brackets.
Expected<SshPlace> place_from_text(const std::string& text, const std::string& where);

// Names reach SSH libraries, configuration patterns and messages: only characters that mean nothing to any of them.
Expected<void> check_place(const SshPlace& place, const std::string& where);
Expected<void> check_host(const TargetHost& host, const std::string& where);
// True when `text` holds letters, digits and characters of `more` only.
bool consists_of(const std::string& text, std::string_view more);

// Natural order: node2 before node10.
bool before_by_name(const std::string& a, const std::string& b);

} // namespace fourfold
