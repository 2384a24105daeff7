// SPDX-License-Identifier: GPL-3.0-or-later
// Token for token what Hugging Face's own library says: tokenizers of every kind, lines of many scripts (oracle.py).
#include "core/base/json.h"
#include "core/tokenizer/text_of_tokens.h"
#include "core/tokenizer/tokenizer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace fourfold {
namespace {

namespace fs = std::filesystem;

// A folder with what oracle.py wrote, gone at the end.
class Oracle {
public:
    explicit Oracle(int lines, int seed)
    {
        std::string path = fs::temp_directory_path() / "fourfold-oracle-XXXXXX";
        if (mkdtemp(path.data()) == nullptr)
            return;
        folder_ = path;
        const std::string command = "PYTHONPATH='" FOURFOLD_BIN_DIR
                                    "/../tests/wheels' TOKENIZERS_PARALLELISM=false python3 '" FOURFOLD_TEST_DATA
                                    "/oracle.py' '" FOURFOLD_SOURCE_DIR "/resources/corpus/devils-dictionary.txt' '"
            + path + "' " + std::to_string(lines) + " " + std::to_string(seed);
        made_ = std::system(command.c_str()) == 0;
    }
    ~Oracle() { fs::remove_all(folder_); }
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] std::vector<std::string> lines(const std::string& file = "lines.txt") const
    {
        std::ifstream in(folder_ / file);
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);)
            lines.push_back(Json::parse(line).get<std::string>());
        return lines;
    }
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_))
            if (entry.path().extension() == ".json")
                names.push_back(entry.path().stem());
        return names;
    }
    [[nodiscard]] fs::path tokenizer(const std::string& name) const { return folder_ / (name + ".json"); }
    // Of each line.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> ids(const std::string& name) const
    {
        std::ifstream in(folder_ / (name + ".ids"), std::ios::binary);
        std::vector<std::vector<std::uint32_t>> all;
        for (std::uint32_t count = 0; in.read(reinterpret_cast<char*>(&count), sizeof count);) {
            all.emplace_back(count);
            in.read(reinterpret_cast<char*>(all.back().data()), std::streamsize(count * sizeof count));
        }
        return all;
    }

private:
    fs::path folder_;
    bool made_ = false;
};

// The way back, of kinds with a decoder; false of the others.
bool expect_equal_text(
    const Oracle& oracle, const std::string& name, const std::vector<std::vector<std::uint32_t>>& ids)
{
    const auto texts = oracle.lines(name + ".text");
    if (texts.empty())
        return false;
    EXPECT_EQ(texts.size(), 2 * ids.size()) << name;
    const auto back = TextOfTokens::open(oracle.tokenizer(name));
    EXPECT_TRUE(back) << name << ": " << back.error().line();
    int shown = 0;
    for (std::size_t i = 0; back && i < ids.size(); ++i) {
        const std::vector<std::uint32_t> reversed(ids[i].rbegin(), ids[i].rend());
        for (const auto& [text, expected] :
            {std::pair(back->text(ids[i]), texts[2 * i]), std::pair(back->text(reversed), texts[2 * i + 1])})
            if (text != expected && ++shown <= 3) {
                EXPECT_EQ(Json(text).dump(), Json(expected).dump()) << name << ", line " << i;
            }
    }
    EXPECT_EQ(shown, 0) << name << ": texts that differ";
    return true;
}

void expect_equal(int lines, int seed)
{
    const Oracle oracle(lines, seed);
    ASSERT_TRUE(oracle.made());
    const std::vector<std::string> texts = oracle.lines();
    ASSERT_EQ(texts.size(), std::size_t(lines));
    constexpr std::size_t kKinds = 24;
    EXPECT_GE(oracle.names().size(), kKinds);
    int decoders = 0;
    for (const std::string& name : oracle.names()) {
        const auto tokenizer = Tokenizer::open(oracle.tokenizer(name));
        ASSERT_TRUE(tokenizer) << name << ": " << tokenizer.error().line();
        Encoder encoder(*tokenizer);
        const auto expected = oracle.ids(name);
        ASSERT_EQ(expected.size(), texts.size()) << name;
        int shown = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::vector<std::uint32_t> ids;
            const auto encoded = encoder.encode(texts[i], ids);
            ASSERT_TRUE(encoded) << name << ": " << encoded.error().line();
            if (ids != expected[i] && ++shown <= 3) {
                EXPECT_EQ(ids, expected[i]) << name << ", line " << i << ": " << Json(texts[i]).dump();
            }
        }
        EXPECT_EQ(shown, 0) << name << ": lines that differ";
        decoders += expect_equal_text(oracle, name, expected);
    }
    EXPECT_EQ(decoders, 11);
}

TEST(TokenizerOracle, LinesOfManyScripts)
{
    expect_equal(2'000, 1);
}

TEST(TokenizerOracle, AMillionLinesOfManyScripts)
{
    constexpr int kRounds = 25, kLines = 40'000;
    for (int round = 0; round < kRounds; ++round)
        expect_equal(kLines, 100 + round);
}

} // namespace
} // namespace fourfold
