// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes as a user follows them, each cut to a tiny model on this computer: from a text to a model that goes on with
// one, with the real trainer.
#include "core/base/json.h"
#include "tests/cli/program.h"

#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class RecipeTest : public ProgramTest {
protected:
    // A text of small letters, and a tokenizer of one token for each.
    void write_text() const
    {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            std::string words;
            for (int k = 0; k < 60; ++k)
                words += k % 6 == 5 ? ' ' : static_cast<char>('a' + (i * 7 + k * k) % 26);
            text += Json{{"text", words}}.dump() + "\n";
        }
        static_cast<void>(file("text.jsonl", text));
        Json vocabulary{{"<|endoftext|>", 0}, {"\u0120", 1}};
        for (char letter = 'a'; letter <= 'z'; ++letter)
            vocabulary[std::string(1, letter)] = 2 + letter - 'a';
        const Json tokenizer{{"added_tokens", {{{"id", 0}, {"content", "<|endoftext|>"}, {"special", true}}}},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
        static_cast<void>(file("tokenizer.json", tokenizer.dump()));
    }

    // The recipe's plan as it was written, at a size that trains in a second.
    void cut(const std::string& id) const
    {
        const auto path = folder() / id / (id + ".plan.json");
        Json plan = *read_json_file(path);
        if (plan["model"].is_string())
            plan["model"]
                = *read_json_file(FOURFOLD_SOURCE_DIR "/presets/models/" + plan["model"].get<std::string>() + ".json");
        const Json sizes{{"vocab_size", 28}, {"hidden_size", 32}, {"n_embd", 32}, {"num_hidden_layers", 2},
            {"n_layer", 2}, {"num_attention_heads", 4}, {"n_head", 4}, {"num_key_value_heads", 4}, {"head_dim", 8},
            {"intermediate_size", 48}, {"max_position_embeddings", 64}, {"n_positions", 64}};
        for (const auto& [key, value] : sizes.items())
            if (plan["model"].contains(key))
                plan["model"][key] = value;
        const int gpus = plan["gpus"] == 1 ? 1 : 2;
        plan.merge_patch({{"cluster", "this-computer"}, {"gpus", gpus}, {"layout", {{"dp", gpus}}},
            {"training", {{"seq_len", 32}, {"micro_batch", 2}, {"global_batch", 4 * gpus}, {"precision", "fp32"}}},
            {"run",
                {{"steps", 30}, {"warmup_steps", 2}, {"eval", {{"every", 15}, {"batches", 1}}},
                    {"checkpoint", {{"every", 30}}}}}});
        std::ofstream(path) << plan.dump(2);
    }

    // From the recipe to the text that its model makes.
    void follow(const std::string& id)
    {
        const auto done = [this](const std::vector<std::string>& arguments) {
            const Output output = fourfold(arguments);
            EXPECT_EQ(output.status, 0) << arguments[0] << ": " << output.err;
            return output;
        };
        write_text();
        done({"recipe", id, "--output", id});
        const Json recipe = json_of(done({"recipe", id, "--json"}));
        for (const Json& name : recipe["files"])
            EXPECT_TRUE(std::filesystem::exists(folder() / id / name.get<std::string>())) << name;
        EXPECT_EQ(*read_json_file(folder() / id / (id + ".plan.json")), recipe["plan"]);
        cut(id);
        const std::string tokens = recipe["plan"]["run"]["data"][0]["path"];
        done({"pack", "text.jsonl", "--tokenizer", "tokenizer.json", "--output",
            id + "/" + tokens.substr(0, tokens.rfind('.'))});
        done({"run", id + "/" + id + ".plan.json", "--target", "local", "--set",
            "run.checkpoint.path=" + (folder() / "checkpoints").string()});
        const Output beside = done({"recipe", id, "--run", "last", "--json"});
        EXPECT_THAT(beside.err, HasSubstr("another model, batch or rate"));
        const Json losses = Json::parse(beside.out);
        ASSERT_EQ(losses.size(), 2u) << "as often as it was held out";
        EXPECT_EQ(losses[1]["step"], 30);
        EXPECT_LT(losses[1]["measured"], losses[0]["measured"]) << "it learns nothing";
        EXPECT_TRUE(losses[1]["expected"].is_null()) << "the curve begins behind a run of so few tokens";

        use_program(FOURFOLD_BIN_DIR "/fourfold-trainer");
        done({"--export", "checkpoints", "--output", "model", "--tokenizer", "tokenizer.json"});
        const std::string text = done({"--generate", "abc", "--model", "model", "--tokens", "20"}).out;
        EXPECT_THAT(text, HasSubstr("abc"));
        EXPECT_GT(text.size(), 10u);
    }
};

