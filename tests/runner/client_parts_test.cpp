// SPDX-License-Identifier: GPL-3.0-or-later
// Targets, the bundle, SSH's rules and the constant remote command, without any connection.
#include "core/base/file_descriptor.h"
#include "runner/bundle/trainer_libraries.h"
#include "runner/nodes/node.h"
#include "runner/nodes/reconnect.h"
#include "runner/runs/run_id.h"
#include "runner/ssh/known_hosts.h"
#include "runner/ssh/ssh_agent.h"
#include "runner/ssh/ssh_config_notes.h"
#include "runner/ssh/ssh_transport.h"
#include "tests/runner/sshd.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace fourfold::test {
namespace {

// libssh would wait for it without end and without a word.
TEST(SshAgent, OneThatHangsIsNotWaitedFor)
{
    const PlainFolder folder;
    const std::string socket = (folder.path() / "agent").string();
    EXPECT_TRUE(agent_answers(socket, 0.1)) << "nothing listens";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(socket.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
    const FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 4), 0);
    EXPECT_FALSE(agent_answers(socket, 0.1));
    const std::jthread agent([&] {
        for (int i = 0; i < 2; ++i) { // the one that was given up, then the next
            const FileDescriptor line(::accept(listener.get(), nullptr, nullptr));
            const unsigned char none[]{0, 0, 0, 5, 12, 0, 0, 0, 0};
            (void)::send(line.get(), none, sizeof none, MSG_NOSIGNAL);
        }
    });
    EXPECT_TRUE(agent_answers(socket, 10));
}

TEST(Bundles, LibrariesOfAProgram)
{
    const auto libraries = shared_libraries(fake_trainer());
    ASSERT_TRUE(libraries) << libraries.error().line();
    std::set<std::string> names;
    for (const SharedLibrary& library : *libraries) {
        names.insert(library.name);
        EXPECT_TRUE(std::filesystem::exists(library.file)) << library.file;
    }
    EXPECT_TRUE(names.contains("libstdc++.so.6"));
    for (const std::string& name : names)
        EXPECT_FALSE(name.starts_with("libc.so") || name.starts_with("ld-linux") || name.starts_with("libm.so"))
            << name;
    const auto needed = needed_glibc_minor(fake_trainer());
    ASSERT_TRUE(needed);
    EXPECT_GE(*needed, 2);
    EXPECT_FALSE(shared_libraries(FOURFOLD_SOURCE_DIR "/LICENSE"));
    EXPECT_EQ(shared_libraries("/no/such/file").error().code, ProblemCode::not_found);
}

// Where a package was built is any folder on another computer.
TEST(Bundles, TheBuildersLibTorchCountsWhereNobodyElseCanPutOne)
{
    umask(022);
    std::string pattern = (std::filesystem::temp_directory_path() / "builder.XXXXXX").string();
    const std::filesystem::path top = std::filesystem::canonical(mkdtemp(pattern.data()));
    const auto torch = top / "build/torch", library = torch / "lib/libtorch_cpu.so";
    std::filesystem::create_directories(torch / "lib");
    std::ofstream(library) << "x";
    chmod(top.c_str(), 0755);
    EXPECT_EQ(builders_libtorch(torch), torch);
    std::filesystem::create_directory_symlink(torch, top / "link");
    EXPECT_EQ(builders_libtorch(top / "link"), torch);
    for (const auto& open : {torch / "lib", torch, top / "build", top}) {
        for (const mode_t mode : {0777, 0775, 01777}) {
            chmod(open.c_str(), mode);
            const bool sticky_above = mode == 01777 && open == top;
            EXPECT_EQ(builders_libtorch(torch).has_value(), sticky_above) << open << ' ' << std::oct << mode;
        }
        chmod(open.c_str(), 0755);
    }
    // Root's own file, reached by anybody's link, says nothing of what lies beside it.
    std::filesystem::remove(library);
    std::filesystem::create_symlink("/bin/sh", library);
    EXPECT_FALSE(builders_libtorch(torch));
    std::filesystem::remove(library);
    EXPECT_FALSE(builders_libtorch(torch));
    if (geteuid() == 0) {
        std::ofstream(library) << "x";
        ASSERT_EQ(chown((torch / "lib").c_str(), 64123, 64123), 0);
        EXPECT_FALSE(builders_libtorch(torch));
    }
    std::filesystem::remove_all(top);
}

