// SPDX-License-Identifier: GPL-3.0-or-later
// Options of ~/.ssh/config that apply to a host and that Fourfold does not honour: named, not silently ignored.
#pragma once

#include <string>
#include <vector>

namespace fourfold {

// `text` is the content of an OpenSSH client configuration. One note an option, e.g.
// "CertificateFile in ~/.ssh/config has no effect: libssh knows no user certificates".
std::vector<std::string> ssh_config_notes(const std::string& text, const std::string& host);

// OpenSSH host patterns: '*', '?', "!" negates; any matching negation rejects.
bool matches_host_patterns(const std::string& patterns, const std::string& host);

} // namespace fourfold
