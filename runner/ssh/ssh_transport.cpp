// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_transport.h"

#include "core/base/json.h"
#include "core/base/sha256.h"
#include "runner/ssh/bootstrap.h"
#include "runner/ssh/known_hosts.h"
#include "runner/ssh/ssh_config_notes.h"
#include "runner/ssh/ssh_session.h"
#include "runner/ssh/ssh_stream.h"
#include "runner/ssh/tcp_connect.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

namespace fourfold {

namespace {

// Authenticated encryption only; none of them depends on a separate MAC.
constexpr const char* kCiphers = "aes256-gcm@openssh.com,aes128-gcm@openssh.com,chacha20-poly1305@openssh.com";
constexpr const char* kHostKeys
    = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";

std::string home_folder()
{
    const char* home = std::getenv("HOME");
    return home ? home : "";
}

std::string expanded(const std::string& path)
{
    return path.starts_with("~/") ? home_folder() + path.substr(1) : path;
}

std::string option(ssh_session session, ssh_options_e which)
{
    char* value = nullptr;
    if (ssh_options_get(session, which, &value) != SSH_OK || !value)
        return {};
    std::string out = value;
    ssh_string_free_char(value);
    return out;
}

// Where the connection goes after ~/.ssh/config has had its say.
struct Endpoint {
    std::string host;
    int port = 22;
    bool through_proxy = false;
    std::vector<std::filesystem::path> known_hosts; // own file first
};

Expected<Endpoint> configure(ssh_session session, const SshOptions& options)
{
    const auto set
        = [&](ssh_options_e which, const void* value) { return ssh_options_set(session, which, value) == SSH_OK; };
    const bool no = false;
    bool good = set(SSH_OPTIONS_HOST, options.host.address.c_str()) && set(SSH_OPTIONS_PROCESS_CONFIG, &no);
    const std::string folder = home_folder() + "/.ssh";
    good = good && set(SSH_OPTIONS_SSH_DIR, folder.c_str());
    // Files that do not exist are no error; a line that libssh cannot read is.
    good = good && ssh_options_parse_config(session, nullptr) == SSH_OK;
    if (good && !options.host.user.empty())
        good = set(SSH_OPTIONS_USER, options.host.user.c_str());
    const unsigned port = static_cast<unsigned>(options.host.port);
    if (good && port != 0)
        good = set(SSH_OPTIONS_PORT, &port);
    // Whatever the configuration says about these, the choice is ours.
    const int strict = 1, minimum = 2048;
    const long timeout = static_cast<long>(options.connect_timeout_s + 1);
    good = good && set(SSH_OPTIONS_STRICTHOSTKEYCHECK, &strict) && set(SSH_OPTIONS_RSA_MIN_SIZE, &minimum)
        && set(SSH_OPTIONS_CIPHERS_C_S, kCiphers) && set(SSH_OPTIONS_CIPHERS_S_C, kCiphers)
        && set(SSH_OPTIONS_COMPRESSION, "no") && set(SSH_OPTIONS_TIMEOUT, &timeout);
    if (!good)
        return Problem{ProblemCode::bad_input, std::string("cannot be configured: ") + ssh_get_error(session),
            "check the host and ~/.ssh/config", options.name};
    Endpoint endpoint;
    endpoint.host = option(session, SSH_OPTIONS_HOST);
    unsigned actual = 22;
    ssh_options_get_port(session, &actual);
    endpoint.port = static_cast<int>(actual);
    const std::string proxy = option(session, SSH_OPTIONS_PROXYCOMMAND);
    endpoint.through_proxy = !proxy.empty() && proxy != "none";
    std::string users = option(session, SSH_OPTIONS_KNOWNHOSTS);
    if (users.empty())
        users = folder + "/known_hosts";
    endpoint.known_hosts = {own_known_hosts(), expanded(users), "/etc/ssh/ssh_known_hosts"};
    // libssh orders the key types it asks for by what these files hold; the check itself is ours.
    const std::string own = own_known_hosts().string(), theirs = expanded(users);
    if (!set(SSH_OPTIONS_KNOWNHOSTS, own.c_str()) || !set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, theirs.c_str())
        || !set(SSH_OPTIONS_HOSTKEYS, kHostKeys))
        return Problem{ProblemCode::failed, "cannot be configured", {}, options.name};
    return endpoint;
}

Expected<void> check_host_key(ssh_session session, const SshOptions& options, const Endpoint& endpoint)
{
    ssh_key raw = nullptr;
    if (ssh_get_server_publickey(session, &raw) != SSH_OK)
        return Problem{ProblemCode::refused, "the host shows no key", {}, options.name};
    const SshKey key(raw);
    const HostKeyVerdict verdict = look_up_host_key(endpoint.known_hosts, endpoint.host, endpoint.port, raw);
    const std::string shown = type_of(raw) + " " + fingerprint_of(raw);
    const std::string place = verdict.file + ":" + std::to_string(verdict.line);
    const auto refuse = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::refused, std::move(message), std::move(hint), options.name};
    };
    switch (verdict.state) {
    case HostKeyState::known:
        return {};
    case HostKeyState::changed:
        return refuse(
            "the host key has changed: it shows " + shown + ", known is " + verdict.type + " " + verdict.fingerprint,
            "somebody may be listening in; only if you know that the host was set up anew, remove " + place);
    case HostKeyState::other_type:
        return refuse(
            "the host shows a key of another type: " + shown + ", known is " + verdict.type + " " + verdict.fingerprint,
            "ask who runs the host; only if the new key is right, remove " + place);
    case HostKeyState::revoked:
        return refuse("the host shows a revoked key: " + shown, "do not use this host; the entry is " + place);
    case HostKeyState::unknown:
        break;
    }
    if (!options.trust_host_key || !options.trust_host_key({options.name, type_of(raw), fingerprint_of(raw)}))
        return refuse("the host key is not known: " + shown,
            "compare it with the host's own; then run once with --accept-new-hosts, or add it to ~/.ssh/known_hosts");
    return remember_host_key(own_known_hosts(), session);
}

