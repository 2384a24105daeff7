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
#include <utility>

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

// Of two calls the first was stopped after its first round.
void stop_after_a_round(const PackRequest& request)
{
    std::stop_source stop;
    const auto stopped = pack(
        request, [&](const PackProgress&) { stop.request_stop(); }, stop.get_token());
    ASSERT_FALSE(stopped);
    ASSERT_EQ(stopped.error().code, ProblemCode::cancelled);
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

// A training that reads it would stop at its first batch, maybe days later and elsewhere.
TEST(Pack, NoTokenAtAllIsTold)
{
    const Folder folder;
    for (const auto& [text, warnings] : {std::pair("", 1), std::pair("z", 0)}) {
        const auto result = pack_now(request_of(folder, {folder.write("a.txt", text)}));
        ASSERT_TRUE(result) << result.error().line();
        ASSERT_EQ(std::ssize(result->warnings), warnings);
        if (warnings > 0) {
            EXPECT_THAT(result->warnings[0], HasSubstr("out.bin holds no token"));
        }
        fs::remove(folder / "out.bin");
        fs::remove(folder / "out.idx");
    }
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

// A two-byte file has no place for an id of 70,000: it would be another token.
TEST(Pack, TokensOfTheTemplateAreThoseOfTheVocabulary)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    request.apply_template = true;
    std::string tokenizer = letters_tokenizer();
    tokenizer.replace(tokenizer.find("[27]"), 4, "[70000]");
    request.tokenizer = folder.write("tokenizer.json", tokenizer);
    EXPECT_THAT(
        pack_now(request).error().line(), HasSubstr("post_processor: special_tokens: expected ids of the vocab"));
    tokenizer = letters_tokenizer();
    tokenizer.replace(tokenizer.find("{\"id\": \"?\"}"), 11, "{\"id\": 5}");
    request.tokenizer = folder.write("tokenizer.json", tokenizer);
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("post_processor: single: "));
}

TEST(Pack, ATextThatGrowsWithoutBoundIsNamed)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    std::string steps;
    for (int i = 0; i < 40; ++i)
        steps += std::string(i > 0 ? "," : "") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
    request.tokenizer = folder.write("tokenizer.json",
        R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}," + letters_tokenizer().substr(1));
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("a text grows to more than 16 MiB"));
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
    fs::remove(folder / "out.idx");
    fs::create_symlink(folder / "a disk that is not mounted", folder / "out.bin");
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("out.bin: is there already"));
    EXPECT_TRUE(fs::is_symlink(folder / "out.bin"));
}

// Between a call that was stopped and the next one, or while a call works.
TEST(Pack, ReplacesNothingThatComesMeanwhile)
{
    const Folder folder;
    const PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(8))});
    stop_after_a_round(request);
    ASSERT_FALSE(folder.write("out.bin", "mine").empty());
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("out.bin: is there already"));
    fs::remove(folder / "out.bin");
    for (const char* const name : {"out.bin", "out.idx"}) {
        const auto refused = pack(request, [&](const PackProgress&) { (void)folder.write(name, "mine"); }, {});
        ASSERT_FALSE(refused) << name;
        EXPECT_THAT(refused.error().line(), HasSubstr(std::string(name) + ": is there already"));
        EXPECT_EQ(bytes_of(folder / name), "mine");
        fs::remove(folder / name);
        EXPECT_FALSE(fs::exists(folder / "out.idx")) << "no index of another's tokens";
    }
    const auto done = pack_now(request);
    ASSERT_TRUE(done) << done.error().line();
    EXPECT_TRUE(fs::exists(folder / "out.idx"));
}

TEST(Pack, AnOutputInThePackedFolderIsNoInput)
{
    const Folder folder;
    (void)folder.write("corpus/a.jsonl", many_documents(8));
    PackRequest request = request_of(folder, {(folder / "corpus").string()});
    request.output = folder / "corpus/out";
    stop_after_a_round(request);
    const auto result = pack_now(request);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_GT(result->resumed_bytes, 0);
}

TEST(Pack, ItsFolderIsNobodyElses)
{
    const Folder folder;
    const PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    ASSERT_FALSE(folder.write("out.partial/thesis.txt", "mine").empty());
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("out.partial: holds something else"));
    EXPECT_EQ(bytes_of(folder / "out.partial/thesis.txt"), "mine");
    fs::rename(folder / "out.partial", folder / "mine");
    fs::create_symlink(folder / "mine", folder / "out.partial");
    EXPECT_FALSE(pack_now(request));
    fs::remove(folder / "out.partial");
    // A cut call leaves a folder that nothing can go on from: the next begins anew.
    ASSERT_FALSE(folder.write("out.partial/tokens.bin", "torn").empty());
    EXPECT_TRUE(pack_now(request));
}

TEST(Pack, ASecondCallLeavesTheFirstAlone)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(2))});
    bool asked = false;
    const auto first = pack(request,
        [&](const PackProgress&) {
            if (std::exchange(asked, true))
                return;
            EXPECT_THAT(pack_now(request).error().line(), HasSubstr("another program is writing it"));
            EXPECT_TRUE(fs::exists(folder / "out.partial/tokens.bin"));
        },
        {});
    EXPECT_TRUE(first) << first.error().line();
}

TEST(Pack, AnOutputHasAName)
{
    const Folder folder;
    PackRequest request = request_of(folder, {folder.write("a.txt", "ab")});
    for (const fs::path& output : {fs::path(), folder / "", folder / "..", folder / "."}) {
        request.output = output;
        const auto refused = pack_now(request);
        ASSERT_FALSE(refused);
        EXPECT_EQ(
            refused.error().line(), "--output: expected the name of a file (OUTPUT.bin and OUTPUT.idx are written)");
    }
}

TEST(Pack, AJournalThatPointsBeyondItsInputIsDamage)
{
    const Folder folder;
    const PackRequest request = request_of(folder, {folder.write("a.jsonl", many_documents(8))});
    stop_after_a_round(request);
    std::string text = bytes_of(folder / "out.partial/journal.json");
    const std::size_t at = text.find("\"byte\": ");
    ASSERT_NE(at, std::string::npos);
    text.insert(at + 8, "99999999");
    ASSERT_FALSE(folder.write("out.partial/journal.json", text).empty());
    EXPECT_THAT(pack_now(request).error().line(), HasSubstr("byte: expected a place in that input"));
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
