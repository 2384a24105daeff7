// SPDX-License-Identifier: GPL-3.0-or-later
// A model at the end: exported for Hugging Face's transformers, scored and continued, as transformers does it.
#include "runner/trainer/inference/draw_token.h"
#include "tests/parity/compare.h"
#include "tests/parity/python.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/tool.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

namespace fourfold::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

struct Family {
    std::string name;
    std::vector<std::string> plan; // model and mesh
};

bool same(const Json& a, const Json& b)
{
    return std::abs(a.get<double>() - b.get<double>()) <= 1e-5 * std::max(1.0, std::abs(b.get<double>()));
}

// What fourfold-trainer answered about one model.
struct Answers {
    std::vector<Json> lines;
    Json windows;
    std::string made;
};

void expect_equal(const Answers& here, const Json& there)
{
    ASSERT_EQ(here.lines.size(), 4u);
    EXPECT_TRUE(same(here.lines[0]["log_likelihood"], there["lines"][0][0])) << here.lines[0] << there["lines"][0];
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(same(here.lines[1]["log_likelihoods"][i], there["lines"][1][i]))
            << here.lines[1] << there["lines"][1];
    EXPECT_TRUE(same(here.lines[2]["log_likelihood"], there["lines"][2][0])) << here.lines[2] << there["lines"][2];
    EXPECT_EQ(here.windows["windows"], 6);
    EXPECT_TRUE(same(here.windows["nats_per_token"], there["nats_per_token"])) << here.windows << there;
    std::string ids;
    for (const Json& id : there["made"])
        ids += (ids.empty() ? "" : " ") + id.dump();
    EXPECT_EQ(here.made, ids + "\n");
    EXPECT_EQ(there["eos"], 0);
}

void expect_the_same_in_transformers(const std::vector<Family>& families)
{
    const std::string python = python_with("transformers");
    if (python.empty())
        GTEST_SKIP() << "there is no Python 3.11 with transformers, which packaging/test.sh fetches";
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path()), lines = write_lines(folder.path(), kLines);
    const std::string few = folder.path() / "few.bin", tokenizer = write_tokenizer(folder.path());
    std::ofstream(few, std::ios::binary) << contents(tokens).substr(0, 2 * 100);
    std::string command
        = python + "'" FOURFOLD_TEST_DATA "/hugging_face.py' '" + lines.string() + "' '" + few + "' 16 '[5, 6, 7]'";
    std::vector<Answers> here;
    for (const Family& family : families) {
        SCOPED_TRACE(family.name);
        // A learning rate that moves the weights far from where a wrong name or layout would be nearly right.
        const auto trained = train(
            tiny_plan(tokens,
                joined(family.plan, {"run.steps=6", "run.checkpoint.every=6", "run.lr=0.02", "run.warmup_steps=0"})),
            folder.path() / ("run-" + family.name));
        ASSERT_EQ(trained.problem, "");
        const std::string checkpoint = trained.checkpoints.at(6), model = folder.path() / family.name;
        const auto done = [&](std::vector<std::string> arguments) {
            const Output output = tool(folder.path(), arguments);
            EXPECT_EQ(output.status, 0) << output.error;
            return output;
        };
        done({"--export", checkpoint, "--output", model, "--tokenizer", tokenizer});
        const auto windows = done({"--score", few, "--model", checkpoint, "--seq-len", "16"}).lines();
        ASSERT_EQ(windows.size(), 1u);
        here.push_back({done({"--score", lines, "--model", checkpoint}).lines(), windows[0],
            done({"--generate", "[5, 6, 7]", "--model", checkpoint, "--tokens", "12"}).out});
        command += " '" + model + "'";
    }
    const std::string answer = folder.path() / "answer", log = folder.path() / "log";
    ASSERT_EQ(std::system((command + " >'" + answer + "' 2>'" + log + "'").c_str()), 0) << contents(log);
    std::istringstream in(contents(answer));
    std::string line;
    for (std::size_t i = 0; i < families.size(); ++i) {
        SCOPED_TRACE(families[i].name);
        ASSERT_TRUE(std::getline(in, line));
        const Json there = Json::parse(line);
        expect_equal(here[i], there);
        // The answers of one model are not those of another.
        EXPECT_FALSE(same(here[(i + 1) % here.size()].windows["nats_per_token"], there["nats_per_token"]));
    }
}

