// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_config_notes.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "runner/ssh/home_path.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

namespace fourfold {

namespace {

struct Unsupported {
    const char* option;
    const char* why; // and what to do instead
};

constexpr const char* kCiphersAreOurs = "only AES-GCM and ChaCha20-Poly1305 are used";
constexpr const char* kNothingForwarded = "nothing is forwarded";
constexpr const char* kVariables = "set the target's environment, it reaches the ranks";
constexpr const char* kLinkTimeouts = "set the target's timeouts.link_s";
constexpr const char* kLogins = "keys are tried, then the host's questions are asked";

// Left out: what only changes how ssh looks at a terminal or keeps its own files.
constexpr std::array<Unsupported, 33> kUnsupported{{
    {"AddKeysToAgent", "nothing is added to the ssh-agent"},
    {"AddressFamily", "a host is tried under each of its addresses"},
    {"BindAddress", "the routes of this computer decide"},
    {"BindInterface", "the routes of this computer decide"},
    {"CanonicalizeHostname", "libssh does not know it"},
    {"CertificateFile", "libssh knows no user certificates"},
    {"Ciphers", kCiphersAreOurs},
    {"Compression", "what is sent is compressed already"},
    {"ConnectionAttempts", "set the target's timeouts.connect_s"},
    {"ConnectTimeout", "set the target's timeouts.connect_s"},
    {"ControlMaster", "each host has a connection of its own"},
    {"DynamicForward", kNothingForwarded},
    {"ForwardAgent", "the ssh-agent is never forwarded"},
    {"ForwardX11", "nothing of this computer is forwarded"},
    {"GlobalKnownHostsFile", "/etc/ssh/ssh_known_hosts is read"},
    {"HostbasedAuthentication", kLogins},
    {"HostKeyAlgorithms", "Ed25519, ECDSA and RSA keys with SHA-2 are taken"},
    {"HostKeyAlias", "the key is looked up under the host's own name"},
    {"IdentitiesOnly", "give the target's host a key_file instead"},
    {"KnownHostsCommand", "add the key to ~/.ssh/known_hosts"},
    {"LocalForward", kNothingForwarded},
    {"MACs", kCiphersAreOurs},
    {"NoHostAuthenticationForLocalhost", "host keys are always checked"},
    {"PKCS11Provider", "load the card's keys into ssh-agent"},
    {"PreferredAuthentications", kLogins},
    {"ProxyUseFdpass", "give the target's host its jump hosts instead"},
    {"RemoteCommand", "the agent is started"},
    {"RemoteForward", kNothingForwarded},
    {"RevokedHostKeys", "mark the key with @revoked in ~/.ssh/known_hosts"},
    {"SecurityKeyProvider", "load the key into ssh-agent"},
    {"ServerAliveInterval", kLinkTimeouts},
    {"SetEnv", kVariables},
    {"StrictHostKeyChecking", "host keys are always checked"},
}};

constexpr int kDeepest = 16; // levels of Include, as OpenSSH

// Debian's own /etc/ssh/ssh_config sends the locale; an agent has no use for it.
bool is_locale(const std::string& variables)
{
    std::istringstream words(variables);
    std::string word;
    while (words >> word) {
        if (!word.starts_with("LANG") && !word.starts_with("LC_"))
            return false;
    }
    return true;
}

// Splits a line into its keyword in small letters and what follows; an empty keyword for comments and blank lines.
std::pair<std::string, std::string> split_line(const std::string& line)
{
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#')
        return {};
    const std::size_t end = std::min(line.find_first_of(" \t=\r", begin), line.size());
    const std::size_t value = line.find_first_not_of(" \t=", end);
    return {lower_case(line.substr(begin, end - begin)), value == std::string::npos ? "" : line.substr(value)};
}

class Reader {
public:
    Reader(const std::string& host, const SshConfigIncludes& includes)
        : host_(host)
        , includes_(includes)
    {
    }

    // `applies`: whether the lines before the first Host do. What an included file says of hosts ends with it.
    void read(const SshConfigText& config, bool applies, int depth)
    {
        std::istringstream lines(config.text);
        std::string line;
        while (std::getline(lines, line)) {
            const auto [key, rest] = split_line(line);
            if (key == "host") {
                applies = matches_host_patterns(rest, host_);
            } else if (key == "match") {
                applies = true; // it may apply: better named once too often than left out
                look_at_match(rest, config.file);
            } else if (applies && key == "include") {
                if (includes_ && depth < kDeepest) {
                    for (const SshConfigText& more : includes_(rest)) {
                        if (!open_.insert(more.file).second) // it includes itself
                            continue;
                        read(more, true, depth + 1);
                        open_.erase(more.file);
                    }
                }
            } else if (applies && !key.empty()) {
                look_at(key, rest, config.file);
            }
        }
    }

