// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal does what real ranks do: their collectives and messages by number and bytes, their products by FLOPs, and
// their tensors by bytes at the peak, each rank by itself and with the tokens that its experts had. Plans for GPUs,
// too, are rehearsed as they run here, on CPUs. In the long test the whole matrix. With FOURFOLD_REHEARSED_REPORT=FILE
// it adds a line for each mesh to a table.
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
#include <optional>

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

// What the data decide and no routing tells: which keys are of other documents than all queries of a rank.
bool is_told(const ResolvedPlan& plan)
{
    return !plan.run.documents.mask || plan.layout.cp == 1;
}

// What the experts of both steps got, rank by rank: a rehearsal repeats it.
std::optional<RoutingRecord> routing_of(const Json& counts, const ResolvedPlan& plan)
{
    if (!plan.model.experts)
        return {};
    return RoutingRecord(counts["routing"].get<std::vector<RoutingRecord::Counts>>());
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
    for (int rank = 0; rank < plan.gpus; ++rank) {
        SCOPED_TRACE("rank " + std::to_string(rank));
        const auto counts = read_json_file(folder.path() / ("counts" + std::to_string(rank) + ".json"));
        ASSERT_TRUE(counts) << counts.error().line();
        const auto rehearsed
            = rehearse_rank(plan, rank, {.routing = routing_of(*counts, plan), .on_cpus = true, .threads = 1});
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        WireTotals traffic;
        for (const Json& each : (*counts)["traffic"])
            traffic[{each[0].get<std::string>(), each[1].get<std::string>()}]
                = {each[2].get<int64_t>(), each[3].get<int64_t>()};
        const double flops = (*counts)["flops"].get<double>();
        if (is_told(plan)) {
            EXPECT_EQ(words(rehearsed->traffic), words(traffic));
            EXPECT_EQ(rehearsed->work.flops, flops);
        } else {
            EXPECT_GE(rehearsed->work.flops, flops);
        }
        const Peak peak{(*counts)["peak_bytes"].get<double>(), double(rehearsed->requested)};
        constexpr double kBound = 0.01;
        EXPECT_NEAR(peak.rehearsed, peak.real, kBound * peak.real);
        if (std::abs(peak.difference()) > std::abs(worst.difference()) || rank == 0)
            worst = peak;
    }
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
        {"ep2_etp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"},
            {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2"}},
        {"ep4_dropping", {"gpus=4", "layout.dp=4", "layout.ep=4"},
            {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2",
                "training.experts.capacity=1"}},
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
