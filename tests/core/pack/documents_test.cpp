// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pack/documents.h"
#include "pack_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using namespace testing_pack;
using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
    std::vector<std::string> documents;
    std::vector<InputPosition> behind;
    std::int64_t skipped = 0;
    std::string problem;
};

Read read_all(const std::vector<InputFileState>& files, const DocumentOptions& options, InputPosition from = {})
{
    Read read;
    DocumentReader reader(files, options, from);
    for (std::string document;;) {
        const auto any = reader.next(document);
        if (!any)
            read.problem = any.error().line();
        if (!any || !*any)
            break;
        read.documents.push_back(document);
        read.behind.push_back(reader.position());
    }
    read.skipped = reader.skipped();
    return read;
}

Read read_text(const std::string& name, const std::string& text, const DocumentOptions& options)
{
    const Folder folder;
    return read_all(list_inputs({folder.write(name, text)})->files, options);
}

TEST(Documents, UnitsOfAText)
{
    const std::string text = "one\nmore\n\n \n\ntwo\r\nthree";
    DocumentOptions options;
    EXPECT_THAT(read_text("a.txt", text, options).documents, ElementsAre(text));
    options.unit = DocumentUnit::paragraph;
    EXPECT_THAT(read_text("a.txt", text, options).documents, ElementsAre("one\nmore\n", "two\r\nthree"));
    options.unit = DocumentUnit::line;
    const Read lines = read_text("a.txt", text, options);
    EXPECT_THAT(lines.documents, ElementsAre("one", "more", " ", "two", "three"));
    EXPECT_EQ(lines.skipped, 2);
}

TEST(Documents, AMarkOfUtf8IsNoText)
{
    const std::string mark = "\xEF\xBB\xBF";
    DocumentOptions options;
    EXPECT_THAT(read_text("a.txt", mark + "one\n\ntwo" + mark, options).documents, ElementsAre("one\n\ntwo" + mark));
    options.unit = DocumentUnit::line;
    EXPECT_THAT(read_text("a.txt", mark + "one\n" + mark + "two", options).documents, ElementsAre("one", mark + "two"));
    EXPECT_THAT(read_text("a.jsonl", mark + "{\"text\": \"one\"}", options).documents, ElementsAre("one"));
    EXPECT_THAT(read_text("a.txt", mark, options).documents, testing::IsEmpty());
}

TEST(Documents, NulCharactersAreTold)
{
    const Folder folder;
    const std::string wide("h\0i\0", 4); // UTF-16 without its mark is UTF-8 too
    DocumentReader reader(list_inputs({folder.write("a.txt", wide), folder.write("b.txt", "hi")})->files, {}, {});
    for (std::string document; *reader.next(document);) { }
    ASSERT_EQ(reader.warnings().size(), 1U);
    EXPECT_THAT(reader.warnings()[0], HasSubstr("a.txt holds NUL characters"));
}

TEST(Documents, LinesOfJson)
{
    DocumentOptions options;
    const Read read = read_text(
        "a.jsonl", "{\"text\": \"one\"}\n\n{\"x\": 1, \"text\": \"\\u00e4\\n\"}\n{\"text\": \"\"}", options);
    EXPECT_THAT(read.documents, ElementsAre("one", "\xC3\xA4\n"));
    EXPECT_EQ(read.skipped, 2);
    for (const char* const bad : {"{\"text\": 3}", "[1]", "{\"texts\": \"a\"}", "{"}) {
        const Read refused = read_text("a.jsonl", std::string("{\"text\": \"a\"}\n") + bad + "\n", options);
        EXPECT_THAT(refused.documents, ElementsAre("a")) << bad;
        EXPECT_THAT(refused.problem, HasSubstr("a.jsonl:2: ")) << bad;
    }
    options.key = "texts";
    EXPECT_THAT(read_text("a.jsonl", "{\"texts\": \"a\"}", options).documents, ElementsAre("a"));
}

TEST(Documents, WhatIsNotUtf8)
{
    const std::string text = "good\nb\xFF\xC3\x28\xE2\x82\nlast\n";
    DocumentOptions options;
    options.unit = DocumentUnit::line;
    EXPECT_THAT(read_text("a.txt", text, options).problem, HasSubstr("a.txt:2: is not UTF-8"));
    EXPECT_THAT(read_text("a.txt", "\x1f\x8b\x08\n", options).problem, HasSubstr("is packed by gzip, expected text"));
    EXPECT_THAT(read_text("a.txt", "\xff\xfe\n", options).problem, HasSubstr("is in UTF-16, expected text"));
    options.ill_formed = IllFormed::skip;
    const Read skipped = read_text("a.txt", text, options);
    EXPECT_THAT(skipped.documents, ElementsAre("good", "last"));
    EXPECT_EQ(skipped.skipped, 1);
    options.ill_formed = IllFormed::replace;
    EXPECT_THAT(read_text("a.txt", text, options).documents, ElementsAre("good", "b\uFFFD\uFFFD(\uFFFD\uFFFD", "last"));
    EXPECT_THAT(read_text("a.jsonl", "{\"text\": \"\xFF\"}\n", options).documents, ElementsAre("\uFFFD"));
}

