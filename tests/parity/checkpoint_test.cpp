// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint that one mesh wrote goes on on any other, in the names and layouts of Hugging Face's files.
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/checkpoint/stored_layout.h"
#include "tests/parity/cases.h"
#include "tests/parity/compare.h"
#include "tests/parity/python.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <set>

namespace fourfold::testing {
namespace {

using ::testing::HasSubstr;
using trainer::SafetensorsReader;
using trainer::SafetensorsWriter;
using trainer::StoredTensor;
namespace fs = std::filesystem;

const std::string kGpt2 = "model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":2,\"n_head\":4,"
                          "\"n_positions\":32}";
const std::string kBloom
    = "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":2,\"n_head\":4}";

const std::vector<std::string> kMixtral{"model.model_type=\"mixtral\"", "model.num_local_experts=4",
    "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.05"};
const std::string kDeepseek = R"(model={"model_type":"deepseek_v3","vocab_size":61,"hidden_size":32,
    "num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":48,"moe_intermediate_size":16,"n_routed_experts":8,
    "num_experts_per_tok":3,"n_shared_experts":1,"n_group":4,"topk_group":2,"first_k_dense_replace":1,"q_lora_rank":12,
    "kv_lora_rank":8,"qk_nope_head_dim":6,"qk_rope_head_dim":4,"v_head_dim":8,"max_position_embeddings":64,
    "rms_norm_eps":1e-6,"rope_theta":100.0,"aux_loss_alpha":0.05,"tie_word_embeddings":false})";

const std::string kGpus = "cluster=\"dgx-h100\""; // plans of CPUs have nothing to offload

StoredTensor tensor(const std::string& name, const std::string& dtype, std::vector<int64_t> shape)
{
    return {name, dtype, std::move(shape)};
}

TEST(Safetensors, KeepsNamesShapesAndValues)
{
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a.safetensors";
    const std::vector<float> first{1, 2, 3, 4, 5, 6};
    const std::vector<double> second{0.1};
    const std::vector<uint16_t> bf16{0x3fc0, 0xc000}, f16{0x3c00, 0x0001, 0xfc00}; // 1.5, -2; 1, 2^-24, -inf
    auto writer = SafetensorsWriter::create(file,
        {tensor("a", "F32", {2, 3}), tensor("b", "F64", {1}), tensor("c", "BF16", {2}), tensor("d", "F16", {3})},
        {{"format", "pt"}});
    ASSERT_TRUE(writer) << writer.error().line();
    EXPECT_TRUE((*writer)->append(first.data(), 24));
    EXPECT_FALSE((*writer)->finish()) << "three tensors are missing";
    EXPECT_TRUE((*writer)->append(second.data(), 8));
    EXPECT_TRUE((*writer)->append(bf16.data(), 4));
    EXPECT_TRUE((*writer)->append(f16.data(), 6));
    EXPECT_TRUE((*writer)->finish());

    const auto reader = SafetensorsReader::open(file);
    ASSERT_TRUE(reader) << reader.error().line();
    const auto& tensors = (*reader)->tensors();
    ASSERT_EQ(tensors.size(), 4u);
    EXPECT_EQ(tensors.at("a").shape, (std::vector<int64_t>{2, 3}));
    double out[3];
    ASSERT_TRUE((*reader)->read(tensors.at("a"), 1, 3, 2, out));
    EXPECT_EQ(out[0], 2);
    EXPECT_EQ(out[1], 5);
    ASSERT_TRUE((*reader)->read(tensors.at("b"), 0, 1, 1, out));
    EXPECT_EQ(out[0], 0.1);
    ASSERT_TRUE((*reader)->read(tensors.at("c"), 0, 1, 2, out));
    EXPECT_EQ(out[0], 1.5);
    EXPECT_EQ(out[1], -2);
    ASSERT_TRUE((*reader)->read(tensors.at("d"), 0, 1, 3, out));
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], std::exp2(-24));
    EXPECT_EQ(out[2], -INFINITY);
}

