// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal does what real ranks do: their collectives and messages by number and bytes, and their products by FLOPs,
// each rank by itself. Tensors differ: CPU kernels have temporaries that a GPU's do not have, and Gloo copies. In the
// long test all meshes whose traffic has a closed form.
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

using fourfold::testing::Case;
using namespace std::chrono_literals;

std::string words(const WireTotals& totals)
{
    std::string text;
    for (const auto& [key, total] : totals)
        text += key.first + " " + key.second + " " + std::to_string(total.count) + " times, "
            + std::to_string(total.bytes) + " bytes\n";
    return text;
}

class RehearsedWork : public ::testing::TestWithParam<Case> { };

TEST_P(RehearsedWork, IsWhatRealRanksDo)
{
    const fourfold::testing::TemporaryFolder folder;
    // In bf16 attention is fused on both.
    const auto plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        fourfold::testing::joined(
            fourfold::testing::joined(GetParam().model, GetParam().mesh), {"training.precision=\"bf16\""}));
    fourfold::testing::Ranks ranks(plan.gpus,
        {fourfold::testing::parity_worker(), "--plan", fourfold::testing::write_plan(plan, folder.path()), "--run-dir",
            folder.path(), "--count"},
        folder.path());
    ASSERT_EQ(ranks.wait(200s), std::vector<int>(std::size_t(plan.gpus), 0)) << ranks.log(0);
    for (int rank = 0; rank < plan.gpus; ++rank) {
        const auto counts = read_json_file(folder.path() / ("counts" + std::to_string(rank) + ".json"));
        ASSERT_TRUE(counts) << counts.error().line();
        const auto rehearsed = rehearse_rank(plan, rank);
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        WireTotals real;
        for (const Json& each : (*counts)["traffic"])
            real[{each[0].get<std::string>(), each[1].get<std::string>()}]
                = {each[2].get<int64_t>(), each[3].get<int64_t>()};
        EXPECT_EQ(words(rehearsed->traffic), words(real)) << "rank " << rank;
        EXPECT_EQ(rehearsed->work.flops, (*counts)["flops"].get<double>()) << "rank " << rank;
        if (!plan.cluster.gpu.is_cpu())
            continue; // there are the workspaces of a GPU's libraries, which these ranks do not have
        const double peak = (*counts)["peak_bytes"].get<double>();
        constexpr double kTemporaries = 0.3; // of the peak, at these sizes
        EXPECT_LE(double(rehearsed->requested), peak) << "rank " << rank;
        EXPECT_GT(double(rehearsed->requested), (1 - kTemporaries) * peak) << "rank " << rank;
    }
}

std::vector<Case> cases()
{
    auto cases = fourfold::testing::unpadded_cases();
#ifndef FOURFOLD_EVERY_MESH
    constexpr std::size_t kEvery = 4;
    std::erase_if(cases, [place = std::size_t(0)](const Case&) mutable { return place++ % kEvery != 0; });
#endif
    return cases;
}
INSTANTIATE_TEST_SUITE_P(
    Plans, RehearsedWork, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::trainer