Expected<void> authenticate(ssh_session session, const SshOptions& options)
{
    int result = ssh_userauth_none(session, nullptr);
    if (result == SSH_AUTH_SUCCESS)
        return {};
    const int methods = ssh_userauth_list(session, nullptr);
    if (result == SSH_AUTH_ERROR)
        return Problem{ProblemCode::network,
            std::string("the connection broke while logging in: ") + ssh_get_error(session), {}, options.name};
    if (!options.host.key_file.empty()) {
        const std::string file = expanded(options.host.key_file);
        ssh_key raw = nullptr;
        if (ssh_pki_import_privkey_file(file.c_str(), nullptr, nullptr, nullptr, &raw) != SSH_OK) {
            const bool there = access(file.c_str(), R_OK) == 0;
            return Problem{there ? ProblemCode::refused : ProblemCode::not_found,
                there ? "the key file is protected by a passphrase or is no private key"
                      : "the key file cannot be read",
                there ? "load it into ssh-agent (ssh-add) and leave key_file out" : "check key_file of the target",
                options.name + ": " + file};
        }
        const SshKey key(raw);
        result = ssh_userauth_publickey(session, nullptr, raw);
    } else {
        result = ssh_userauth_publickey_auto(session, nullptr, nullptr);
    }
    if (result == SSH_AUTH_SUCCESS)
        return {};
    const std::string user = option(session, SSH_OPTIONS_USER);
    std::string message = "the host accepts none of your keys" + (user.empty() ? "" : " for user " + user);
    if ((methods & SSH_AUTH_METHOD_PUBLICKEY) == 0)
        message = "the host does not allow keys; passwords are not used";
    return Problem{ProblemCode::refused, message,
        "add your public key to ~/.ssh/authorized_keys on the host, or load the right key into ssh-agent",
        options.name};
}

Expected<std::unique_ptr<ByteStream>> open_command(SshSession& session, const SshOptions& options)
{
    ssh_channel channel = ssh_channel_new(session.get());
    if (!channel || ssh_channel_open_session(channel) != SSH_OK
        || ssh_channel_request_exec(channel, remote_command().data()) != SSH_OK) {
        Problem problem{ProblemCode::network,
            std::string("the host does not run a command: ") + ssh_get_error(session.get()),
            "see MaxSessions and ForceCommand of its sshd", options.name};
        if (channel)
            ssh_channel_free(channel);
        return problem;
    }
    return std::unique_ptr<ByteStream>(std::make_unique<SshStream>(std::move(session), channel, options.name));
}

} // namespace

SshTransport::SshTransport(SshOptions options)
    : options_(std::move(options))
{
}

Expected<std::unique_ptr<ByteStream>> SshTransport::open(std::stop_token stop)
{
    static std::once_flag initialized;
    std::call_once(initialized, [] { ssh_init(); });
    FOURFOLD_TRY(const std::string agent_sha256, sha256_file(options_.agent));
    SshSession session(ssh_new());
    if (!session)
        return Problem{ProblemCode::failed, "no memory for an SSH session", {}, options_.name};
    FOURFOLD_TRY(const Endpoint endpoint, configure(session.get(), options_));
    if (!noted_ && options_.note) {
        noted_ = true;
        if (const auto text = read_text_file(home_folder() + "/.ssh/config", 4u << 20)) {
            for (const std::string& note : ssh_config_notes(*text, options_.host.address))
                options_.note(options_.name + ": " + note);
        }
    }
    if (!endpoint.through_proxy) {
        auto fd = tcp_connect(endpoint.host, endpoint.port, options_.connect_timeout_s, stop);
        if (!fd) {
            fd.error().where = options_.name;
            return std::move(fd).error();
        }
        ssh_options_set(session.get(), SSH_OPTIONS_FD, &*fd);
    }
    // libssh's own steps cannot be interrupted; closing the line from outside ends them at once.
    if (ssh_connect(session.get()) != SSH_OK)
        return Problem{ProblemCode::network, std::string("no SSH connection: ") + ssh_get_error(session.get()),
            "see the log of the host's sshd", options_.name};
    std::unique_ptr<ByteStream> stream;
    {
        const int line = ssh_get_fd(session.get());
        const std::stop_callback interrupt(stop, [line] { shutdown(line, SHUT_RDWR); });
        const auto opened = [&]() -> Expected<void> {
            FOURFOLD_CHECK(check_host_key(session.get(), options_, endpoint));
            FOURFOLD_CHECK(authenticate(session.get(), options_));
            FOURFOLD_TRY(stream, open_command(session, options_));
            const auto progress = options_.progress ? options_.progress : [](double) {};
            return bootstrap(*stream, options_.base_folder, options_.agent, agent_sha256, stop, progress);
        }();
        if (!opened) {
            Problem problem = opened.error();
            if (stop.stop_requested())
                problem = {ProblemCode::cancelled, "stopped while connecting", {}, {}};
            if (problem.where.empty())
                problem.where = options_.name;
            return problem;
        }
    }
    return stream;
}

} // namespace fourfold
