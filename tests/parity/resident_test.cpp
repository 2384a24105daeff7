// SPDX-License-Identifier: GPL-3.0-or-later
// What a CPU rank has resident at its peak: its tensors, as a rehearsal counts them, and the program; nothing that lies
// between tensors.
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

TEST(Resident, ARankIsItsTensorsAndTheProgram)
{
    const fourfold::testing::TemporaryFolder folder;
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        {R"(model={"model_type":"llama","vocab_size":512,"tie_word_embeddings":false,"hidden_size":512,)"
         R"("num_hidden_layers":4,"num_attention_heads":8,"num_key_value_heads":8,"intermediate_size":1408,)"
         R"("max_position_embeddings":512})",
            "gpus=1", "training.seq_len=256", "training.micro_batch=4", "training.global_batch=8",
            "training.precision=\"fp32\"", "run.steps=2", "run.log_every=1"});
    ASSERT_TRUE(plan.cluster.gpu.is_cpu());
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    const auto trained = fourfold::testing::train(plan, folder / "run");
    ASSERT_EQ(trained.problem, "");
    constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
    const double tensors = double(rehearsed->requested) / kMiB,
                 resident = trained.steps.at(2).at("memory_peak_gib").get<double>() * kGiB / kMiB;
    EXPECT_GT(tensors, 250);
    EXPECT_GT(resident, tensors);
    constexpr double kProgram = 128; // LibTorch's tables, its code that training runs, and ours
    EXPECT_LT(resident - tensors, kProgram) << resident << " MiB resident";
}

} // namespace
} // namespace fourfold::trainer
