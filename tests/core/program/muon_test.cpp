// SPDX-License-Identifier: GPL-3.0-or-later
// Muon in the operation list: who works on which matrix, FLOPs, bytes and states.
#include "core/plan/plan.h"
#include "core/predict/prediction.h"
#include "core/program/muon.h"
#include "core/program/operation.h"
#include "core/search/economics.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace fourfold::test {
namespace {

ResolvedPlan muon_plan(
    const std::string& model, const Json& layout, const std::string& sharding, const std::string& optimizer = "muon")
{
    int gpus = 1;
    for (const char* key : {"tp", "cp", "pp", "dp"})
        gpus *= layout.value(key, 1);
    return resolved({{"model", model}, {"cluster", "dgx-h100"}, {"gpus", gpus}, {"stack", "fourfold"},
        {"layout", layout}, {"training", {{"optimizer", optimizer}, {"sharding", sharding}, {"precision", "bf16"}}}});
}

// Over the ranks of the job, of the operations of a step whose name begins so.
double bytes_of(const ResolvedPlan& plan, const std::string& name)
{
    double sum = 0;
    for (const StageProgram& stage : build_program(plan))
        for (const Operation& op : stage.step_operations)
            if (const auto* collective = op.as<Collective>(); collective != nullptr && op.name == name)
                sum += collective->bytes * op.repeat * plan.gpus / plan.layout.pp;
    return sum;
}
double flops_of_a_rank(const ResolvedPlan& plan)
{
    double sum = 0;
    for (const StageProgram& stage : build_program(plan))
        for (const Operation& op : stage.step_operations)
            sum += op.flops() * op.repeat;
    return sum;
}
double bytes_held(const ResolvedPlan& plan, std::string_view name)
{
    double sum = 0;
    for (const StageProgram& stage : build_program(plan))
        for (const Allocation& allocation : stage.allocations)
            sum += allocation.name == name ? allocation.bytes : 0;
    return sum;
}

// 32 layers of Llama 3.1 8B: queries and output 4096 x 4096, keys and values 1024 x 4096, three of 4096 x 14336.
constexpr double kSquare = 4096.0 * 4096, kKeys = 1024.0 * 4096, kMlp = 4096.0 * 14336;
constexpr double kMatrices = 32 * (2 * kSquare + 2 * kKeys + 3 * kMlp);

double iteration(double rows, double columns) // five times X X^T, its square, and the product with X
{
    return 5 * 2 * (2 * rows * rows * columns + rows * rows * rows);
}

TEST(Muon, IteratesEveryMatrixOnceOnOneOfItsRanks)
{
    const double whole = 32 * (2 * iteration(4096, 4096) + 2 * iteration(1024, 4096) + 3 * iteration(4096, 14336));
    EXPECT_NEAR(flops_of_a_rank(muon_plan("llama-3.1-8b", {{"tp", 1}}, "none")) / whole, 1, 1e-12);
    for (const char* sharding : {"none", "optimizer", "gradients", "parameters"})
        EXPECT_NEAR(flops_of_a_rank(muon_plan("llama-3.1-8b", {{"tp", 2}, {"dp", 4}}, sharding)) * 8 / whole, 1, 1e-12)
            << sharding;
    // 64 owners: the 96 largest matrices are two for some of them, for whom the others wait; of the others each has
    // one.
    EXPECT_NEAR(flops_of_a_rank(muon_plan("llama-3.1-8b", {{"tp", 8}, {"dp", 8}}, "parameters")),
        iteration(4096, 4096) + iteration(1024, 4096) + 2 * iteration(4096, 14336), 1);
    EXPECT_EQ(flops_of_a_rank(muon_plan("llama-3.1-8b", {{"tp", 2}}, "none", "fused-adamw")), 0);
}

TEST(Muon, SendsEveryMatrixToItsOwnerAndBack)
{
    const double both = 2 * kMatrices; // in bf16
    const ResolvedPlan cut = muon_plan("llama-3.1-8b", {{"tp", 2}, {"dp", 4}}, "optimizer");
    EXPECT_NEAR(bytes_of(cut, "muon gather of shards"), both, 1);
    EXPECT_NEAR(bytes_of(cut, "muon gather of slices"), both, 1);
    EXPECT_NEAR(bytes_of(cut, "muon slices back"), both, 1);
    EXPECT_NEAR(bytes_of(cut, "muon shards back"), both, 1);
    // Whole on each replica: nothing to gather there, but all must hear of all.
    const ResolvedPlan whole = muon_plan("llama-3.1-8b", {{"tp", 2}, {"dp", 4}}, "none");
    EXPECT_EQ(bytes_of(whole, "muon gather of shards"), 0);
    EXPECT_NEAR(bytes_of(whole, "muon steps to the replicas"), 4 * both, 1);
    // 16 tp ranks share 8 key heads: only one of two tells its slice, and both hear.
    const ResolvedPlan keys = muon_plan("llama-3.1-8b", {{"tp", 16}}, "none");
    EXPECT_NEAR(bytes_of(keys, "muon gather of slices"), both, 1);
    EXPECT_NEAR(bytes_of(keys, "muon slices back"), both + 2 * 32 * 2 * kKeys, 1);
    const ResolvedPlan hybrid = muon_plan("llama-3.1-8b", {{"dp", 4}, {"dp_shard", 2}}, "hybrid");
    EXPECT_NEAR(bytes_of(hybrid, "muon gather of shards"), both, 1);
    EXPECT_NEAR(bytes_of(hybrid, "muon shards to the copies"), 2 * both, 1);
}

TEST(Muon, KeepsOneStateOfAMatrix)
{
    for (const char* sharding : {"none", "optimizer"}) {
        const Json layout{{"tp", 2}, {"dp", 4}};
        const ResolvedPlan plan = muon_plan("llama-3.1-8b", layout, sharding);
        const double saved = bytes_held(muon_plan("llama-3.1-8b", layout, sharding, "fused-adamw"), "optimizer states")
            - bytes_held(plan, "optimizer states");
        EXPECT_NEAR(saved, 4 * kMatrices / 2 / (plan.training.sharding == Sharding::none ? 1 : 4), 1);
    }
    const ResolvedPlan plan = muon_plan("llama-3.1-8b", {{"tp", 1}}, "none");
    const double parameters = plan.model.parameters();
    EXPECT_NEAR(checkpoint_bytes(plan), parameters * (2 + 4 + 8) - 4 * kMatrices, 1);
    // Two of 4096 x 14336 in bf16 and two of 4096 x 4096; or, of four replicas, five such steps and the owner's own.
    EXPECT_NEAR(bytes_held(plan, "matrices in iteration"), 2 * 2 * (kMlp + kSquare), 1);
    const ResolvedPlan copies = muon_plan("llama-3.1-8b", {{"tp", 1}, {"dp", 4}}, "none");
    EXPECT_NEAR(bytes_held(copies, "matrices in iteration"), 2 * 6 * kMlp, 1);
}

TEST(Muon, DealsExpertsAmongTheirOwnRanks)
{
    const Json layout{{"tp", 2}, {"dp", 8}, {"ep", 4}, {"etp", 2}};
    const ResolvedPlan plan = muon_plan("mixtral-8x7b", layout, "optimizer");
    const double dense = 32 * (2 * kSquare + 2 * kKeys), experts = 32 * 8 * 3 * kMlp;
    EXPECT_NEAR(bytes_of(plan, "muon gather of shards"), 2 * (dense + experts), 1);
    const double whole = 32 * (2 * iteration(4096, 4096) + 2 * iteration(1024, 4096)) / 16
        + 32 * 8 * 3 * iteration(4096, 14336) / 4 / 4;
    EXPECT_NEAR(flops_of_a_rank(plan) / whole, 1, 1e-12);
}

TEST(Muon, SmallMatricesGoTogetherAndNobodyWaitsForMoreThanHisShare)
{
    const MuonDeal deal(4, 1000, 3000);
    EXPECT_EQ(deal.at_once, 3);
    EXPECT_EQ(deal.most(25), 7);
    EXPECT_EQ(deal.rounds(25), 3);
    std::array<int, 4> owned{};
    for (int matrix = 0; matrix < 25; ++matrix)
        ++owned[std::size_t(deal.owner(matrix))];
    EXPECT_THAT(owned, ::testing::ElementsAre(7, 6, 6, 6));
    EXPECT_EQ(MuonDeal(4, 5000, 3000).at_once, 1);
}

// The update waits for products and exchanges; the rate of their FLOPs is the machine's.
TEST(Muon, TakesItsTimeInTheUpdate)
{
    const auto optimizer_s = [](const char* optimizer) {
        return predict(muon_plan("llama-3.1-8b", {{"tp", 8}, {"dp", 2}}, "optimizer", optimizer))
            .time_by_part[Part::optimizer];
    };
    const double whole = 32 * (2 * iteration(4096, 4096) + 2 * iteration(1024, 4096) + 3 * iteration(4096, 14336));
    const double least = whole / 16 / 989e12;
    EXPECT_GT(optimizer_s("muon") - optimizer_s("fused-adamw"), least);
    EXPECT_LT(optimizer_s("muon") - optimizer_s("fused-adamw"), 5 * least);
}

// With its states on the host the momentum of each matrix comes to the device, and the step goes back.
TEST(Muon, SendsMomentumAndStepWhereStatesAreOnTheHost)
{
    ResolvedPlan muon = muon_plan("llama-3.1-8b", {{"tp", 8}}, "none"), adam = muon;
    muon.training.offload = adam.training.offload = Offload::optimizer;
    adam.training.optimizer = Optimizer::fused_adamw;
    EXPECT_THAT(check(muon), ::testing::IsEmpty());
    const auto transfer_s = [](const ResolvedPlan& plan) {
        double seconds = 0;
        for (const PricedOperation& priced : predict(plan).operations)
            if (priced.operation.name == "gradients to the host, weights back")
                seconds += priced.seconds;
        return seconds;
    };
    const double matrices = 32.0 * (2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 4096 * 14336) / 8;
    const double all = matrices + 2.0 * 128256 * 4096 / 8 + 65 * 4096;
    const double more
        = 2 * 2 * matrices / (all * (4 + 2)); // bf16 both ways, beside gradients in fp32 and weights in bf16
    EXPECT_NEAR(transfer_s(muon) / transfer_s(adam), 1 + more, 0.01);
}

} // namespace
} // namespace fourfold::test