TEST(Bundles, TheAgentIsFullyStatic)
{
    const auto libraries = shared_libraries(agent_program());
    ASSERT_TRUE(libraries) << libraries.error().line();
    if (FOURFOLD_STATIC_AGENT) {
        EXPECT_TRUE(libraries->empty());
    }
    EXPECT_LT(std::filesystem::file_size(agent_program()), FOURFOLD_STATIC_AGENT ? 6u << 20 : 200u << 20);
}

TEST(Bundles, WhatTheLoaderPrints)
{
    const auto found = parse_loader_trace("\tlinux-vdso.so.1 (0x00007ffc)\n"
                                          "\tlibtorch.so => /opt/torch/lib/libtorch.so (0x00007f00)\n"
                                          "\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f01)\n"
                                          "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f02)\n"
                                          "\t/lib64/ld-linux-x86-64.so.2 (0x00007f03)\n",
        "p");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].file, "/opt/torch/lib/libtorch.so");
    const auto missing = parse_loader_trace("\tlibnccl.so.2 => not found\n", "p");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().line().find("libnccl.so.2"), std::string::npos);
}

TEST(SshRules, OneConstantRemoteCommand)
{
    const std::string_view command = remote_command();
    ASSERT_TRUE(command.starts_with("exec /bin/sh -c '"));
    ASSERT_TRUE(command.ends_with("'"));
    const std::string_view script = command.substr(17, command.size() - 18);
    EXPECT_EQ(script.find_first_of("'\\!\n%"), std::string_view::npos) << "a login shell may read it otherwise";
    // Nowhere else is a command sent to a host.
    int places = 0;
    const std::filesystem::path root = FOURFOLD_SOURCE_DIR; // not all of it: other tests make and remove folders there
    for (const char* room : {"app", "core", "runner"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / room)) {
            const std::string path = entry.path().string();
            if (!path.ends_with(".cpp") && !path.ends_with(".h"))
                continue;
            std::ifstream in(path);
            std::stringstream text;
            text << in.rdbuf();
            const std::string content = text.str();
            for (std::size_t at = content.find("request_exec"); at != std::string::npos;
                 at = content.find("request_exec", at + 1))
                ++places;
            for (const char* forbidden :
                {"request_shell", "request_pty", "auth_agent", "userauth_password", "ssh_scp_"})
                EXPECT_EQ(content.find(forbidden), std::string::npos) << path << ": " << forbidden;
        }
    }
    EXPECT_EQ(places, 1);
}

TEST(SshRules, ConfigurationThatHasNoEffectIsNamed)
{
    const std::string text = "Host node*  !node9\n  HostKeyAlias x\nHost other\n  CertificateFile y\n"
                             "Match user z\n  IdentitiesOnly=yes\nHost *\n  # ForwardAgent yes\n  forwardagent yes\n";
    const SshConfigText config{"~/.ssh/config", text};
    const auto notes = ssh_config_notes(config, "node1");
    ASSERT_EQ(notes.size(), 3u);
    EXPECT_TRUE(notes[0].starts_with("HostKeyAlias"));
    EXPECT_TRUE(notes[1].starts_with("IdentitiesOnly"));
    EXPECT_TRUE(notes[2].starts_with("ForwardAgent"));
    EXPECT_EQ(ssh_config_notes(config, "node9").size(), 2u);
    EXPECT_TRUE(matches_host_patterns("*.example.org a?c", "abc"));
    EXPECT_FALSE(matches_host_patterns("*.example.org", "example.org"));
}

