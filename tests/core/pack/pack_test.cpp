// SPDX-License-Identifier: GPL-3.0-or-later
// The work from text to token file: what is written, and what is left where it is cut.
#include "core/dataset/token_index.h"
#include "core/pack/pack.h"
#include "pack_support.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fourfold {
namespace {

using namespace testing_pack;
using testing::ElementsAre;
using testing::HasSubstr;

Expected<PackResult> pack_now(const PackRequest& request)
{
    return pack(request, [](const PackProgress&) {}, {});
}

PackRequest request_of(const Folder& folder, const std::vector<std::string>& inputs)
{
    PackRequest request;
    request.inputs = inputs;
    request.tokenizer = folder.write("tokenizer.json", letters_tokenizer());
    request.output = folder / "out";
    request.threads = 2;
    return request;
}

// About `megabytes` of documents of random letters.
std::string many_documents(int megabytes)
{
    std::mt19937 random(7);
    std::string lines;
    while (lines.size() < std::size_t(megabytes) << 20) {
        lines += "{\"text\": \"";
        for (std::size_t left = random() % 4000; left > 0; --left)
            lines += static_cast<char>('a' + random() % 26);
        lines += "\"}\n";
    }
    return lines;
}

TEST(Pack, DocumentsOneBehindTheOther)
{
    const Folder folder;
    const PackRequest request = request_of(folder,
        {folder.write("a.jsonl", "{\"text\": \"abc\"}\n{\"text\": \"\"}\n"), folder.write("b.txt", "z!"),
            folder.write("c.jsonl", "{\"text\": \"a</s>b\"}")});
    const auto result = pack_now(request);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_THAT(
        numbers_of<std::uint16_t>(bytes_of(folder / "out.bin")), ElementsAre(0, 1, 2, 26, 25, 27, 26, 0, 26, 1, 26));
    EXPECT_EQ(result->documents, 3);
    EXPECT_EQ(result->left_out, 1);
    EXPECT_EQ(result->tokens, 11);
    EXPECT_EQ(result->vocabulary, 28U);
    const auto index = TokenIndex::open(folder / "out.idx");
    ASSERT_TRUE(index);
    EXPECT_EQ((*index)->sequences(), 3);
    EXPECT_EQ((*index)->sequence(1)->first_byte, 8);
    EXPECT_EQ((*index)->sequence(1)->tokens, 3);
    EXPECT_FALSE(fs::exists(folder / "out.partial"));
}

TEST(Pack, EndsAndTemplates)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    const auto tokens_with = [&](const std::string& name) {
        request.output = folder / name;
        const auto result = pack_now(request);
        EXPECT_TRUE(result) << result.error().line();
        return numbers_of<std::uint16_t>(bytes_of(folder / (name + ".bin")));
    };
    request.end_token = "";
    EXPECT_THAT(tokens_with("none"), ElementsAre(0, 1));
    request.end_token = "z";
    EXPECT_THAT(tokens_with("z"), ElementsAre(0, 1, 25));
    request.apply_template = true;
    EXPECT_THAT(tokens_with("template"), ElementsAre(27, 0, 1, 25));
    request.end_token.reset();
    ASSERT_FALSE(folder.write("tokenizer_config.json", R"({"eos_token": {"content": "y"}})").empty());
    EXPECT_THAT(tokens_with("config"), ElementsAre(27, 0, 1, 24));
    request.end_token = "<none>";
    request.output = folder / "bad";
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("has no token \"<none>\""));
}

TEST(Pack, ReplacesNothing)
{
    const Folder folder;
    const PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    ASSERT_FALSE(folder.write("out.idx", "mine").empty());
    const auto refused = pack_now(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit_status(), 2);
    EXPECT_THAT(refused.error().line(), HasSubstr("out.idx: is there already"));
    EXPECT_EQ(bytes_of(folder / "out.idx"), "mine");
}

TEST(Pack, ABadDocumentLeavesNothingThatNobodyCanUse)
{
    const Folder folder;
    const PackRequest request = request_of(folder, {folder.write("a.jsonl", "{\"text\": \"abc\"}\n{\"no\": 1}\n")});
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("a.jsonl:2: "));
    EXPECT_FALSE(fs::exists(folder / "out.partial"));
    EXPECT_FALSE(fs::exists(folder / "out.bin"));
}

