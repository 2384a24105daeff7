// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_config_notes.h"

#include "core/base/text.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace fourfold {

namespace {
constexpr std::array<std::pair<const char*, const char*>, 10> kUnsupported{{
    {"hostkeyalias", "HostKeyAlias in ~/.ssh/config has no effect: the key is looked up under the host's own name"},
    {"certificatefile", "CertificateFile in ~/.ssh/config has no effect: libssh knows no user certificates"},
    {"identitiesonly", "IdentitiesOnly in ~/.ssh/config has no effect: give the target's host a key_file instead"},
    {"stricthostkeychecking", "StrictHostKeyChecking in ~/.ssh/config has no effect: host keys are always checked"},
    {"forwardagent", "ForwardAgent in ~/.ssh/config has no effect: the ssh-agent is never forwarded"},
    {"forwardx11", "ForwardX11 in ~/.ssh/config has no effect: nothing of this computer is forwarded"},
    {"controlmaster", "ControlMaster in ~/.ssh/config has no effect: each host has a connection of its own"},
    {"canonicalizehostname", "CanonicalizeHostname in ~/.ssh/config has no effect: libssh does not know it"},
    {"addkeystoagent", "AddKeysToAgent in ~/.ssh/config has no effect: nothing is added to the ssh-agent"},
    {"pkcs11provider", "PKCS11Provider in ~/.ssh/config has no effect: load the card's keys into ssh-agent"},
}};
} // namespace

bool matches_host_patterns(const std::string& patterns, const std::string& host)
{
    std::istringstream words(patterns);
    std::string pattern;
    bool matched = false;
    while (words >> pattern) {
        const bool negated = pattern[0] == '!';
        if (fnmatch(pattern.c_str() + (negated ? 1 : 0), host.c_str(), FNM_NOESCAPE) == 0) {
            if (negated)
                return false;
            matched = true;
        }
    }
    return matched;
}

std::vector<std::string> ssh_config_notes(const std::string& text, const std::string& host)
{
    std::vector<std::string> notes;
    std::istringstream lines(text);
    std::string line;
    bool applies = true;
    while (std::getline(lines, line)) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || line[begin] == '#')
            continue;
        const std::size_t end = std::min(line.find_first_of(" \t=", begin), line.size());
        const std::string key = lower_case(line.substr(begin, end - begin));
        const std::size_t value = line.find_first_not_of(" \t=", end);
        const std::string rest = value == std::string::npos ? "" : line.substr(value);
        if (key == "host") {
            applies = matches_host_patterns(rest, host);
        } else if (key == "match") {
            applies = true; // it may apply: better named once too often than left out
            for (const char* form : {"originalhost", "canonical", "final", "localuser", "localnetwork", "tagged"}) {
                if (lower_case(rest).find(form) != std::string::npos)
                    notes.push_back(
                        "Match " + rest + " in ~/.ssh/config may have no effect: libssh does not know this form");
            }
        } else if (applies) {
            for (const auto& [option, note] : kUnsupported) {
                if (key == option && std::find(notes.begin(), notes.end(), note) == notes.end())
                    notes.emplace_back(note);
            }
        }
    }
    return notes;
}

} // namespace fourfold
