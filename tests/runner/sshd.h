// SPDX-License-Identifier: GPL-3.0-or-later
// A real sshd of the test's own: own host key, own port on loopback (or an address of a network namespace), own
// authorized_keys, own home folder, nothing of the machine's configuration.
#pragma once

#include "runner/target/target.h"
#include "tests/runner/support.h"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::test {

// Empty when an sshd can be run here, else why not (for GTEST_SKIP).
std::string why_no_sshd();

struct SshdPlace {
    std::string address = "127.0.0.1";
    int port = 0; // 0 = a free one
    std::string netns = {}; // network namespace it runs in; empty = this one
    std::string shell_file = {}; // what bash reads before each command
    std::string lines = {}; // further ones of sshd_config
    // A file that stands for the kernel's boot id: then the server and all that it starts live in a process namespace
    // of their own, and stop() ends all of it as a loss of power does. Needs root.
    std::string boot_id_file = {};
    bool own_disk = false; // the base folder of ssh_target() is a folder of this server alone, see disk(); needs root
    std::string variable = {}; // a further one of logins: "PATH=/tools"
};

class Sshd {
public:
    Sshd(const Home& home, std::string name, SshdPlace place = {});
    Sshd(const Sshd&) = delete;
    Sshd& operator=(const Sshd&) = delete;
    ~Sshd();

    void start(); // waits until it answers
    void stop();
    void make_host_key(); // a new one
    // Ends the server's side of every open connection at once; returns how many there were.
    int cut_connections();
    // Stops it: the connections stay, and take and say nothing any more.
    void freeze_connections();

    [[nodiscard]] TargetHost host() const;
    [[nodiscard]] std::filesystem::path disk() const; // the base folder as this process sees it
    [[nodiscard]] std::string fingerprint() const; // of the host key, by ssh-keygen
    [[nodiscard]] int port() const { return place_.port; }

private:
    int signal_connections(int number);

    const Home& home_;
    std::string name_;
    SshdPlace place_;
    std::filesystem::path folder_;
    pid_t pid_ = 0;
};

// The key that all these servers accept.
std::filesystem::path client_key(const Home& home);
// A target of these servers: own base folder below `home`, files not reused (so that they are really sent).
Target ssh_target(const Home& home, const std::vector<const Sshd*>& hosts);
// A person's ssh: `command` on a terminal of that server.
std::vector<std::string> login_command(const Home& home, const Sshd& server, const std::string& command);
// Runs a program and waits; its exit status, output dropped.
int run_program(const std::vector<std::string>& arguments);

} // namespace fourfold::test
