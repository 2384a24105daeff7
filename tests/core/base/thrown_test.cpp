// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/thrown.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace fourfold {
namespace {

TEST(UnlessThrown, WhatIsThrownIsAProblemAtItsPlace)
{
    const auto answer = unless_thrown("plans:7", [] { return Expected<int>(42); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, 42);
    const auto refused = unless_thrown("plans:7", [] {
        return Expected<int>(Problem{ProblemCode::bad_input, "no", "", "x"});
    });
    EXPECT_EQ(refused.error().line(), "x: no");

    const auto memory = unless_thrown("plans:7", []() -> Expected<int> { throw std::bad_alloc(); });
    ASSERT_FALSE(memory);
    EXPECT_TRUE(memory.error().line().starts_with("plans:7: there is not enough memory for this"));
    EXPECT_EQ(memory.error().exit_status(), 1);
    const auto other = unless_thrown("plans:7", []() -> Expected<int> { throw std::runtime_error("odd"); });
    EXPECT_EQ(other.error().line(), "plans:7: unexpected: odd (please report this with the command line)");
}

TEST(UnlessThrown, ACurrentFolderThatWasRemovedIsNamed)
{
    const pid_t child = ::fork();
    if (child == 0) {
        char name[] = "/tmp/fourfold-gone-XXXXXX";
        const bool gone = ::mkdtemp(name) && ::chdir(name) == 0 && ::rmdir(name) == 0;
        const auto refused = unless_thrown("x", []() -> Expected<int> {
            (void)std::filesystem::absolute("a");
            return 0;
        });
        ::_exit(gone && !refused && refused.error().line().starts_with("x: the current folder was removed") ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// Not a fault of the program's, so nobody is asked to report it.
TEST(UnlessThrown, ALimitIsNamed)
{
    const auto line = [](int error) {
        const auto refused = unless_thrown(
            "x", [error]() -> Expected<int> { throw std::system_error(error, std::generic_category(), "odd"); });
        EXPECT_EQ(refused.error().exit_status(), 1);
        return refused.error().line();
    };
    EXPECT_TRUE(line(EMFILE).starts_with("x: too many files are open (raise the limit")) << line(EMFILE);
    EXPECT_TRUE(line(EAGAIN).starts_with("x: no further thread can be started (raise the limits")) << line(EAGAIN);
    EXPECT_TRUE(line(ENOMEM).starts_with("x: there is not enough memory for this")) << line(ENOMEM);
    EXPECT_EQ(line(ENOSPC), "x: the system refused: No space left on device");
}

#ifndef __SANITIZE_ADDRESS__ // which has terabytes of addresses from the start
TEST(UnlessThrown, TheMemoryLimitOfTheSessionIsNamed)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{1u << 30, 1u << 30};
        ::setrlimit(RLIMIT_AS, &limit);
        const auto memory = unless_thrown("x", []() -> Expected<int> { throw std::bad_alloc(); });
        const auto threads
            = unless_thrown("x", []() -> Expected<int> { throw std::system_error(EAGAIN, std::generic_category()); });
        const bool named = memory.error().line().find("ulimit -v is 1048576") != std::string::npos
            && threads.error().line().find("ulimit -v is 1048576") != std::string::npos;
        ::_exit(named ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}
#endif

} // namespace
} // namespace fourfold
