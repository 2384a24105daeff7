// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal does what real ranks do: their collectives and messages by number and bytes, their products by FLOPs, and
// their tensors by bytes at the peak, each rank by itself (where experts are on several ranks, the first two of all
// ranks together). Plans for GPUs, too, are rehearsed as they run here, on CPUs. In the long test the whole matrix.
// With FOURFOLD_REHEARSED_REPORT=FILE it adds a line for each mesh to a table.
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/matrix.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace fourfold::trainer {
namespace {

using fourfold::testing::Case;
using fourfold::testing::joined;

std::string words(const WireTotals& totals)
{
    std::string text;
    for (const auto& [key, total] : totals)
        text += key.first + " " + key.second + " " + std::to_string(total.count) + " times, "
            + std::to_string(total.bytes) + " bytes\n";
    return text;
}

// What the data decide, a rehearsal does not know: which experts on which ranks get how many tokens, of which it drops
// none, and which keys are of other documents than all queries of a rank.
bool balanced(const ResolvedPlan& plan)
{
    return plan.layout.ep == 1;
}
bool drops_nothing(const ResolvedPlan& plan)
{
    return plan.training.experts.capacity == 0 && (!plan.run.documents.mask || plan.layout.cp == 1);
}
// In 8 bits blocks of an expert's tokens are filled up with zeros, but for those that no token came to.
bool fills_every_block(const ResolvedPlan& plan)
{
    return plan.training.precision != Precision::fp8 || !plan.model.experts
        || plan.training.fp8_recipe != Fp8Recipe::blockwise;
}

// Of one rank, or of all together.
struct Done {
    WireTotals traffic;
    double flops = 0;
    void add(const Done& other)
    {
        flops += other.flops;
        for (const auto& [key, total] : other.traffic) {
            traffic[key].count += total.count;
            traffic[key].bytes += total.bytes;
        }
    }
};

void compare_done(const Done& rehearsed, const Done& real, const ResolvedPlan& plan)
{
    if (drops_nothing(plan)) {
        EXPECT_EQ(words(rehearsed.traffic), words(real.traffic));
    }
    if (drops_nothing(plan) && fills_every_block(plan)) {
        EXPECT_EQ(rehearsed.flops, real.flops);
    } else {
        EXPECT_GE(rehearsed.flops, real.flops);
    }
}

// Of the rank that is furthest off.
struct Peak {
    double real = 1, rehearsed = 1; // bytes
    [[nodiscard]] double difference() const { return rehearsed / real - 1; }
};

void report(const Case& mesh, int ranks, const Peak& peak, bool equal)
{
    const char* const file = std::getenv("FOURFOLD_REHEARSED_REPORT");
    if (file == nullptr)
        return;
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %d | %.0f | %.0f | %+.3f %% | %s |\n", mesh.name.c_str(), ranks, peak.real,
        peak.rehearsed, 100 * peak.difference(), equal ? "equal" : "**not equal**");
    std::ofstream(file, std::ios::app) << line;
}

class RehearsedWork : public ::testing::TestWithParam<Case> { };

TEST_P(RehearsedWork, IsWhatRealRanksDo)
{
    const fourfold::testing::TemporaryFolder folder;
    const auto plan = fourfold::testing::tiny_plan(
        fourfold::testing::write_tokens(folder.path()), joined(GetParam().model, GetParam().mesh));
    const auto done = fourfold::testing::run_ranks(plan, folder.path(), {"--count"});
    ASSERT_EQ(done, "");
    Peak worst;
    Done all_real, all_rehearsed;
    for (int rank = 0; rank < plan.gpus; ++rank) {
        SCOPED_TRACE("rank " + std::to_string(rank));
        const auto counts = read_json_file(folder.path() / ("counts" + std::to_string(rank) + ".json"));
        ASSERT_TRUE(counts) << counts.error().line();
        const auto rehearsed = rehearse_rank(plan, rank, {.on_cpus = true, .threads = 1});
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        Done real{{}, (*counts)["flops"].get<double>()};
        for (const Json& each : (*counts)["traffic"])
            real.traffic[{each[0].get<std::string>(), each[1].get<std::string>()}]
                = {each[2].get<int64_t>(), each[3].get<int64_t>()};
        const Done own{rehearsed->traffic, rehearsed->work.flops};
        all_real.add(real);
        all_rehearsed.add(own);
        if (balanced(plan))
            compare_done(own, real, plan);
        const Peak peak{(*counts)["peak_bytes"].get<double>(), double(rehearsed->requested)};
        constexpr double kBound = 0.01, kUnbalanced = 0.06;
        EXPECT_NEAR(peak.rehearsed, peak.real, (balanced(plan) ? kBound : kUnbalanced) * peak.real);
        if (std::abs(peak.difference()) > std::abs(worst.difference()) || rank == 0)
            worst = peak;
    }
    compare_done(all_rehearsed, all_real, plan);
    report(GetParam(), plan.gpus, worst, !HasFailure());
}

std::vector<Case> cases()
{
#ifdef FOURFOLD_EVERY_MESH
    using namespace fourfold::testing;
    std::vector<Case> all;
    for (const auto& part : {all_cases(), unpadded_cases(), more_pipeline_cases(), precision_cases(),
             more_precision_cases(), mesh_shapes()})
        for (const Case& each : part)
            if (std::ranges::none_of(all, [&](const Case& known) { return known.name == each.name; }))
                all.push_back(each);
    return all;
#else
    return {
        {"fsdp_tp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"zero1_cp2_recompute",
            {"gpus=2", "layout.cp=2", "training.sharding=\"optimizer\"", "training.recompute=\"full\""}, {}},
        {"pp2", {"gpus=2", "layout.pp=2"}, {}},
        {"interleaved_gpt2", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""},
            {R"(model={"model_type":"gpt2","vocab_size":61,"n_embd":32,"n_layer":4,"n_head":4,"n_positions":32})"}},
        {"zb_v_bloom_zero2",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.schedule=\"zb-v\"",
                "training.sharding=\"gradients\""},
            {R"(model={"model_type":"bloom","vocab_size":61,"hidden_size":32,"n_layer":4,"n_head":4})"}},
        {"muon_dp3_zero1", {"gpus=3", "layout.dp=3", "training.sharding=\"optimizer\""},
            {"training.optimizer=\"muon\"", "training.global_batch=12"}},
        {"bf16_async_tp2", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {"training.precision=\"bf16\""}},
        {"async_beside_tp2",
            {"gpus=2", "layout.tp=2", "training.async_tp=true", "training.overlap.tensor_parallel=true"}, {}},
    };
#endif
}
INSTANTIATE_TEST_SUITE_P(
    Plans, RehearsedWork, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });
#ifdef FOURFOLD_EVERY_MESH
INSTANTIATE_TEST_SUITE_P(CoveringArray, RehearsedWork, ::testing::ValuesIn(fourfold::testing::covering_array(3, 16)),
    [](const auto& info) { return "row" + std::to_string(info.index) + "_" + info.param.name; });
#endif

} // namespace
} // namespace fourfold::trainer