TEST(Safetensors, RefusesDamagedFiles)
{
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a.safetensors";
    const auto message = [&](const std::string& header, std::size_t data_bytes) {
        std::ofstream out(file, std::ios::binary);
        const uint64_t length = header.size();
        out.write(reinterpret_cast<const char*>(&length), sizeof length);
        out << header << std::string(data_bytes, '\0');
        out.close();
        const auto reader = SafetensorsReader::open(file);
        return reader ? std::string() : reader.error().line();
    };
    EXPECT_EQ(message(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8), "");
    EXPECT_THAT(message(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7), HasSubstr("cut short"));
    EXPECT_THAT(message(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8), HasSubstr("\"a\""));
    EXPECT_THAT(message(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", 8),
        HasSubstr("do not fit"));
    EXPECT_THAT(message(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8), HasSubstr("lacks"));
    for (const char* numbers : {R"("shape":[1.5],"data_offsets":[0,4])", R"("shape":[1],"data_offsets":[0.0,4.0])",
             R"("shape":[1],"data_offsets":[18446744073709551612,0])", R"("shape":{"0":1},"data_offsets":[0,4])"})
        EXPECT_THAT(message(R"({"a":{"dtype":"F32",)" + std::string(numbers) + "}}", 4), HasSubstr("lacks")) << numbers;
    const std::string two = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],)";
    EXPECT_EQ(message(two + R"("data_offsets":[8,16]}})", 16), "");
    EXPECT_THAT(message(two + R"("data_offsets":[4,12]}})", 16), HasSubstr("\"a\" and \"b\" share bytes"));
    EXPECT_THAT(message(two + R"("data_offsets":[0,8]}})", 16), HasSubstr("share bytes"));
    EXPECT_THAT(message("[1]", 8), HasSubstr("no JSON object"));
    EXPECT_THAT(message("{", 8), HasSubstr("a.safetensors"));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << "\xff\xff\xff\xff\xff\xff\xff\x7f{}";
    EXPECT_THAT(SafetensorsReader::open(file).error().line(), HasSubstr("longer than the file"));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << "abc";
    EXPECT_THAT(SafetensorsReader::open(file).error().line(), HasSubstr("too short"));
    EXPECT_THAT(SafetensorsReader::open(folder.path() / "none").error().line(), HasSubstr("none"));
}

// GPT-2's fused projection: the table goes head by head, the file all queries first, input features first.
TEST(StoredLayout, OfGpt2IsAPermutation)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = tiny_plan(folder.path() / "tokens.bin", {kGpt2});
    int checked = 0;
    for (const trainer::Shard& shard : trainer::shard_table(plan, {0}, 0, 0)) {
        const trainer::StoredLayout layout(plan.model, shard);
        std::set<int64_t> places;
        for (int64_t row = 0; row < layout.rows(); ++row)
            for (int64_t column = 0; column < layout.columns(); ++column) {
                places.insert(layout.index(row, column));
                EXPECT_EQ(layout.index(row, column), layout.index(row, 0) + column * layout.stride());
            }
        EXPECT_EQ(int64_t(places.size()), layout.rows() * layout.columns()) << shard.parameter.name;
        EXPECT_EQ(*places.rbegin(), layout.rows() * layout.columns() - 1);
        if (shard.parameter.name == "transformer.h.0.attn.c_attn.weight") {
            ++checked;
            EXPECT_EQ(layout.shape(), (std::vector<int64_t>{32, 96}));
            // Element 3 of the key of head 2 (8 wide), input feature 5.
            EXPECT_EQ(layout.index((2 * 3 + 1) * 8 + 3, 5), 5 * 96 + 32 + 2 * 8 + 3);
        }
        if (shard.parameter.name == "transformer.wte.weight") {
            ++checked;
            EXPECT_EQ(layout.index(7, 3), 7 * 32 + 3);
        }
    }
    EXPECT_EQ(checked, 2);
}