TEST(Exported, AFewAreTheSameInTransformers)
{
    expect_the_same_in_transformers(
        {{"llama3_tp4_shared_kv", {"gpus=4", "layout.tp=4"}}, {"gpt2_tp2", {kTinyGpt2, "gpus=2", "layout.tp=2"}},
            {"mixtral_ep2_zero1",
                {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2", "gpus=2",
                    "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\""}}});
}

TEST(Exported, AllOtherFamiliesAreToo)
{
    expect_the_same_in_transformers({{"mistral", {"model.model_type=\"mistral\""}},
        {"qwen2_tied_pp2", {"model.model_type=\"qwen2\"", "model.tie_word_embeddings=true", "gpus=2", "layout.pp=2"}},
        {"qwen3_fsdp",
            {"model.model_type=\"qwen3\"", "gpus=2", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.micro_batch=1"}},
        {"gemma3", {kGemma}}, {"neox_tp2", {kNeox, "gpus=2", "layout.tp=2"}}, {"bloom", {kTinyBloom}},
        {"deepseek", {kTinyDeepseek}},
        // transformers cuts off at 7 whatever the configuration says.
        {"gpt_oss_ep2_etp2",
            {kGptOss, "model.swiglu_limit=7", "gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "layout.etp=2"}},
        {"qwen3_moe",
            {"model.model_type=\"qwen3_moe\"", "model.num_experts=6", "model.num_experts_per_tok=3",
                "model.moe_intermediate_size=16"}}});
}

// GPT-OSS keeps the experts of a layer in one tensor: what is written so scores as the checkpoint did, and exported
// once more it is the same file.
TEST(Exported, ExpertsInOneTensorComeBack)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path()), lines = write_lines(folder.path(), kLines);
    const auto trained = train(
        tiny_plan(tokens, {kGptOss, "run.steps=2", "run.checkpoint.every=2", "run.lr=0.02"}), folder.path() / "run");
    ASSERT_EQ(trained.problem, "");
    const std::string checkpoint = trained.checkpoints.at(2);
    const auto done = [&](const std::vector<std::string>& arguments) {
        const Output output = tool(folder.path(), arguments);
        EXPECT_EQ(output.status, 0) << output.error;
        return output;
    };
    const fs::path model = folder.path() / "model", again = folder.path() / "again";
    const Json exported = done({"--export", checkpoint, "--output", model}).lines().at(0);
    EXPECT_EQ(exported["parameters"], tiny_plan(tokens, {kGptOss}).model.parameters());
    done({"--export", model, "--output", again});
    const std::string file = contents(model / "model.safetensors");
    EXPECT_TRUE(file == contents(again / "model.safetensors"));
    EXPECT_THAT(file, HasSubstr(R"("model.layers.1.mlp.experts.gate_up_proj":{"dtype":"F32","shape":[4,32,32])"));
    EXPECT_THAT(file, Not(HasSubstr("experts.0.")));
    EXPECT_EQ(done({"--score", lines, "--model", model}).out, done({"--score", lines, "--model", checkpoint}).out);
}

TEST(TextTools, TakeAndMakeText)
{
    const TemporaryFolder folder;
    const auto trained = train(
        tiny_plan(write_tokens(folder.path()), {"run.steps=1", "run.checkpoint.every=1"}), folder.path() / "run");
    ASSERT_EQ(trained.problem, "");
    const std::string tokenizer = write_tokenizer(folder.path()), checkpoint = trained.checkpoints.at(1);
    // The exported folder has its tokenizer, and is a model like any other.
    const std::string model = folder.path() / "model";
    const auto exported
        = tool(folder.path(), {"--export", checkpoint, "--output", model, "--tokenizer", tokenizer, "--dtype", "bf16"});
    ASSERT_EQ(exported.status, 0) << exported.error;
    EXPECT_EQ(exported.lines().at(0)["files"],
        Json(
            {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}));
    // An empty folder, here by a link, is filled where it is.
    fs::create_directories(folder.path() / "disk");
    fs::create_directory_symlink("disk", folder.path() / "link");
    const auto filled = tool(folder.path(), {"--export", checkpoint, "--output", folder.path() / "link"});
    ASSERT_EQ(filled.status, 0) << filled.error;
    EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
    const auto names = filled.lines().at(0)["files"].get<std::vector<std::string>>();
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "disk"), {}), std::ptrdiff_t(names.size()));
    for (const std::string& name : names)
        EXPECT_TRUE(fs::is_regular_file(folder.path() / "disk" / name)) << name;
    const auto made = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"--generate", "AB", "--model", model, "--tokens", "8"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Output output = tool(folder.path(), arguments);
        EXPECT_EQ(output.status, 0) << output.error;
        return output.out;
    };
    const std::string greedy = made({});
    EXPECT_TRUE(greedy.starts_with("AB")) << greedy;
    EXPECT_EQ(made({"--temperature", "2", "--top-k", "1"}), greedy);
    const std::string drawn = made({"--temperature", "2", "--seed", "3"});
    EXPECT_EQ(made({"--temperature", "2", "--seed", "3"}), drawn);
    EXPECT_NE(made({"--temperature", "2", "--seed", "4"}), drawn);

    const auto lines = write_lines(folder.path(),
        "{\"context\": \"AB\", \"continuation\": \"CD\"}\n{\"context\": [1, 2], \"continuation\": [3, 4]}\n");
    const auto scored = tool(folder.path(), {"--score", lines, "--model", model}).lines();
    ASSERT_EQ(scored.size(), 3u);
    EXPECT_EQ(scored[0]["log_likelihood"], scored[1]["log_likelihood"]);
    EXPECT_EQ(scored[0]["tokens"], 2);

    // Weights that are no numbers make no text, and no score.
    {
        std::fstream weights(model + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
        weights.seekp(-2, std::ios::end);
        weights << "\xc0\x7f"; // in bf16
    }
    for (const std::vector<std::string>& arguments :
        {std::vector<std::string>{"--generate", "AB", "--model", model}, {"--score", lines, "--model", model}}) {
        const Output none = tool(folder.path(), arguments);
        EXPECT_EQ(none.status, 1);
        EXPECT_THAT(none.error, HasSubstr("the model gives no numbers"));
    }
}

