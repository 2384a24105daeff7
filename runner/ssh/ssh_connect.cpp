// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_connect.h"

#include "core/base/text.h"
#include "runner/ssh/home_path.h"
#include "runner/ssh/known_hosts.h"
#include "runner/ssh/ssh_authenticate.h"
#include "runner/ssh/ssh_config_notes.h"
#include "runner/ssh/ssh_forward.h"
#include "runner/ssh/tcp_connect.h"
#include "runner/target/target_hosts.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <sstream>

namespace fourfold {

namespace {

// Authenticated encryption only; none of them depends on a separate MAC.
constexpr const char* kCiphers = "aes256-gcm@openssh.com,aes128-gcm@openssh.com,chacha20-poly1305@openssh.com";
constexpr const char* kHostKeys
    = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";
constexpr std::size_t kMostJumps = 8;
// How libssh says that it met something else, as it will the next time.
constexpr std::array<const char*, 4> kOtherServers{
    "too large banner", "No version of SSH protocol usable", "Packet filter: rejected packet", "Packet len too high"};

std::string option(ssh_session session, ssh_options_e which)
{
    char* value = nullptr;
    if (ssh_options_get(session, which, &value) != SSH_OK || !value)
        return {};
    std::string out = value;
    ssh_string_free_char(value);
    return out;
}

// libssh would wait until somebody writes into it.
Expected<void> check_no_pipe(const std::filesystem::path& file)
{
    struct stat info { };
    if (stat(file.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
        return Problem{ProblemCode::bad_input, "is a pipe, expected a file", "remove it", file.string()};
    return {};
}

// Where the connection goes after ~/.ssh/config has had its say.
struct Endpoint {
    std::string host;
    int port = 22;
    std::string proxy_command; // empty = none
    std::vector<std::filesystem::path> known_hosts; // own file first
};

Expected<Endpoint> configure(ssh_session session, const SshPlace& place, const std::string& name, double timeout_s)
{
    const auto set
        = [&](ssh_options_e which, const void* value) { return ssh_options_set(session, which, value) == SSH_OK; };
    const bool no = false;
    if (!set(SSH_OPTIONS_HOST, place.address.c_str()))
        return Problem{ProblemCode::bad_input, in_quotes(place.address) + " is not a host name",
            "its parts have 1 to 63 letters, digits and hyphens", name};
    bool good = set(SSH_OPTIONS_PROCESS_CONFIG, &no);
    const std::string folder = expanded_home("~/.ssh");
    good = good && set(SSH_OPTIONS_SSH_DIR, folder.c_str());
    for (const std::string& file : {folder + "/config", std::string("/etc/ssh/ssh_config")})
        FOURFOLD_CHECK(check_no_pipe(file));
    if (const std::string circle = ssh_config_circle(); !circle.empty())
        return Problem{ProblemCode::bad_input, circle + " includes itself", "take that Include out", name};
    // Files that do not exist are no error; a line that libssh cannot read is.
    good = good && ssh_options_parse_config(session, nullptr) == SSH_OK;
    if (good && !place.user.empty())
        good = set(SSH_OPTIONS_USER, place.user.c_str());
    const unsigned port = static_cast<unsigned>(place.port);
    if (good && port != 0)
        good = set(SSH_OPTIONS_PORT, &port);
    // Whatever the configuration says about these, the choice is ours.
    const int strict = 1, minimum = 2048;
    const long timeout = static_cast<long>(timeout_s + 1);
    good = good && set(SSH_OPTIONS_STRICTHOSTKEYCHECK, &strict) && set(SSH_OPTIONS_RSA_MIN_SIZE, &minimum)
        && set(SSH_OPTIONS_CIPHERS_C_S, kCiphers) && set(SSH_OPTIONS_CIPHERS_S_C, kCiphers)
        && set(SSH_OPTIONS_COMPRESSION, "no") && set(SSH_OPTIONS_TIMEOUT, &timeout);
    if (!good)
        return Problem{ProblemCode::bad_input, std::string("cannot be configured: ") + ssh_get_error(session),
            "check the host and ~/.ssh/config", name};
    Endpoint endpoint;
    endpoint.host = option(session, SSH_OPTIONS_HOST);
    unsigned actual = 22;
    ssh_options_get_port(session, &actual);
    endpoint.port = static_cast<int>(actual);
    endpoint.proxy_command = option(session, SSH_OPTIONS_PROXYCOMMAND);
    if (endpoint.proxy_command == "none")
        endpoint.proxy_command.clear();
    std::string users = option(session, SSH_OPTIONS_KNOWNHOSTS);
    if (users.empty())
        users = folder + "/known_hosts";
    endpoint.known_hosts = {own_known_hosts(), expanded_home(users), "/etc/ssh/ssh_known_hosts"};
    for (const auto& file : endpoint.known_hosts)
        FOURFOLD_CHECK(check_no_pipe(file));
    if (const std::string circle = ssh_config_circle(); !circle.empty())
        return Problem{ProblemCode::bad_input, "includes itself", "take that Include out", circle};
    // libssh orders the key types it asks for by what these files hold; the check itself is ours.
    const std::string own = own_known_hosts().string(), theirs = expanded_home(users);
    if (!set(SSH_OPTIONS_KNOWNHOSTS, own.c_str()) || !set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, theirs.c_str())
        || !set(SSH_OPTIONS_HOSTKEYS, kHostKeys))
        return Problem{ProblemCode::failed, "cannot be configured", {}, name};
    return endpoint;
}

Expected<void> check_host_key(
    ssh_session session, const std::string& name, const Endpoint& endpoint, const SshPrompts& prompts)
{
    ssh_key raw = nullptr;
    if (ssh_get_server_publickey(session, &raw) != SSH_OK)
        return Problem{ProblemCode::refused, "the host shows no key", {}, name};
    const SshKey key(raw);
    const std::string shown = type_of(raw) + " " + fingerprint_of(raw);
    HostKeyVerdict verdict = look_up_host_key(endpoint.known_hosts, endpoint.host, endpoint.port, raw);
    const auto contradict = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::conflict, std::move(message), std::move(hint), name};
    };
    // One question at a time: hosts that connect together through one jump host ask about its key once.
    static std::mutex asking;
    const std::lock_guard lock(asking);
    if (verdict.state == HostKeyState::unknown)
        verdict = look_up_host_key(endpoint.known_hosts, endpoint.host, endpoint.port, raw);
    const std::string place = verdict.file + ":" + std::to_string(verdict.line);
    switch (verdict.state) {
    case HostKeyState::known:
        return {};
    case HostKeyState::changed:
        return contradict(
            "the host key has changed: it shows " + shown + ", known is " + verdict.type + " " + verdict.fingerprint,
            "someone may be listening in; only if you know that the host was reinstalled, remove " + place);
    case HostKeyState::other_type:
        return contradict(
            "the host shows a key of another type: " + shown + ", known is " + verdict.type + " " + verdict.fingerprint,
            "ask who runs the host; only if the new key is right, remove " + place);
    case HostKeyState::revoked:
        return contradict("the host shows a revoked key: " + shown, "do not use this host; the entry is " + place);
    case HostKeyState::unknown:
        break;
    }
    if (!prompts.trust_host_key || !prompts.trust_host_key({name, type_of(raw), fingerprint_of(raw)}))
        return Problem{ProblemCode::refused, "the host key is not known: " + shown,
            "compare it with the host's own; then run once with --accept-new-hosts, or add it to ~/.ssh/known_hosts",
            name};
    return remember_host_key(own_known_hosts(), session);
}

struct Route {
    const ConnectOptions& options;
    std::stop_token stop;
};

// From a configured session to a logged-in one. `fd` < 0: libssh runs the proxy command.
Expected<void> log_in(ssh_session session, int fd, const SshPlace& place, const std::string& name,
    const Endpoint& endpoint, const Route& by)
{
    if (fd >= 0) {
        if (!endpoint.proxy_command.empty())
            ssh_options_set(session, SSH_OPTIONS_PROXYCOMMAND, "none");
        ssh_options_set(session, SSH_OPTIONS_FD, &fd);
    }
    // libssh's own steps cannot be interrupted; closing the line from outside ends them at once.
    std::stop_callback interrupt_line(by.stop, [fd] {
        if (fd >= 0)
            shutdown(fd, SHUT_RDWR);
    });
    if (ssh_connect(session) != SSH_OK) {
        const std::string why = ssh_get_error(session);
        if (why.find("no match for method") != std::string::npos) // as it will be the next time
            return Problem{ProblemCode::unsupported,
                "the host's SSH server and Fourfold have no algorithm in common: " + why,
                "let its sshd offer one of the client's", name};
        const bool speaks_ssh = std::none_of(kOtherServers.begin(), kOtherServers.end(),
            [&](const char* words) { return why.find(words) != std::string::npos; });
        if (!speaks_ssh)
            return Problem{ProblemCode::unsupported, "what answers there is no SSH server of today: " + why,
                "check the host's port", name};
        return Problem{ProblemCode::network, std::string(kNoHandshake) + why, "see the log of the host's sshd", name};
    }
    const int line = ssh_get_fd(session);
    const std::stop_callback interrupt(by.stop, [line] { shutdown(line, SHUT_RDWR); });
    FOURFOLD_CHECK(check_host_key(session, name, endpoint, by.options.prompts));
    return authenticate(session, name, place.key_file, by.options.prompts);
}

// `behind`: how many hosts are reached through this one. The configuration can name a way that never ends.
Expected<SshLine> connect_through(const std::vector<SshPlace>& jumps, const SshPlace& place, const std::string& name,
    const Route& by, std::size_t behind)
{
    SshLine line;
    line.session.reset(ssh_new());
    if (!line.session)
        return Problem{ProblemCode::failed, "no memory for an SSH session", {}, name};
    FOURFOLD_TRY(const Endpoint endpoint, configure(line.session.get(), place, name, by.options.timeout_s));
    if (by.options.prompts.note) {
        for (const std::string& note : ssh_config_notes(place.address))
            by.options.prompts.note(name, note);
    }
    std::vector<SshPlace> way = jumps;
    if (way.empty() && !endpoint.proxy_command.empty()) {
        if (auto found = jumps_of_proxy_command(endpoint.proxy_command))
            way = std::move(*found);
    }
    if (behind + way.size() > kMostJumps)
        return Problem{ProblemCode::bad_input, "more than 8 jump hosts", "do they name each other?", name};
    int fd = -1;
    if (!way.empty()) {
        const SshPlace last = way.back();
        way.pop_back();
        const std::string jump_name = "jump host " + place_name(last);
        FOURFOLD_TRY(SshLine jump, connect_through(way, last, jump_name, by, behind + 1));
        FOURFOLD_TRY(const auto forward,
            SshForward::open(std::move(jump.session), endpoint.host, endpoint.port, jump_name, std::move(jump.route)));
        fd = forward->take_socket();
        line.route = forward;
    } else if (endpoint.proxy_command.empty()) {
        auto socket = tcp_connect(endpoint.host, endpoint.port, by.options.timeout_s, by.stop);
        if (!socket) {
            socket.error().where = name;
            return std::move(socket).error();
        }
        fd = *socket;
    } else if (by.options.prompts.note) {
        by.options.prompts.note(name, "connects through ProxyCommand of ~/.ssh/config: " + endpoint.proxy_command);
    }
    FOURFOLD_CHECK(log_in(line.session.get(), fd, place, name, endpoint, by));
    return line;
}

} // namespace