TEST(SshRules, IncludedConfigurationCountsWhereItIsIncluded)
{
    const std::string text = "Host node1\n  Include own\n  RevokedHostKeys x\nHost *\n  Include all endless\n"
                             "  SendEnv LANG LC_*\n  RevokedHostKeys y\n";
    const auto includes = [](const std::string& words) -> std::vector<SshConfigText> {
        if (words == "own")
            return {{"own", "LocalForward 1 b:2\nHost other\n  Ciphers c\n"}};
        return {{"all", "SendEnv LANG SECRET\n"}, {"endless", "Include all endless\n"}};
    };
    EXPECT_EQ(ssh_config_notes({"config", text}, "node1", includes),
        (std::vector<std::string>{"LocalForward in own has no effect: nothing is forwarded",
            "RevokedHostKeys in config has no effect: mark the key with @revoked in ~/.ssh/known_hosts",
            "SendEnv in all has no effect: set the target's environment, it reaches the ranks"}));
    EXPECT_EQ(ssh_config_notes({"config", text}, "node2", includes).size(), 2u);
    EXPECT_EQ(ssh_config_notes({"config", text}, "other", {}).size(), 1u);
}

TEST(SshRules, KnownHostsAnswers)
{
    const Home home;
    const auto make = [&](const std::string& name, const char* type) {
        const std::string file = (home.path() / name).string();
        EXPECT_EQ(run_program({"ssh-keygen", "-q", "-t", type, "-N", "", "-f", file}), 0);
        std::ifstream in(file + ".pub");
        std::string kind, text;
        in >> kind >> text;
        return kind + " " + text;
    };
    const std::string a = make("a", "ed25519"), b = make("b", "ed25519"), c = make("c", "ecdsa");
    ssh_key raw = nullptr;
    ASSERT_EQ(ssh_pki_import_pubkey_file((home.path() / "a.pub").c_str(), &raw), SSH_OK);
    const SshKey key(raw);
    const auto file = home.path() / "known", second = home.path() / "known2";
    const auto answer = [&](const std::string& text, const std::string& more = {}) {
        std::ofstream(file) << text;
        std::ofstream(second) << more;
        return look_up_host_key({file, second, home.path() / "none"}, "node", 2222, raw);
    };
    EXPECT_EQ(answer("").state, HostKeyState::unknown);
    EXPECT_EQ(answer("# c\nnode " + a + "\n").state, HostKeyState::unknown) << "that is port 22";
    EXPECT_EQ(answer("[node]:2222 " + a + "\n").state, HostKeyState::known);
    EXPECT_EQ(answer("", "[node]:2222 " + a + "\n").state, HostKeyState::known);
    EXPECT_EQ(answer("# c\r\n[node]:2222 " + a + "\r\n").state, HostKeyState::known);
    const auto changed = answer("# one\n\n[node]:2222 " + b + "\n");
    EXPECT_EQ(changed.state, HostKeyState::changed);
    EXPECT_EQ(changed.line, 3);
    EXPECT_EQ(changed.file, file.string());
    EXPECT_TRUE(changed.fingerprint.starts_with("SHA256:"));
    EXPECT_NE(changed.fingerprint, fingerprint_of(raw));
    EXPECT_EQ(answer("[node]:2222 " + a + "\n", "[node]:2222 " + b + "\n").state, HostKeyState::changed);
    EXPECT_EQ(answer("[node]:2222 " + b + "\n", "[node]:2222 " + a + "\n").state, HostKeyState::changed);
    EXPECT_EQ(answer("[node]:2222 " + c + "\n").state, HostKeyState::other_type);
    EXPECT_EQ(answer("[node]:2222 " + c + "\n", "[node]:2222 " + a + "\n").state, HostKeyState::known);
    EXPECT_EQ(answer("[node]:2222 " + a + "\n@revoked [node]:2222 " + a + "\n").state, HostKeyState::revoked);
    EXPECT_EQ(answer("@cert-authority [node]:2222 " + a + "\n").state, HostKeyState::unknown);
    EXPECT_EQ(answer("[node]:2222 ssh-ed25519 rubbish\n\x01\x02\n[node]:2222\n").state, HostKeyState::unknown);
}