TEST_F(RecipeTest, TheStoryModelFromTextToText)
{
    follow("story-15m");
}

TEST_F(RecipeTest, Gpt2FromTextToText)
{
    follow("gpt2-124m");
}

TEST_F(RecipeTest, TheLargeOneFromTextToText)
{
    follow("gpt-1.5b-h100-8");
}

// A book as Project Gutenberg has it: what is no tale goes, lines become paragraphs.
TEST_F(RecipeTest, TheScriptsMakeTalesAndATokenizerOfBooks)
{
    const auto python = [this](const std::string& arguments) {
        return std::system(("cd '" + folder().string()
            + "' && PYTHONPATH='" FOURFOLD_BIN_DIR "/../tests/wheels' python3 '" FOURFOLD_SOURCE_DIR
              "/resources/recipes/"
            + arguments + " >'" + folder().string() + "/said'")
                               .c_str());
    };
    const std::string line = "There was once a miller who had three sons and a cat, and he had\nnothing else.\n\n";
    std::string tale;
    for (int i = 0; i < 20; ++i)
        tale += line;
    const std::string verse = "    A cat, a cat,\n    and what of that\n\n";
    std::filesystem::create_directories(folder() / "books/Grimm, Jacob");
    static_cast<void>(file("books/Grimm, Jacob/Tales.txt",
        "Language: English\n\n*** START OF THE PROJECT GUTENBERG EBOOK TALES ***\n\nProduced by "
        "somebody\n\nCONTENTS\n\n"
        "The Cat\n\nTHE CAT\n\n"
            + verse + tale + "THE MILLER\n\nThe second tale begins.\n\n" + tale
            + "\n*** END OF THE PROJECT GUTENBERG EBOOK TALES ***\n\n" + tale));
    static_cast<void>(file("books/Grimm, Jacob/Maerchen.txt", "Language: German\n\n" + tale));
    ASSERT_EQ(python("stories.py' books stories.jsonl"), 0);
    const std::vector<std::string> lines = lines_of(*read_text_file(folder() / "stories.jsonl"));
    ASSERT_EQ(lines.size(), 2u);
    for (const std::string& each : lines) {
        const std::string text = Json::parse(each)["text"];
        EXPECT_THAT(text, HasSubstr("three sons and a cat, and he had nothing else.\nThere was"));
        for (const char* gone : {"what of that", "GUTENBERG", "Produced", "MILLER"})
            EXPECT_THAT(text, ::testing::Not(HasSubstr(gone)));
    }
    ASSERT_EQ(python("tokenizer.py' stories.jsonl 300 tokenizer.json"), 0);
    const Json packed = json_of(
        fourfold({"pack", "stories.jsonl", "--tokenizer", "tokenizer.json", "--output", "stories", "--json"}));
    EXPECT_EQ(packed["documents"], 2);
    EXPECT_LE(packed["vocabulary"], 300);
    EXPECT_GT(packed["tokens"], 100);
    EXPECT_LT(packed["tokens"], packed["bytes"].get<double>() / 2) << "merges of this text are found in it";
}