// GPT-OSS in Hugging Face's files: the experts of a layer are one tensor of each kind, [experts, in, out], in which
// gates and ups take turns; every value here is its own place.
TEST(StoredLayout, OfGptOssFindsAnExpertAmongAll)
{
    const TemporaryFolder folder;
    const int64_t hidden = 32, ffn = 16, experts = 4;
    const ResolvedPlan plan = tiny_plan(folder.path() / "tokens.bin", {kGptOss, "gpus=2", "layout.tp=2"});
    const std::string block = "model.layers.0.mlp.experts.";
    std::string header, data;
    const auto store = [&](const std::string& name, const std::string& shape, int64_t elements) {
        const std::size_t begin = data.size();
        for (int64_t i = 0; i < elements; ++i) {
            const auto value = float(i);
            data.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        header += (header.empty() ? "{\"" : ",\"") + block + name + R"(":{"dtype":"F32","shape":)" + shape
            + R"(,"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
    };
    store("gate_up_proj", "[4,32,32]", experts * hidden * 2 * ffn);
    store("gate_up_proj_bias", "[4,32]", experts * 2 * ffn);
    store("down_proj", "[4,16,32]", experts * ffn * hidden);
    store("down_proj_bias", "[4,32]", experts * hidden);
    header += "}";
    const uint64_t length = header.size();
    std::ofstream(folder.path() / "model.safetensors", std::ios::binary)
        << std::string(reinterpret_cast<const char*>(&length), sizeof length) << header << data;
    const auto tensors = trainer::TensorFolder::open(folder.path(), std::vector<std::string>{"model.safetensors"});
    ASSERT_TRUE(tensors) << tensors.error().line();

    int read = 0;
    for (const trainer::Shard& shard : trainer::shard_table(plan, {0}, 0, 1, {.ep = 0, .etp = 1})) {
        const Parameter& parameter = shard.parameter;
        if (parameter.expert != 2 || parameter.layer != 0)
            continue;
        const auto values = tensors->read(plan.model, shard, "", 0, shard.elements());
        ASSERT_TRUE(values) << values.error().line();
        const int64_t turn = parameter.role == Role::up ? 1 : 0;
        for (int64_t i = 0; i < shard.elements(); ++i) {
            int64_t place = 0;
            if (parameter.role == Role::down && parameter.shape.size() == 1) {
                place = 2 * hidden + i;
            } else if (parameter.role == Role::down) { // its part: input features from 8 on, 8 of them
                place = 2 * ffn * hidden + (8 + i % 8) * hidden + i / 8;
            } else if (parameter.shape.size() == 1) { // output features from 8 on
                place = 2 * 2 * ffn + 2 * (8 + i) + turn;
            } else {
                place = (2 * hidden + i % hidden) * 2 * ffn + 2 * (8 + i / hidden) + turn;
            }
            ASSERT_EQ((*values)[std::size_t(i)], double(place)) << parameter.name << " " << i;
        }
        ++read;
    }
    EXPECT_EQ(read, 6);
}

struct Resume {
    const char* name;
    std::vector<std::string> model, writer, reader;
    double tolerance;
};
void PrintTo(const Resume& r, std::ostream* out)
{
    *out << r.name;
}

class Checkpoint : public ::testing::TestWithParam<Resume> { };

TEST_P(Checkpoint, GoesOnWhereItStopped)
{
    const Resume& resume = GetParam();
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto whole = train(tiny_plan(tokens, joined(joined(resume.model, resume.writer), {"run.checkpoint.every=4"})),
        folder.path() / "whole");
    ASSERT_EQ(whole.problem, "");
    ASSERT_EQ(whole.losses.size(), 10u);
    // Steps 4, 8 and the last; two are kept.
    ASSERT_EQ(whole.checkpoints.size(), 3u);
    EXPECT_FALSE(fs::exists(whole.checkpoints.at(4)));
    EXPECT_TRUE(fs::exists(whole.checkpoints.at(10)));

    const auto resumed = train(
        tiny_plan(tokens,
            joined(joined(resume.model, resume.reader), {"run.checkpoint.load=\"" + whole.checkpoints.at(8) + "\""})),
        folder.path() / "resumed");
    ASSERT_EQ(resumed.problem, "");
    ASSERT_EQ(resumed.losses.size(), 2u);
    for (const auto& [step, loss] : resumed.losses)
        EXPECT_LE(std::abs(loss - whole.losses.at(step)), resume.tolerance * loss) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(Meshes, Checkpoint,
    ::testing::Values(Resume{"one_rank_bitwise", {}, {}, {}, 0},
        Resume{"pp2_tp2_tied_to_dp2_zero1", {"model.tie_word_embeddings=true"},
            {"gpus=4", "layout.pp=2", "layout.tp=2"}, {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            1e-5},
        Resume{"dp2_zero1_to_tp4_shared_kv", {}, {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            {"gpus=4", "layout.tp=4"}, 1e-5},
        Resume{"adam_with_states_in_bf16_bitwise",
            {"training.optimizer=\"adam\"", "training.optimizer_state_dtype=\"bf16\""}, {}, {}, 0},
        Resume{"muon_tp2_dp2_zero1_to_fsdp", {"training.optimizer=\"muon\""},
            {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, 1e-5},
        // 2 sequences a step, then 4, in step 9 still 6, then 8.
        Resume{"within_a_ramp_up",
            {"training.micro_batch=1", R"(training.ramp_up={"start":2,"increment":2,"samples":26})"}, {},
            {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, 1e-5},
        Resume{"mixtral_ep2_zero1_to_tp2_pp2", kMixtral,
            {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\""},
            {"gpus=4", "layout.tp=2", "layout.pp=2"}, 1e-5},
        Resume{"deepseek_tp2_to_ep4_etp2", {kDeepseek}, {"gpus=2", "layout.tp=2"},
            {"gpus=8", "layout.dp=8", "layout.ep=4", "layout.etp=2", "training.micro_batch=1"}, 1e-5},
        Resume{"deepseek_ep2_etp2_zero1_to_pp2", {kDeepseek, "training.micro_batch=1"},
            {"gpus=8", "layout.dp=8", "layout.ep=2", "layout.etp=2", "training.sharding=\"optimizer\""},
            {"gpus=2", "layout.pp=2"}, 1e-5},
        Resume{"optimizer_away_to_here_bitwise", {}, {kGpus, "training.offload=\"optimizer\""}, {}, 0},
        Resume{"dp2_zero1_to_dp2_fsdp_optimizer_away", {}, {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            {kGpus, "gpus=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.offload=\"optimizer\""},
            1e-5},
        Resume{"gpt2_tp2_to_pp2", {kGpt2}, {"gpus=2", "layout.tp=2"}, {"gpus=2", "layout.pp=2"}, 1e-5}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RampUp, EventsTellWhatWasTaken)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> ramp{
        "training.micro_batch=1", R"(training.ramp_up={"start":2,"increment":2,"samples":26})"};
    const auto trained = train(tiny_plan(tokens, ramp), folder.path() / "ramp");
    ASSERT_EQ(trained.problem, "");
    int samples = 0;
    const int sizes[] = {2, 2, 2, 2, 2, 4, 4, 6, 6, 8}; // 26 / 3 samples to each increment
    for (int step = 1; step <= 10; ++step) {
        const Json& event = trained.steps.at(step);
        samples += sizes[step - 1];
        EXPECT_EQ(event["global_batch"], sizes[step - 1]) << step;
        EXPECT_EQ(event["samples"], samples) << step;
        EXPECT_EQ(event["tokens"], 16 * samples) << step;
        EXPECT_NEAR(
            event["tps_per_gpu"].get<double>() * event["step_time_s"].get<double>(), 16 * sizes[step - 1], 1e-6);
    }
    // More than the file of 4000 tokens has.
    const auto endless = train(
        tiny_plan(tokens,
            {"training.micro_batch=1", "run.steps=100", R"(training.ramp_up={"start":2,"increment":2,"samples":300})"}),
        folder.path() / "endless");
    EXPECT_NE(endless.problem.find("training.ramp_up.samples: the data hold 224 sequences, the ramp-up takes 300"),
        std::string::npos)
        << endless.problem;
}

TEST(Fp16, AnOverflowThatNeverEndsEndsTheRun)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> fp16{kEveryPrecision, "training.precision=\"fp16\"", "run.steps=40"};
    const auto good = train(tiny_plan(tokens, joined(fp16, {"run.checkpoint.every=40"})), folder.path() / "good");
    ASSERT_EQ(good.problem, "");
    EXPECT_LT(good.losses.at(40), good.losses.at(1));
    EXPECT_EQ(good.steps.at(40)["loss_scale"], 65536);
    EXPECT_EQ(good.steps.at(40)["skipped_steps"], 0);
    const Json state = *read_json_file(fs::path(good.checkpoints.at(40)) / "trainer.json");
    EXPECT_EQ(state["loss_scale"], 65536);
    EXPECT_EQ(state["loss_scale_steps"], 40);

    // The first update throws the weights out of fp16: from then on no scale helps.
    const auto bad = train(tiny_plan(tokens, joined(fp16, {"run.lr=1e6", "run.warmup_steps=0", "run.clip_norm=0"})),
        folder.path() / "bad");
    EXPECT_NE(
        bad.problem.find("the gradients overflow fp16 with every loss scale down to 1, in 17 steps"), std::string::npos)
        << bad.problem;
    ASSERT_FALSE(bad.warnings.empty());
    const Json& last = bad.steps.rbegin()->second;
    EXPECT_GT(last["skipped_steps"].get<int>(), 10);
    EXPECT_LT(last["loss_scale"].get<double>(), 65536);
}

TEST(CheckpointProblems, NameWhatDoesNotFit)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto written = train(tiny_plan(tokens, {"run.steps=2", "run.checkpoint.every=2"}), folder.path() / "written");
    ASSERT_EQ(written.problem, "");
    const std::string load = "run.checkpoint.load=\"" + written.checkpoints.at(2) + "\"";
    const auto problem = [&](const std::vector<std::string>& assignments) {
        const fs::path run = folder.path() / ("run" + std::to_string(std::rand()));
        return train(tiny_plan(tokens, assignments), run).problem;
    };
    EXPECT_THAT(problem({load, "model.intermediate_size=64"}), HasSubstr("[32, 48], the plan's model needs [32, 64]"));
    EXPECT_THAT(problem({load, "model.num_hidden_layers=3"}), HasSubstr("model.layers.2"));
    // They would take a part of it.
    EXPECT_THAT(problem({load, "model.num_hidden_layers=1"}),
        HasSubstr("config.json: num_hidden_layers is 2, the plan's model has 1"));
    EXPECT_THAT(problem({load, "model.num_attention_heads=2", "model.num_key_value_heads=1"}),
        HasSubstr("num_attention_heads is 4, the plan's model has 2")); // of which every tensor has the same shape
    EXPECT_THAT(problem({load, "model.tie_word_embeddings=true"}),
        HasSubstr("tie_word_embeddings is false, the plan's model has true"));
    const auto other
        = train(tiny_plan(tokens, {load, "run.steps=3", "model.rope_theta=123.0"}), folder.path() / "rope");
    EXPECT_EQ(other.problem, "");
    EXPECT_THAT(other.warnings, ::testing::Contains(HasSubstr("rope_theta is 100.0, the plan's model has 123.0")));
    // What the plan does not say at all is told as well: the same weights would compute something else.
    const auto without
        = train(tiny_plan(tokens, {load, "run.steps=3", "model.rope_scaling=null"}), folder.path() / "no");
    EXPECT_EQ(without.problem, "");
    EXPECT_THAT(without.warnings,
        ::testing::Contains(
            ::testing::AllOf(HasSubstr("rope_scaling is {"), HasSubstr("the plan's model leaves it out"))));
    EXPECT_THAT(problem({load, "training.optimizer=\"muon\""}), HasSubstr("which the plan's optimizer needs"));
    EXPECT_THAT(problem({load, "run.steps=2"}), HasSubstr("has finished 2 steps"));
    EXPECT_THAT(problem({"run.checkpoint.load=\"/nowhere\""}), HasSubstr("run.checkpoint.load /nowhere"));
    EXPECT_THAT(problem({"run.checkpoint.every=1", "run.checkpoint.path=\"/proc/none\""}), HasSubstr("/proc/none"));
}

// The same weights in PyTorch: loss and all gradients. One Python for all families: it takes seconds to start.
TEST(AgainstPyTorch, LossesAndGradientsOfTheFamiliesAgree)
{
    const std::string python = python_with("torch");
    if (python.empty())
        GTEST_SKIP() << "there is no Python 3.11, the only one for which LibTorch's wheel has PyTorch";
    const std::vector<std::pair<std::string, std::vector<std::string>>> families{{"llama3", {}},
        {"qwen2_tied_pp2", {"model.model_type=\"qwen2\"", "model.tie_word_embeddings=true", "gpus=2", "layout.pp=2"}},
        {"gpt2_tp2", {kGpt2, "gpus=2", "layout.tp=2"}}, {"bloom", {kBloom}}, {"mixtral", kMixtral},
        {"qwen3_moe_ep2",
            {"model.model_type=\"qwen3_moe\"", "model.num_experts=6", "model.num_experts_per_tok=3",
                "model.moe_intermediate_size=16", "gpus=2", "layout.dp=2", "layout.ep=2", "training.micro_batch=1"}},
        {"deepseek", {kDeepseek}}};
    const TemporaryFolder folder;
    const auto tokens = folder.path() / "one.bin"; // exactly one sequence: every sample is this one
    std::ofstream out(tokens, std::ios::binary);
    for (int i = 0; i < 17; ++i)
        out.put(static_cast<char>((i * i + 3) % 61)).put(0);
    out.close();
    std::string command = python + "'" FOURFOLD_TEST_DATA "/reference.py'";
    for (const auto& [name, assignments] : families) {
        ResolvedPlan plan = tiny_plan(tokens,
            joined(assignments,
                {"run.steps=4", "run.checkpoint.every=1", "run.clip_norm=0", "training.global_batch=2",
                    "run.warmup_steps=0"}));
        plan.run.data[0].end = 1;
        plan.run.eval.data.clear();
        const auto trained = train(plan, folder.path() / name);
        ASSERT_EQ(trained.problem, "") << name;
        char loss[32];
        std::snprintf(loss, sizeof loss, "%.9g", trained.losses.at(4));
        command += " " + name + " " + trained.checkpoints.at(3) + " " + trained.checkpoints.at(4) + " "
            + tokens.string() + " " + loss + " " + std::to_string(plan.run.beta1);
    }
    const std::string log = (folder.path() / "python.log").string();
    EXPECT_EQ(std::system((command + " >" + log + " 2>&1").c_str()), 0) << std::ifstream(log).rdbuf();
    std::ifstream in(log);
    const std::string said(std::istreambuf_iterator<char>(in), {});
    for (const auto& [name, assignments] : families)
        EXPECT_THAT(said, HasSubstr(name + ": loss ")) << "not compared";
}

} // namespace
} // namespace fourfold::testing