TEST(RunIds, AreUniqueAndSorted)
{
    std::set<std::string> ids;
    std::string before;
    for (int i = 0; i < 1000; ++i) {
        const std::string id = new_run_id();
        ASSERT_EQ(id.size(), 26u);
        ASSERT_GE(id.substr(0, 10), before.substr(0, std::min<std::size_t>(10, before.size())));
        ASSERT_TRUE(ids.insert(id).second);
        before = id;
    }
}

TEST(RunStates, NamesGoBothWays)
{
    for (int i = 0; i <= static_cast<int>(RunState::lost); ++i) {
        const auto state = static_cast<RunState>(i);
        EXPECT_EQ(run_state(name(state)), state);
        EXPECT_EQ(is_terminal(state), i >= static_cast<int>(RunState::ok));
    }
    EXPECT_EQ(run_state("completed?"), RunState::fail) << "an unknown end is no success";
}

TEST(Reconnect, WaitsLongerEachTimeAndFromTheBeginningOnceReached)
{
    using namespace std::chrono_literals;
    Reconnect attempts;
    const Problem cut{ProblemCode::network, "cut", {}, "host"};
    for (const auto wait : {300ms, 600ms, 1200ms, 2400ms, 4800ms, 9600ms, 10000ms, 10000ms})
        EXPECT_EQ(attempts.wait_after(cut), wait);
    EXPECT_TRUE(attempts.is_news(cut));
    EXPECT_FALSE(attempts.is_news(cut));
    EXPECT_TRUE(attempts.is_news({ProblemCode::network, "another", {}, "host"}));
    attempts.reached();
    EXPECT_EQ(attempts.wait_after(cut), 300ms);
    EXPECT_TRUE(attempts.is_news(cut));
}

TEST(Reconnect, WhatDoesNotPassIsNotTriedAgain)
{
    for (const ProblemCode code : {ProblemCode::conflict, ProblemCode::bad_input, ProblemCode::not_found,
             ProblemCode::unsupported, ProblemCode::cancelled})
        EXPECT_FALSE(Reconnect().wait_after({code, "no", {}, {}})) << static_cast<int>(code);
    for (const ProblemCode code : {ProblemCode::network, ProblemCode::refused, ProblemCode::io, ProblemCode::failed})
        EXPECT_TRUE(Reconnect().wait_after({code, "later", {}, {}})) << static_cast<int>(code);
}

TEST(Reconnect, GivesUpAfterItsLimit)
{
    for (const ProblemCode code : {ProblemCode::network, ProblemCode::refused}) {
        const Problem problem{code, "no", {}, {}};
        EXPECT_FALSE(Reconnect(0).wait_after(problem)) << "not at all";
        Reconnect attempts(0.1);
        EXPECT_TRUE(attempts.wait_after(problem));
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        EXPECT_FALSE(attempts.wait_after(problem));
        attempts.reached();
        EXPECT_TRUE(attempts.wait_after(problem));
    }
}

// A worker that is done may find the box full of what it posted before: everything is still taken, and nobody waits
// for the other for ever.
TEST(OnAllNodes, WhatWorkersPostIsTakenToTheLast)
{
    std::vector<Node> nodes(2);
    Mailbox mailbox;
    int taken = 0;
    const auto done = on_all_nodes(nodes, mailbox, {}, [&](Node&, std::stop_token) -> Expected<void> {
        for (int i = 0; i < 300; ++i)
            mailbox.post([&taken] {
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                ++taken;
            });
        return {};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(taken, 600);
    EXPECT_FALSE(mailbox.take(std::chrono::milliseconds(0)));
}

} // namespace
} // namespace fourfold::test