// From every place between two documents the rest is the same.
TEST(Documents, GoOnFromAnyPlace)
{
    const Folder folder;
    std::string lines, text;
    for (int i = 0; i < 300; ++i) {
        lines += "{\"text\": \"" + std::string(std::size_t(i * 131 % 977), 'x') + std::to_string(i) + "\"}\n";
        text += "paragraph " + std::to_string(i) + (i % 3 == 0 ? "\n\n\n" : "\n");
    }
    const std::vector<InputFileState> files
        = list_inputs({folder.write("a.jsonl", lines), folder.write("empty.txt", ""), folder.write("b.txt", text),
                          folder.write("c.jsonl", lines)})
              ->files;
    DocumentOptions options;
    options.unit = DocumentUnit::paragraph;
    const Read all = read_all(files, options);
    ASSERT_EQ(all.problem, "");
    ASSERT_GT(all.documents.size(), 650U);
    for (std::size_t i = 0; i < all.documents.size(); i += 7) {
        const Read rest = read_all(files, options, all.behind[i]);
        ASSERT_EQ(rest.documents, std::vector(all.documents.begin() + std::ptrdiff_t(i) + 1, all.documents.end())) << i;
    }
}

TEST(Documents, FoldersAreListedByName)
{
    const Folder folder;
    for (const char* const name : {"c/b.txt", "c/a.jsonl", "c/d/e.md", "c/image.png"})
        ASSERT_FALSE(folder.write(name, "x").empty());
    const auto files = list_inputs({(folder / "c").string()});
    ASSERT_TRUE(files);
    std::vector<std::string> names;
    for (const InputFileState& file : files->files)
        names.push_back(file.path.filename());
    EXPECT_THAT(names, ElementsAre("a.jsonl", "b.txt", "e.md"));
    EXPECT_TRUE(files->warnings.empty());
    fs::create_directory(folder / "none");
    EXPECT_THAT(list_inputs({(folder / "none").string()}).error().line(), HasSubstr("holds no"));
    EXPECT_EQ(list_inputs({(folder / "missing").string()}).error().code, ProblemCode::not_found);
}

TEST(Documents, LinksOfAFolderAreFollowedAndWhatIsPackedIsNamed)
{
    const Folder folder;
    for (const char* const name : {"c/a.txt", "c/b.jsonl.gz", "c/z.parquet", "elsewhere/w.txt",
             "c/out.partial/tokens.bin", "c/out.partial/journal.json", "c/notes.partial/n.txt"})
        ASSERT_FALSE(folder.write(name, "x").empty());
    fs::create_directory_symlink(folder / "elsewhere", folder / "c/wiki");
    fs::create_directory_symlink(folder / "c", folder / "elsewhere/back"); // in a circle
    fs::create_directory_symlink(folder / "nowhere", folder / "c/gone");
    const auto found = list_inputs({(folder / "c").string()});
    ASSERT_TRUE(found) << found.error().line();
    std::vector<std::string> names;
    for (const InputFileState& file : found->files)
        names.push_back(file.path.lexically_relative(folder / "c"));
    EXPECT_THAT(names, ElementsAre("a.txt", "notes.partial/n.txt", "wiki/w.txt"));
    ASSERT_EQ(found->warnings.size(), 1U);
    EXPECT_THAT(found->warnings.front(), HasSubstr("and 1 more of " + (folder / "c").string() + " are left out"));
}

TEST(Documents, AFileThatGrowsIsSaidAndOneThatShrinksIsAProblem)
{
    const Folder folder;
    const auto files = list_inputs({folder.write("a.jsonl", "{\"text\": \"a\"}\n")});
    ASSERT_TRUE(files);
    std::ofstream(folder / "a.jsonl", std::ios::app) << "{\"text\": \"b\"}\n";
    DocumentReader reader(files->files, {}, {});
    std::string document;
    ASSERT_TRUE(*reader.next(document));
    ASSERT_FALSE(*reader.next(document));
    ASSERT_EQ(reader.warnings().size(), 1U);
    EXPECT_THAT(reader.warnings().front(), HasSubstr("grew from 14 to 28 bytes"));

    const auto whole = list_inputs({(folder / "a.jsonl").string()});
    fs::resize_file(folder / "a.jsonl", 5);
    EXPECT_THAT(read_all(whole->files, {}).problem, HasSubstr("became shorter"));
}

} // namespace
} // namespace fourfold