// Where a computer reaches nobody, each step behind a download says in one line what it misses and where that belongs.
TEST_F(RecipeTest, WhatWasNotFetchedIsSaidInOneLine)
{
    const auto python = [this](const std::string& path, const std::string& arguments) {
        const std::string command = "cd '" + folder().string() + "' && PYTHONPATH='" + path
            + "' python3 -S '" FOURFOLD_SOURCE_DIR "/resources/recipes/" + arguments + " >said 2>&1";
        EXPECT_NE(std::system(command.c_str()), 0) << arguments;
        return *read_text_file(folder() / "said");
    };
    const auto is_line = ::testing::MatchesRegex("[^\n]*\n");
    const std::string wheels = FOURFOLD_BIN_DIR "/../tests/wheels";
    const std::string books = python("", "stories.py' books stories.jsonl");
    EXPECT_THAT(books, ::testing::AllOf(is_line, HasSubstr("books: no books"), HasSubstr("git clone --depth 1 ")));
    EXPECT_FALSE(std::filesystem::exists(folder() / "stories.jsonl")) << "an empty text would be packed";
    EXPECT_THAT(python("", "tokenizer.py' stories.jsonl 300 tokenizer.json"),
        ::testing::AllOf(is_line, HasSubstr("`pip install tokenizers`")));
    EXPECT_THAT(python(wheels, "tokenizer.py' stories.jsonl 300 tokenizer.json"),
        ::testing::AllOf(is_line, HasSubstr("stories.jsonl: No such file")));
    EXPECT_THAT(python("", "parquet.py' fineweb/sample/10BT text"),
        ::testing::AllOf(is_line, HasSubstr("`pip install pyarrow`")));
    // A stand-in: the package is large, and no file is read.
    std::filesystem::create_directories(folder() / "stand-in/pyarrow");
    static_cast<void>(file("stand-in/pyarrow/__init__.py", "parquet = None\n"));
    EXPECT_THAT(python(folder() / "stand-in", "parquet.py' fineweb/sample/10BT text"),
        ::testing::AllOf(is_line, HasSubstr("fineweb/sample/10BT: no parquet files"), HasSubstr("hf download")));
    static_cast<void>(file("text.jsonl", "{\"text\": \"a\"}\n"));
    expect_problem(fourfold({"pack", "text.jsonl", "--tokenizer", "tokenizer/tokenizer.json", "--output", "fineweb"}),
        2, "tokenizer/tokenizer.json");
    fourfold({"recipe", "story-15m", "--output", "story"});
    expect_problem(fourfold({"run", "story/story-15m.plan.json", "--target", "local"}), 2, "stories.bin");
}

// By the trainer's own code, for the hardware that the recipe names.
TEST_F(RecipeTest, EachFitsAndNoRankWaitsForEver)
{
    for (const char* id : {"story-15m", "gpt2-124m", "gpt-1.5b-h100-8"}) {
        const Output output = fourfold({"rehearse", id});
        EXPECT_EQ(output.status, 0) << id << output.err;
        EXPECT_THAT(output.out, HasSubstr("fits, no deadlock")) << id;
    }
}

TEST_F(RecipeTest, SaysWhatThereIsAndWhatIsWrong)
{
    const Json list = json_of(fourfold({"recipe", "--json"}));
    ASSERT_EQ(list.size(), 3u);
    for (const Json& recipe : list) {
        EXPECT_GT(recipe["tokens"], 1e6);
        EXPECT_TRUE(recipe["loss"].is_number()) << recipe;
        const std::string text = fourfold({"recipe", recipe["id"]}).out;
        for (const char* part : {"predicted: ", "from text to a model", "fourfold pack ", "expected: "})
            EXPECT_THAT(text, HasSubstr(part));
    }
    const Json curve = json_of(fourfold({"recipe", "gpt2-124m", "--curve", "--json"}));
    EXPECT_EQ(curve.back()["expected"], 3.2722);
    EXPECT_EQ(curve.back()["step"], 19560);
    expect_problem(fourfold({"recipe", "story-15"}), 2, "did you mean story-15m");
    expect_problem(fourfold({"recipe", "--curve"}), 2, "of which recipe?");
    expect_problem(fourfold({"recipe", "story-15m", "--run", "nobody"}), 2, "");
    // What somebody has made of it is kept.
    const std::vector<std::string> write{"recipe", "story-15m", "--output", "mine"};
    EXPECT_EQ(fourfold(write).status, 0);
    EXPECT_EQ(fourfold(write).status, 0) << "the same again";
    const std::string plan = file("mine/story-15m.plan.json", "{}");
    expect_problem(fourfold(write), 2, "story-15m.plan.json: is there already with another content");
    EXPECT_EQ(*read_text_file(plan), "{}");
}

} // namespace
} // namespace fourfold::test
