// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/input_file.h"
#include "core/base/json.h"
#include "core/base/sha256.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fourfold {
namespace {

class Files : public testing::Test {
protected:
    Files()
    {
        std::string name = (std::filesystem::temp_directory_path() / "fourfold-files-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Files() override
    {
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::vector<std::string> entries() const
    {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            out.push_back(entry.path().filename().string());
        std::sort(out.begin(), out.end());
        return out;
    }
    std::filesystem::path folder_;
};

// Runs `body` in a child process (limits and users of this process stay as they are); its result is the exit status.
template <typename Body>
int in_child(const Body& body)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(Files, AFolderThatCannotBeMadeSaysWhy)
{
    ASSERT_TRUE(make_folders(folder_ / "a/b"));
    ASSERT_TRUE(make_folders(folder_ / "a/b/")); // there already
    EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a/b"));

    std::ofstream(folder_ / "file") << "x";
    const auto in_the_way = make_folders(folder_ / "file/presets/clusters");
    ASSERT_FALSE(in_the_way);
    EXPECT_EQ(in_the_way.error().where, (folder_ / "file").string());
    EXPECT_EQ(in_the_way.error().message, "is not a folder");
    EXPECT_EQ(in_the_way.error().exit_status(), 1);

    // As a user for whom permissions hold; for root nothing can be made in a folder of /proc.
    const bool root = ::geteuid() == 0;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto closed = make_folders(root ? "/proc/self/presets/clusters" : folder_ / "presets/clusters");
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().where, root ? "/proc/self/presets" : (folder_ / "presets").string());
    EXPECT_TRUE(closed.error().message.starts_with("this folder cannot be made: ")) << closed.error().line();
    EXPECT_EQ(closed.error().exit_status(), 1);
}

TEST_F(Files, WritesAndReplaces)
{
    const auto file = folder_ / "a.json";
    ASSERT_TRUE(write_file_atomically(file, "one"));
    EXPECT_EQ(*read_text_file(file), "one");
    ASSERT_TRUE(write_file_atomically(file, std::string(1 << 20, 'x')));
    EXPECT_EQ(read_text_file(file)->size(), 1u << 20);
    ASSERT_TRUE(write_file_atomically(file, ""));
    EXPECT_EQ(*read_text_file(file), "");
    EXPECT_EQ(entries(), std::vector<std::string>{"a.json"});
}

TEST_F(Files, KeepsTheModeAndTheLink)
{
    const auto file = folder_ / "real", link = folder_ / "link";
    ASSERT_TRUE(write_file_atomically(file, "one"));
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    std::filesystem::create_symlink("real", link);
    ASSERT_TRUE(write_file_atomically(link, "two"));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(*read_text_file(file), "two");
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
}

TEST_F(Files, NewFilesFollowTheUmask)
{
    EXPECT_EQ(in_child([&] {
        ::umask(027);
        return write_file_atomically(folder_ / "new", "x") ? 0 : 1;
    }),
        0);
    EXPECT_EQ(std::filesystem::status(folder_ / "new").permissions(), std::filesystem::perms(0640));
}

TEST_F(Files, RelativeNames)
{
    EXPECT_EQ(in_child([&] {
        std::filesystem::current_path(folder_);
        return write_file_atomically("plain.json", "x") ? 0 : 1;
    }),
        0);
    EXPECT_EQ(*read_text_file(folder_ / "plain.json"), "x");
}

TEST_F(Files, ReadersSeeOldOrNewContent)
{
    const auto file = folder_ / "a";
    const std::string old_text(200'000, 'a'), new_text(200'000, 'b');
    ASSERT_TRUE(write_file_atomically(file, old_text));
    std::jthread writer([&](const std::stop_token& stop) {
        for (int i = 0; i < 100 && !stop.stop_requested(); ++i)
            (void)write_file_atomically(file, i % 2 ? old_text : new_text);
    });
    for (int i = 0; i < 200; ++i) {
        const auto text = read_text_file(file);
        ASSERT_TRUE(text);
        EXPECT_TRUE(*text == old_text || *text == new_text);
    }
}

TEST_F(Files, AFullDiskLeavesTheOldFileAndNothingElse)
{
    // The limit on file sizes fails inside write() just as a full disk does, and needs no rights.
    const auto file = folder_ / "a.json";
    ASSERT_TRUE(write_file_atomically(file, "old"));
    EXPECT_EQ(in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto result = write_file_atomically(file, std::string(100'000, 'x'));
        return !result && result.error().code == ProblemCode::io && !result.error().hint.empty() ? 0 : 1;
    }),
        0);
    EXPECT_EQ(*read_text_file(file), "old");
    EXPECT_EQ(entries(), std::vector<std::string>{"a.json"});
}

TEST_F(Files, ARealFullDisk)
{
    if (::geteuid() != 0)
        GTEST_SKIP() << "mounting a small file system needs root";
    const auto disk = folder_ / "disk";
    std::filesystem::create_directory(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
        GTEST_SKIP() << "needs the right to mount a small file system";
    EXPECT_TRUE(write_file_atomically(disk / "a", "old"));
    const auto result = write_file_atomically(disk / "a", std::string(1 << 20, 'x'));
    const auto kept = read_text_file(disk / "a");
    const auto left = std::distance(std::filesystem::directory_iterator(disk), {});
    ::umount2(disk.c_str(), MNT_DETACH);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ProblemCode::io);
    EXPECT_NE(result.error().line().find("free some space"), std::string::npos) << result.error().line();
    EXPECT_EQ(result.error().exit_status(), 1);
    ASSERT_TRUE(kept);
    EXPECT_EQ(*kept, "old");
    EXPECT_EQ(left, 1);
}

TEST_F(Files, ReadOnlyFolder)
{
    ASSERT_TRUE(write_file_atomically(folder_ / "a", "old"));
    std::filesystem::permissions(folder_, std::filesystem::perms(0555));
    EXPECT_EQ(in_child([&] {
        // Root may write everywhere: become nobody.
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
            return 2;
        const auto result = write_file_atomically(folder_ / "a", "new");
        return !result && result.error().code == ProblemCode::io && !result.error().hint.empty() ? 0 : 1;
    }),
        0);
    EXPECT_EQ(*read_text_file(folder_ / "a"), "old");
    EXPECT_EQ(entries(), std::vector<std::string>{"a"});
}

TEST_F(Files, DevicesAreWrittenInPlace)
{
    const auto full = write_file_atomically("/dev/full", "x");
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().line().find("free some space"), std::string::npos) << full.error().line();
    EXPECT_TRUE(write_file_atomically("/dev/null", "x"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Files, Problems)
{
    EXPECT_FALSE(write_file_atomically(folder_, "x"));
    const auto missing = write_file_atomically(folder_ / "no" / "file", "x");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().where, (folder_ / "no" / "file").string());
    EXPECT_EQ(read_text_file(folder_ / "no").error().code, ProblemCode::not_found);
    // Only a missing folder is blamed on the folder; a bare name lies in the current one.
    EXPECT_EQ(read_text_file(folder_ / "no").error().hint, "");
    EXPECT_EQ(read_text_file("no such file").error().hint, "");
    EXPECT_NE(read_text_file(folder_ / "no" / "file").error().hint.find("folder"), std::string::npos);
    EXPECT_EQ(read_text_file(folder_).error().code, ProblemCode::bad_input) << "a folder in place of a file";
    EXPECT_TRUE(entries().empty());
}

TEST_F(Files, SizeIsLimited)
{
    ASSERT_TRUE(write_file_atomically(folder_ / "a", "12345"));
    EXPECT_TRUE(read_text_file(folder_ / "a", 5));
    const auto large = read_text_file(folder_ / "a", 4);
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().line().find("larger than 4 bytes"), std::string::npos);
    EXPECT_FALSE(read_text_file("/dev/zero", 1 << 20)); // endless input ends at the limit
}

// Nobody writes into the pipe: whoever waited for one would wait for ever.
TEST_F(Files, OnlyFilesAreReadWhereAFileIsExpected)
{
    const auto pipe = folder_ / "pipe", link = folder_ / "link";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_symlink(pipe, link);
    const int ended = in_child([&] {
        ::alarm(20);
        for (const auto& file : {pipe, link}) {
            const auto text = read_text_file(file);
            const auto json = read_json_file(file);
            const auto hash = sha256_file(file);
            for (const auto& error : {text.error(), json.error(), hash.error()}) {
                if (error.code != ProblemCode::bad_input || error.message != "is a pipe, expected a file")
                    return 1;
            }
        }
        return 0;
    });
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(read_text_file("/dev/zero").error().message, "is a device, expected a file");
    EXPECT_EQ(read_text_file(folder_).error().message, "is a folder, expected a file");
    EXPECT_EQ(*read_text_file("/dev/null"), "");
}

TEST_F(Files, TheLimitOfOpenFilesIsNamed)
{
    std::ofstream(folder_ / "a") << "x";
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr rlim_t kFew = 16;
        const rlimit few{kFew, kFew};
        (void)::setrlimit(RLIMIT_NOFILE, &few);
        std::vector<std::ifstream> open;
        for (rlim_t i = 0; i < kFew; ++i)
            open.emplace_back(folder_ / "a");
        const auto text = read_text_file(folder_ / "a");
        ::_exit(
            !text && text.error().line().find("(raise the limit of this session: ulimit -n is 16)") != std::string::npos
                ? 0
                : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(Files, AnInputMayBeAPipe)
{
    const auto pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << std::string(100'000, 'x'); });
    EXPECT_EQ(read_input(pipe)->size(), 100'000u);
    writer.join();
    EXPECT_FALSE(read_input("/dev/zero", 1 << 20)) << "endless input ends at the limit";
    EXPECT_EQ(read_input(folder_).error().message, "is a folder, expected a file");
}

TEST_F(Files, LongLinesAreCutShort)
{
    std::istringstream in(std::string(50'000, 'a') + "\nb\n\nlast");
    std::string line;
    bool whole = true;
    ASSERT_TRUE(read_line(in, line, 40'000, whole));
    EXPECT_FALSE(whole);
    EXPECT_LE(line.size(), 40'000u);
    ASSERT_TRUE(read_line(in, line, 40'000, whole));
    EXPECT_TRUE(whole) << "the rest";
    std::istringstream shorter(std::string(20'000, 'a') + "\nb");
    for (const char* next : {"", "b"}) {
        ASSERT_TRUE(read_line(shorter, line, 18'000, whole));
        if (*next == '\0') {
            EXPECT_FALSE(whole);
            ASSERT_TRUE(read_line(shorter, line, 18'000, whole));
        }
        EXPECT_EQ(line, next);
    }
    std::ifstream endless("/dev/zero");
    ASSERT_TRUE(read_line(endless, line, 40'000, whole));
    EXPECT_FALSE(whole);
    for (const char* next : {"b", "", "last"}) {
        ASSERT_TRUE(read_line(in, line, 40'000, whole));
        EXPECT_TRUE(whole);
        EXPECT_EQ(line, next);
    }
    EXPECT_FALSE(read_line(in, line, 40'000, whole));
}

TEST_F(Files, JsonFilesNameThemselves)
{
    const auto file = folder_ / "a.json";
    ASSERT_TRUE(write_file_atomically(file, "{\"a\": }"));
    const auto json = read_json_file(file);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().line().find(file.string() + ": not valid JSON: line 1, column 7"), 0u)
        << json.error().line();
}

TEST_F(Files, Sha256)
{
    // FIPS 180-4 examples.
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const std::string million(1'000'000, 'a');
    ASSERT_TRUE(write_file_atomically(folder_ / "a", million));
    EXPECT_EQ(*sha256_file(folder_ / "a"), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sha256_hex(million), *sha256_file(folder_ / "a"));
    EXPECT_EQ(sha256_file(folder_ / "no").error().code, ProblemCode::not_found);
    EXPECT_EQ(sha256_file(folder_).error().code, ProblemCode::bad_input);
}

} // namespace
} // namespace fourfold
