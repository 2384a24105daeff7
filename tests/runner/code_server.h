// SPDX-License-Identifier: GPL-3.0-or-later
// A server that lets in whoever answers its question for a one-time code, and then has nothing to offer.
#pragma once

#include "runner/ssh/ssh_session.h"

#include <libssh/server.h>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

namespace fourfold::test {

class CodeServer {
public:
    explicit CodeServer(const std::filesystem::path& host_key)
        : bind_(ssh_bind_new())
    {
        const std::string key = host_key.string();
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
        const unsigned any = 0;
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDPORT, &any);
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_HOSTKEY, key.c_str());
        EXPECT_EQ(ssh_bind_listen(bind_), SSH_OK) << ssh_get_error(bind_);
        sockaddr_in at{};
        socklen_t size = sizeof at;
        getsockname(ssh_bind_get_fd(bind_), reinterpret_cast<sockaddr*>(&at), &size);
        port = ntohs(at.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~CodeServer()
    {
        stop_ = true;
        shutdown(ssh_bind_get_fd(bind_), SHUT_RDWR);
        thread_.join();
        ssh_bind_free(bind_);
    }
    static constexpr const char* kCode = "123456"; // that it wants
    int port = 0;
    [[nodiscard]] int logins() const { return logins_; }

private:
    void serve()
    {
        while (!stop_) {
            SshSession session(ssh_new());
            if (ssh_bind_accept(bind_, session.get()) != SSH_OK)
                return;
            if (ssh_handle_key_exchange(session.get()) == SSH_OK)
                authenticate(session.get());
            ssh_disconnect(session.get());
        }
    }
    void authenticate(ssh_session session)
    {
        while (ssh_message message = ssh_message_get(session)) {
            bool done = false;
            if (ssh_message_type(message) == SSH_REQUEST_AUTH
                && ssh_message_subtype(message) == SSH_AUTH_METHOD_INTERACTIVE) {
                if (!ssh_message_auth_kbdint_is_response(message)) {
                    const char* prompts[] = {"Code\x1b[31m: "};
                    char echo[] = {0};
                    ssh_message_auth_interactive_request(message, "", "One-time", 1, prompts, echo);
                    ssh_message_free(message);
                    continue;
                }
                const char* answer = ssh_userauth_kbdint_getanswer(session, 0);
                if (answer && std::string(answer) == kCode) {
                    ssh_message_auth_reply_success(message, 0);
                    done = true;
                }
            }
            if (!done) {
                ssh_message_auth_set_methods(message, SSH_AUTH_METHOD_INTERACTIVE);
                ssh_message_reply_default(message);
            }
            ssh_message_free(message);
            if (done) {
                ++logins_;
                return;
            }
        }
    }

    ssh_bind bind_;
    std::atomic<bool> stop_ = false;
    std::atomic<int> logins_ = 0;
    std::thread thread_;
};

} // namespace fourfold::test