// Shares of many draws against the probabilities, and what top-k and top-p leave of them.
TEST(DrawToken, FollowsTheProbabilities)
{
    const std::vector<double> p{0.1, 0.4, 0.2, 0.3};
    std::vector<float> logs;
    for (const double value : p)
        logs.push_back(float(std::log(value)));
    constexpr int kDraws = 40'000;
    const auto shares = [&](const trainer::Sampling& sampling) {
        std::vector<double> share(4);
        for (int i = 0; i < kDraws; ++i)
            share[std::size_t(trainer::draw_token(logs, sampling, i))] += 1.0 / kDraws;
        return share;
    };
    const auto near = [](double value) { return ::testing::DoubleNear(value, 0.012); }; // five deviations
    EXPECT_THAT(shares({1, 0, 1, 7}), ElementsAre(near(0.1), near(0.4), near(0.2), near(0.3)));
    EXPECT_THAT(shares({1, 2, 1, 7}), ElementsAre(0, near(4 / 7.0), 0, near(3 / 7.0)));
    EXPECT_THAT(shares({1, 0, 0.75, 7}), ElementsAre(0, near(4 / 9.0), near(2 / 9.0), near(3 / 9.0)));
    // Temperature 1/2: squares.
    EXPECT_THAT(shares({0.5, 0, 1, 7}), ElementsAre(near(1 / 30.0), near(16 / 30.0), near(4 / 30.0), near(9 / 30.0)));
    EXPECT_THAT(shares({0, 0, 1, 7}), ElementsAre(0, ::testing::DoubleEq(shares({0, 0, 1, 7})[1]), 0, 0));
}

} // namespace
} // namespace fourfold::testing