std::optional<std::vector<SshPlace>> jumps_of_proxy_command(const std::string& command)
{
    // "ssh [-l user] [-p port] [-J further] -W '[%h]:%p' host", as libssh writes it for ProxyJump.
    if (command.find(" -W '[%h]:%p' ") == std::string::npos)
        return {};
    std::istringstream words(command);
    std::vector<std::string> all;
    for (std::string word; words >> word;)
        all.push_back(word);
    std::vector<SshPlace> out;
    SshPlace first;
    std::size_t i = 1;
    for (; i + 1 < all.size() && all[i].size() == 2 && all[i][0] == '-'; i += 2) {
        const std::string& value = all[i + 1];
        if (all[i] == "-l") {
            first.user = value;
        } else if (all[i] == "-p") {
            first.port = std::atoi(value.c_str());
        } else if (all[i] == "-J") {
            for (const std::string& text : split_hosts(value)) {
                auto place = place_from_text(text, "ProxyJump");
                if (!place)
                    return {};
                out.push_back(*std::move(place));
            }
        } else if (all[i] != "-W") {
            return {};
        }
    }
    if (all.empty() || all[0] != "ssh" || i + 1 != all.size())
        return {};
    first.address = all[i];
    if (first.address.starts_with('[') && first.address.ends_with(']'))
        first.address = first.address.substr(1, first.address.size() - 2);
    if (!check_place(first, "ProxyJump"))
        return {};
    out.insert(out.begin(), first);
    return out;
}

Expected<SshLine> ssh_connect_to(const ConnectOptions& options, std::stop_token stop)
{
    static std::once_flag initialized;
    std::call_once(initialized, [] { ssh_init(); });
    const SshPlace& place = options.host;
    auto line = connect_through(options.host.jumps, place, options.name, {options, stop}, 0);
    if (!line && stop.stop_requested())
        return Problem{ProblemCode::cancelled, "stopped while connecting", {}, options.name};
    return line;
}

} // namespace fourfold
