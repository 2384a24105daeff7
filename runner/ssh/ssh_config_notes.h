// SPDX-License-Identifier: GPL-3.0-or-later
// Options of OpenSSH's client configuration that apply to a host and that Fourfold does not honour, because libssh does
// not know them or because it decides for itself: named, not silently ignored.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fourfold {

struct SshConfigText {
    std::string file; // as people call it: "~/.ssh/config"
    std::string text;
};
// The files that the words behind Include stand for.
using SshConfigIncludes = std::function<std::vector<SshConfigText>(const std::string& words)>;

// One note an option, e.g. "CertificateFile in ~/.ssh/config has no effect: libssh knows no user certificates".
std::vector<std::string> ssh_config_notes(
    const SshConfigText& config, const std::string& host, const SshConfigIncludes& includes = {});
// Of ~/.ssh/config, /etc/ssh/ssh_config and what they include. Files that cannot be read have no notes.
std::vector<std::string> ssh_config_notes(const std::string& host);

// The first of those files that includes itself, by whatever way; empty where none does. OpenSSH refuses it, and libssh
// would read for hours where a file includes several.
std::string ssh_config_circle();

// OpenSSH host patterns: '*', '?', "!" negates; any matching negation rejects.
bool matches_host_patterns(const std::string& patterns, const std::string& host);

} // namespace fourfold