    std::vector<std::string> notes;

private:
    void look_at_match(const std::string& conditions, const std::string& file)
    {
        for (const char* form : {"originalhost", "canonical", "final", "localuser", "localnetwork", "tagged"}) {
            if (lower_case(conditions).find(form) != std::string::npos)
                notes.push_back("Match " + printable(conditions, 200) + " in " + file
                    + " may have no effect: libssh does not know this form");
        }
    }

    void look_at(const std::string& key, const std::string& value, const std::string& file)
    {
        const auto* known = std::find_if(kUnsupported.begin(), kUnsupported.end(),
            [&](const Unsupported& one) { return lower_case(one.option) == key; });
        if (known != kUnsupported.end())
            add(known->option, file, known->why);
        else if (key == "sendenv" && !is_locale(value))
            add("SendEnv", file, kVariables);
    }

    void add(const std::string& option, const std::string& file, const std::string& why)
    {
        if (named_.insert(option).second)
            notes.push_back(option + " in " + file + " has no effect: " + why);
    }

    std::string host_;
    const SshConfigIncludes& includes_;
    std::set<std::string> named_;
    std::set<std::string> open_; // files that are being read
};

// Relative names stand beside the file that is read first: in ~/.ssh or /etc/ssh.
std::vector<SshConfigText> files_of(const std::string& words, const std::string& folder)
{
    std::vector<SshConfigText> out;
    std::istringstream all(words);
    std::string word;
    while (all >> word) {
        word.erase(std::remove(word.begin(), word.end(), '"'), word.end());
        const std::string pattern = word.starts_with('/') || word.starts_with('~') ? word : folder + "/" + word;
        glob_t found{};
        if (glob(expanded_home(pattern).c_str(), 0, nullptr, &found) == 0) {
            for (std::size_t i = 0; i < found.gl_pathc; ++i) {
                if (auto text = read_text_file(found.gl_pathv[i], 4u << 20))
                    out.push_back({printable(found.gl_pathv[i], 4096), *std::move(text)});
            }
        }
        globfree(&found);
    }
    return out;
}

// `open`: the files on the way to this one; `done`: those that were looked at.
std::string circle_from(
    const SshConfigText& config, const std::string& folder, std::set<std::string>& open, std::set<std::string>& done)
{
    std::error_code error;
    const std::string file = std::filesystem::weakly_canonical(expanded_home(config.file), error).string();
    if (open.contains(file))
        return config.file;
    if (!done.insert(file).second)
        return {};
    open.insert(file);
    std::istringstream lines(config.text);
    for (std::string line; std::getline(lines, line);) {
        const auto [key, rest] = split_line(line);
        if (key != "include")
            continue;
        for (const SshConfigText& more : files_of(rest, folder)) {
            if (std::string circle = circle_from(more, folder, open, done); !circle.empty())
                return circle;
        }
    }
    open.erase(file);
    return {};
}

// The user's and the system's, as far as they can be read, with the folder that their names begin in.
std::vector<std::pair<SshConfigText, std::string>> first_files()
{
    std::vector<std::pair<SshConfigText, std::string>> out;
    for (const auto& [folder, name] : {std::pair("~/.ssh", "config"), std::pair("/etc/ssh", "ssh_config")}) {
        const std::string file = std::string(folder) + "/" + name;
        if (auto text = read_text_file(expanded_home(file), 4u << 20))
            out.push_back({{file, *std::move(text)}, folder});
    }
    return out;
}

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

std::vector<std::string> ssh_config_notes(
    const SshConfigText& config, const std::string& host, const SshConfigIncludes& includes)
{
    Reader reader(host, includes);
    reader.read(config, true, 0);
    return reader.notes;
}

std::vector<std::string> ssh_config_notes(const std::string& host)
{
    std::vector<std::string> notes;
    for (const auto& [config, folder] : first_files()) {
        for (std::string& note :
            ssh_config_notes(config, host, [&folder](const std::string& words) { return files_of(words, folder); }))
            notes.push_back(std::move(note));
    }
    return notes;
}

std::string ssh_config_circle()
{
    for (const auto& [config, folder] : first_files()) {
        std::set<std::string> open, done;
        if (std::string circle = circle_from(config, folder, open, done); !circle.empty())
            return circle;
    }
    return {};
}

} // namespace fourfold
