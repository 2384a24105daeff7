// SPDX-License-Identifier: GPL-3.0-or-later
// A text that is read token by token, with the keys and values of what came before, against the same text computed as a
// whole at each of its lengths, in fp64; of every kind of attention and of positions.
#include "runner/trainer/inference/text_reader.h"
#include "runner/trainer/trainer.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <numeric>

namespace fourfold::testing {
namespace {

using trainer::TextReader;
using trainer::Trainer;

struct Family {
    const char* name;
    std::vector<std::string> model;
};
void PrintTo(const Family& family, std::ostream* out)
{
    *out << family.name;
}

// A trained model, so that no norm is one and no bias zero.
class ReadText : public ::testing::TestWithParam<Family> {
protected:
    ReadText()
        : plan_(tiny_plan(write_tokens(folder_.path()), GetParam().model))
        , mesh_(trainer::make_mesh(plan_, 0, *trainer::listed_schedule(plan_), nullptr))
        , trainer_(*Trainer::create(plan_, mesh_, {false, true}))
        , options_(at::TensorOptions(at::kDouble))
    {
        at::set_num_threads(1);
        for (int step = 0; step < 2; ++step) {
            auto outcome = *trainer_->accumulate_gradients(step);
            trainer_->update(step, outcome);
        }
    }
    TextReader reader() { return TextReader({plan_, mesh_, trainer_->weights(), trainer_->units(), later_, options_}); }
    at::Tensor whole(const std::vector<int64_t>& text)
    {
        const at::NoGradGuard no_graph;
        ResolvedPlan plan = plan_;
        plan.training.seq_len = int(text.size());
        std::vector<int64_t> positions(text.size());
        std::iota(positions.begin(), positions.end(), 0);
        const auto settings = trainer::block_settings(plan, mesh_, positions, options_, later_, nullptr);
        const auto decoders
            = trainer::make_decoders(plan, mesh_, trainer_->weights(), trainer_->units(), settings, positions);
        const at::Tensor ids = at::tensor(at::ArrayRef<int64_t>(text), at::kLong).unsqueeze(1);
        return decoders[0].logits(decoders[0].forward(ids, {})).squeeze(1)[-1].narrow(0, 0, plan.model.vocab);
    }
    static void expect_equal(const at::Tensor& a, const at::Tensor& b, std::size_t length)
    {
        ASSERT_EQ(a.sizes(), b.sizes());
        EXPECT_LT(a.sub(b).abs().max().item<double>(), 1e-11 * b.abs().max().item<double>()) << length << " tokens";
    }

    TemporaryFolder folder_;
    ResolvedPlan plan_;
    trainer::Mesh mesh_;
    std::unique_ptr<Trainer> trainer_;
    at::TensorOptions options_;
    trainer::WeightGradients later_;
};

TEST_P(ReadText, OneByOneIsTheWhole)
{
    std::vector<int64_t> text{5, 6, 7, 1, 0};
    TextReader one_by_one = reader();
    expect_equal(one_by_one.read(text), whole(text), text.size());
    const auto positions = std::size_t(plan_.model.max_positions);
    while (text.size() < std::min<std::size_t>(positions, 40)) {
        // Now and then several at once.
        std::vector<int64_t> more;
        for (int i = 0; i < (text.size() % 7 == 0 && text.size() + 3 <= positions ? 3 : 1); ++i)
            more.push_back(int64_t(text.size() * 31 + std::size_t(i) * 17) % plan_.model.vocab);
        text.insert(text.end(), more.begin(), more.end());
        expect_equal(one_by_one.read(more), whole(text), text.size());
    }
    EXPECT_GT(text.size(), 30u);
}

INSTANTIATE_TEST_SUITE_P(Families, ReadText,
    ::testing::Values(Family{"llama_grouped", {}}, Family{"gpt2_learned_positions", {kTinyGpt2}},
        Family{"bloom_linear_biases", {kTinyBloom}}, Family{"neox_part_of_a_head_turned", {kNeox}},
        Family{"gemma_windows", {kGemma}}, Family{"gpt_oss_sinks", {kGptOss}},
        Family{"deepseek_latents", {kTinyDeepseek}},
        Family{"mistral_window", {"model.model_type=\"mistral\"", "model.sliding_window=7"}},
        Family{"dynamic",
            {R"(model.rope_scaling={"rope_type":"dynamic","factor":4.0})", "model.max_position_embeddings=32"}},
        // Turned anew when the text is longer than 16 tokens.
        Family{"longrope",
            {R"(model.rope_scaling={"rope_type":"longrope","original_max_position_embeddings":16,)"
             R"("short_factor":[1,1.1,1.2,1.3],"long_factor":[2,2.5,3,3.5]})"}},
        Family{"scores_in_memory", {"training.attention=\"unfused\""}}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::testing
