// SPDX-License-Identifier: GPL-3.0-or-later
// The way to a supervisor that needs no file: it tells a hung one from none, and serves nobody else.
#include "runner/agent/supervision/supervisor_door.h"

#include "core/base/sha256.h"
#include "runner/protocol/message.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <thread>

namespace fourfold {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;

class Door : public testing::Test {
protected:
    // Of this process and test alone.
    const std::filesystem::path folder = "/runs/door-test-" + std::to_string(getpid());

    // The door's name as anybody can make it up.
    [[nodiscard]] std::pair<sockaddr_un, socklen_t> name() const
    {
        sockaddr_un out{};
        out.sun_family = AF_UNIX;
        const std::string text = "fourfold/" + std::to_string(geteuid()) + "/" + sha256_hex(folder.string());
        std::memcpy(out.sun_path + 1, text.data(), text.size());
        return {out, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())};
    }
    // Exit status of what another user does in a process of its own.
    static int as_nobody(const std::function<int()>& act)
    {
        const pid_t pid = fork();
        if (pid == 0)
            _exit(setresuid(kNobody, kNobody, kNobody) == 0 ? act() : 99);
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

TEST_F(Door, AnswersWhatIsAsked)
{
    auto door = SupervisorDoor::open(folder);
    ASSERT_TRUE(door);
    EXPECT_FALSE(SupervisorDoor::open(folder)) << "one supervisor a run";
    std::jthread supervisor([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::vector<pollfd> waiting;
            door->add_to(waiting);
            poll(waiting.data(), waiting.size(), 5);
            door->serve([](const Json& request) {
                return Json{{"state", "running"}, {"asked", text_field(request, "do")}};
            });
        }
    });
    SupervisorLine line(folder), other(folder);
    for (const char* what : {"look", "stop", "followed"}) {
        const auto answer = line.ask({{"do", what}}, 30s);
        ASSERT_TRUE(answer) << what;
        EXPECT_EQ(text_field(*answer, "asked"), what);
    }
    EXPECT_EQ(line.supervisor().pid, getpid());
    EXPECT_TRUE(is_alive(line.supervisor()));
    EXPECT_EQ(line.silence(), 0);
    // The answer to an earlier question is not taken for that of a later one.
    other.look();
    const auto answer = other.ask({{"do", "stop"}}, 30s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(text_field(*answer, "asked"), "stop");
}

TEST_F(Door, TellsAHungSupervisorFromNone)
{
    SupervisorLine line(folder);
    EXPECT_FALSE(line.ask({{"do", "look"}}, 10ms));
    EXPECT_FALSE(line.connected()) << "there is none";
    auto door = SupervisorDoor::open(folder);
    EXPECT_FALSE(line.ask({{"do", "look"}}, 10ms));
    EXPECT_TRUE(line.connected()) << "there is one that says nothing";
    EXPECT_EQ(line.supervisor().pid, getpid());
    EXPECT_GT(line.silence(), 0);
    door.reset();
    line.look();
    EXPECT_FALSE(line.connected());
}

// A supervisor's number is never that of a process that came after it.
TEST_F(Door, IsGoneWithItsProcess)
{
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const auto door = SupervisorDoor::open(folder);
        (void)!write(ready[1], "r", 1);
        pause();
        _exit(0);
    }
    char c = 0;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    SupervisorLine line(folder);
    EXPECT_FALSE(line.ask({{"do", "look"}}, 10ms));
    EXPECT_EQ(line.supervisor().pid, pid);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    EXPECT_FALSE(line.ask({{"do", "look"}}, 10ms));
    EXPECT_FALSE(line.connected());
    EXPECT_FALSE(is_alive(line.supervisor()));
    close(ready[0]);
    close(ready[1]);
}

TEST_F(Door, ServesItsOwnUserAlone)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "to be another user needs root";
    auto door = SupervisorDoor::open(folder);
    ASSERT_TRUE(door);
    const auto [place, size] = name();
    int asked = 0;
    std::jthread supervisor([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(1ms);
            door->serve([&](const Json&) {
                ++asked;
                return Json::object();
            });
        }
    });
    EXPECT_EQ(as_nobody([&] {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(fd, reinterpret_cast<const sockaddr*>(&place), size) != 0)
            return 1;
        const std::string stop = R"({"do":"stop","status":"cancelled"})";
        (void)!send(fd, stop.data(), stop.size(), MSG_NOSIGNAL);
        char answer = 0;
        return recv(fd, &answer, 1, 0) > 0 ? 2 : 0; // hung up, unread or not
    }),
        0);
    supervisor.request_stop();
    supervisor.join();
    EXPECT_EQ(asked, 0);
}

// Who has taken the name first is not believed.
TEST_F(Door, ASquatterIsNotAsked)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "to be another user needs root";
    const auto [place, size] = name();
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        const bool there = setresuid(kNobody, kNobody, kNobody) == 0
            && bind(fd, reinterpret_cast<const sockaddr*>(&place), size) == 0 && listen(fd, 5) == 0;
        (void)!write(ready[1], there ? "r" : "x", 1);
        pause();
        _exit(0);
    }
    char c = 0;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    ASSERT_EQ(c, 'r');
    EXPECT_FALSE(SupervisorDoor::open(folder));
    SupervisorLine line(folder);
    EXPECT_FALSE(line.ask({{"do", "look"}}, 10ms));
    EXPECT_FALSE(line.connected());
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
}

} // namespace
} // namespace fourfold