TEST(Pack, TheNumberOfThreadsDoesNotShow)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(3))});
    ASSERT_TRUE(pack_now(request));
    request.threads = 1;
    request.output = folder / "alone.bin";
    ASSERT_TRUE(pack_now(request));
    EXPECT_EQ(bytes_of(folder / "out.bin"), bytes_of(folder / "alone.bin"));
    EXPECT_EQ(bytes_of(folder / "out.idx"), bytes_of(folder / "alone.idx"));
}

// The child packs until it is killed at a random moment; the last call ends it. Equal to the byte.
TEST(Pack, KilledAtAnyMomentItGoesOn)
{
    const Folder folder;
    PackRequest request
        = request_of(folder, {folder.write("a.jsonl", many_documents(12)), folder.write("b.jsonl", many_documents(8))});
    ASSERT_TRUE(pack_now(request));
    request.output = folder / "cut";
    std::mt19937 random(3);
    int cut_short = 0, stopped = 0;
    for (int round = 0; round < 12; ++round) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            std::stop_source stop;
            // Every other round stops in order after its first piece of work, which makes it durable.
            const auto result = pack(
                request,
                [&](const PackProgress&) {
                    if (round % 2 == 0)
                        stop.request_stop();
                },
                stop.get_token());
            ::_exit(result ? 0 : result.error().code == ProblemCode::cancelled ? 3 : 4);
        }
        if (round % 2 == 1) {
            ::usleep(useconds_t(random() % 60'000));
            ::kill(child, SIGKILL);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        cut_short += WIFSIGNALED(status) ? 1 : 0;
        stopped += WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 1 : 0;
        ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 4);
        if (fs::exists(folder / "cut.bin"))
            break;
    }
    EXPECT_GT(stopped, 0);
    const auto last = fs::exists(folder / "cut.bin") ? Expected<PackResult>(PackResult{}) : pack_now(request);
    ASSERT_TRUE(last) << last.error().line();
    EXPECT_EQ(bytes_of(folder / "cut.bin"), bytes_of(folder / "out.bin"));
    EXPECT_EQ(bytes_of(folder / "cut.idx"), bytes_of(folder / "out.idx"));
    EXPECT_FALSE(fs::exists(folder / "cut.partial"));
}

// Of two calls the first was stopped after its first round.
void stop_after_a_round(const PackRequest& request)
{
    std::stop_source stop;
    const auto stopped = pack(
        request, [&](const PackProgress&) { stop.request_stop(); }, stop.get_token());
    ASSERT_FALSE(stopped);
    ASSERT_EQ(stopped.error().code, ProblemCode::cancelled);
}

TEST(Pack, OfAnotherRequestItDoesNotGoOn)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(8)), folder.write("b.txt", "ab")});
    stop_after_a_round(request);
    PackRequest other = request;
    other.documents.key = "content";
    EXPECT_THAT(pack_now(other).error().line(), HasSubstr("other options"));
    other = request;
    other.inputs.pop_back();
    EXPECT_THAT(pack_now(other).error().line(), HasSubstr("2 files instead of 1"));
    // A file whose turn has not come may change, one that is being read may not.
    ASSERT_FALSE(folder.write("b.txt", "abc").empty());
    std::ofstream(folder / "a.jsonl", std::ios::app) << "\n";
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("a.jsonl that has changed since"));
}

TEST(Pack, AFileWhoseTurnHasNotComeMayBeMended)
{
    const Folder folder;
    const PackRequest request
        = request_of(folder, {folder.write("a.jsonl", many_documents(8)), folder.write("b.jsonl", "{\"no\": 1}")});
    stop_after_a_round(request);
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("b.jsonl:1: "));
    ASSERT_FALSE(folder.write("b.jsonl", "{\"text\": \"ab\"}").empty());
    const auto result = pack_now(request);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_GT(result->resumed_bytes, 0);
}

// As on a full disk: the limit of the process says that no more can be written.
TEST(Pack, AFullDiskIsSaidAndWhatIsThereStays)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(8))});
    ASSERT_TRUE(pack_now(request));
    request.output = folder / "full";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{10 << 20, 10 << 20};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto result = pack_now(request);
        ::_exit(!result && result.error().line().find("tokens.bin: cannot be written") != std::string::npos ? 3 : 4);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_FALSE(fs::exists(folder / "full.bin"));
    const auto result = pack_now(request);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(bytes_of(folder / "full.bin"), bytes_of(folder / "out.bin"));
}

} // namespace
} // namespace fourfold
