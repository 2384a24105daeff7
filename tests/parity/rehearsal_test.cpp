// SPDX-License-Identifier: GPL-3.0-or-later
// Rehearsals of the parity matrix: what the ranks ask for is what real runs send (traffic_test.cpp compares those with
// the same list), no rank waits for ever, and wires that are known to deadlock are found out.
#include "runner/trainer/rehearsal/rehearse.h"

#include "core/memory/replay.h"
#include "core/plan/plan_constants.h"
#include "core/plan/plan_schedule.h"
#include "core/program/build.h"
#include "core/rehearsal/match.h"
#include "core/schedule/schedules.h"
#include "tests/parity/compare.h"
#include "tests/parity/expected_traffic.h"
#include "tests/parity/matrix.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>

namespace fourfold::trainer {
namespace {

using fourfold::testing::Case;
using ::testing::HasSubstr;

ResolvedPlan plan_of(const Case& wanted, const std::vector<std::string>& more = {})
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    auto changes = fourfold::testing::joined(wanted.model, wanted.mesh);
    changes.insert(changes.end(), more.begin(), more.end());
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()), changes);
}

std::vector<RankProgram> programs_of(const ResolvedPlan& plan)
{
    std::vector<RankProgram> programs;
    for (int rank = 0; rank < plan.gpus; ++rank) {
        auto rehearsed = rehearse_rank(plan, rank);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        EXPECT_EQ(rehearsed->misused, "") << "rank " << rank;
        programs.push_back(std::move(rehearsed->program));
    }
    return programs;
}

std::string words(const fourfold::testing::Traffic& traffic)
{
    std::string text;
    for (const auto& [key, bytes] : traffic)
        text += key.first + " " + key.second + " " + std::to_string(int64_t(bytes)) + "\n";
    return text;
}

class Rehearsed : public ::testing::TestWithParam<Case> { };

TEST_P(Rehearsed, SendsWhatThePlannerLists)
{
    const ResolvedPlan plan = plan_of(GetParam());
    fourfold::testing::Traffic traffic;
    for (int rank = 0; rank < plan.gpus; ++rank) {
        const auto rehearsed = rehearse_rank(plan, rank);
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        for (const auto& [key, total] : rehearsed->traffic)
            if (total.bytes > 0)
                traffic[key] += double(total.bytes);
    }
    EXPECT_EQ(words(traffic), words(fourfold::testing::planned_traffic(plan)));
}
INSTANTIATE_TEST_SUITE_P(Plans, Rehearsed, ::testing::ValuesIn(fourfold::testing::unpadded_cases()),
    [](const auto& info) { return info.param.name; });

// The rows of the matrix: in the long test all, in the quick one some of every kind.
std::vector<Case> rows()
{
    std::vector<Case> cases = fourfold::testing::all_cases();
#ifdef FOURFOLD_EVERY_MESH
    const std::vector<Case> more = fourfold::testing::more_data_cases();
    cases.insert(cases.end(), more.begin(), more.end());
#else
    constexpr int kEvery = 5;
    std::erase_if(cases, [place = 0](const Case&) mutable { return place++ % kEvery != 0; });
#endif
    return cases;
}

// What is played from a tape leaves what computing it leaves: messages, waits, work, memory; with enough micro-batches
// that most are played.
TEST(Rehearsal, FoldingMicroBatchesChangesNothing)
{
    constexpr int kMostRanks = 8;
    int64_t played = 0;
    for (const Case& each : rows()) {
        const ResolvedPlan plan = plan_of(each, {"training.global_batch=32"});
        // A schedule file has its own number of micro-batches; a V, and a schedule whose weight gradients wait, are
        // rehearsed whole where their passes differ, as are pipelines in which what one micro-batch keeps is on its way
        // to the host until the pass of another.
        const ScheduleTraits& traits = traits_of(plan.training.schedule);
        const bool folds = traits.order == ChunkOrder::loop && !traits.splits_backward
            && (plan.training.offload != Offload::activations || plan.layout.pp == 1) && !passes_side_by_side(plan);
        if (plan.gpus > kMostRanks || !check(plan).empty() || !plan.training.schedule_csv.empty())
            continue;
        for (const int rank : std::set<int>{0, plan.gpus - 1}) {
            const auto folded = rehearse_rank(plan, rank, {.fold = true}),
                       whole = rehearse_rank(plan, rank, {.fold = false});
            ASSERT_TRUE(folded && whole) << each.name;
            EXPECT_EQ(folded->program.operations, whole->program.operations) << each.name;
            EXPECT_EQ(folded->program.steps, whole->program.steps) << each.name;
            EXPECT_EQ(folded->program.work_s.size(), whole->program.work_s.size()) << each.name;
            for (std::size_t i = 0; i < whole->program.work_s.size(); ++i)
                ASSERT_NEAR(folded->program.work_s[i], whole->program.work_s[i], 1e-12) << each.name << " " << i;
            EXPECT_EQ(folded->program.passes.size(), whole->program.passes.size()) << each.name;
            EXPECT_EQ(folded->requested, whole->requested) << each.name;
            EXPECT_EQ(folded->allocated, whole->allocated) << each.name;
            EXPECT_EQ(folded->reserved, whole->reserved) << each.name;
            EXPECT_EQ(folded->work.flops, whole->work.flops) << each.name;
            EXPECT_EQ(folded->work.launches, whole->work.launches) << each.name;
            EXPECT_EQ(whole->played, 0) << each.name;
            EXPECT_TRUE(folded->played > 0 || !folds) << each.name << " rank " << rank << " cannot be folded";
            played += folded->played;
        }
    }
    EXPECT_GT(played, 100);
}

// Of the rank that has most, as the planner counts them where it subtracts their buffers: a link of a pipeline is half.
double communicators(const std::vector<RankProgram>& programs)
{
    double most = 0;
    for (const RankProgram& program : programs) {
        double own = 0;
        for (const Wire& wire : program.wires)
            if (wire.members.size() > 1)
                own += wire.name.starts_with("pp") ? 0.5 : 1;
        most = std::max(most, own);
    }
    return most;
}
double planned_communicators(const ResolvedPlan& plan)
{
    Constants constants = constants_of(plan);
    constants.set(Constant::context_memory_gib, 0);
    constants.set(Constant::communicator_memory_gib, 1);
    return device_overhead_gib(plan, constants);
}

// Under NCCL these meshes pass with four operations at once in one queue (nccl_parity_test.cpp runs them so).
TEST(Rehearsal, NoMeshOfTheMatrixWaitsForEver)
{
#ifdef FOURFOLD_EVERY_MESH
    constexpr int kMostRanks = 16;
#else
    constexpr int kMostRanks = 4; // the others take 30 s of a core; their real ranks run in trainer_nccl_parity_test
#endif
    auto cases = fourfold::testing::all_cases();
    const auto add = [&](const std::vector<Case>& more) { cases.insert(cases.end(), more.begin(), more.end()); };
    add(fourfold::testing::more_data_cases());
    add(fourfold::testing::precision_cases());
#ifdef FOURFOLD_EVERY_MESH
    add(fourfold::testing::more_precision_cases());
    add(fourfold::testing::more_pipeline_cases());
    add(fourfold::testing::sixteen_rank_cases());
#endif
    int tried = 0;
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        const ResolvedPlan plan = plan_of(each);
        if (plan.gpus > kMostRanks)
            continue;
        const auto programs = programs_of(plan);
        const auto matched = match_programs(programs, {4, true});
        EXPECT_TRUE(matched) << matched.error().message;
        // Which chunk of a file is where, the planner does not look at here.
        if (plan.training.schedule_csv.empty()) {
            EXPECT_EQ(communicators(programs), planned_communicators(plan));
        } else {
            EXPECT_LE(communicators(programs), planned_communicators(plan));
        }
        ++tried;
    }
    EXPECT_GT(tried, 20);
}

// The wires of every link of a kind made one: what the trainer had before each link got its own.
std::vector<RankProgram> with_one_wire(std::vector<RankProgram> programs, bool by_pair)
{
    for (RankProgram& program : programs)
        for (Wire& wire : program.wires)
            if (wire.name.starts_with("pp")) {
                const std::size_t slash = wire.name.find('/'), to = wire.name.find("to", slash);
                const int from = std::stoi(wire.name.substr(slash + 1)), other = std::stoi(wire.name.substr(to + 2));
                wire.name = by_pair
                    ? "pairs/" + std::to_string(std::min(from, other)) + "and" + std::to_string(std::max(from, other))
                    : wire.name.substr(0, slash) + "/all";
                if (by_pair)
                    std::ranges::sort(wire.members);
                else
                    wire.members = {0, 1, 2, 3};
            }
    // Wires of one name are one communicator also within a rank.
    for (RankProgram& program : programs)
        for (WireOperation& operation : program.operations)
            for (std::size_t first = 0; first < program.wires.size(); ++first)
                if (program.wires[first].name == program.wires[std::size_t(operation.wire)].name) {
                    operation.wire = int(first);
                    break;
                }
    return programs;
}

TEST(Rehearsal, SharedWiresAreFoundOut)
{
    const Case interleaved{"interleaved",
        {"gpus=4", "layout.pp=4", "layout.virtual_stages=2", "training.schedule=\"interleaved\""},
        {"model.num_hidden_layers=8"}};
    const auto programs = programs_of(plan_of(interleaved));
    EXPECT_TRUE(match_programs(programs, {8, false}));
    for (const bool by_pair : {false, true}) {
        const auto matched = match_programs(with_one_wire(programs, by_pair), {8, false});
        ASSERT_FALSE(matched) << "by pair: " << by_pair;
        EXPECT_THAT(matched.error().message, HasSubstr("the ranks wait for each other: rank "));
    }
}

// One change in what a rank asks for is found, and the rank is named.
TEST(Rehearsal, SeededFaultsAreFoundAndNamed)
{
    const Case mesh{"tp2_dp2_pp2", {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2"}, {}};
    const auto whole = programs_of(plan_of(mesh));
    ASSERT_TRUE(match_programs(whole, {4, true}));
    const auto first_on = [&](int rank, const std::string& group) {
        const RankProgram& program = whole[std::size_t(rank)];
        for (std::size_t i = 0; i < program.operations.size(); ++i)
            if (program.wires[std::size_t(program.operations[i].wire)].name.starts_with(group + "/"))
                return i;
        ADD_FAILURE() << "rank " << rank << " asks for nothing on " << group;
        return std::size_t(0);
    };
    const auto told = [&](int rank, const std::function<void(RankProgram&)>& change) {
        auto programs = whole;
        change(programs[std::size_t(rank)]);
        const auto matched = match_programs(programs, {4, true});
        return matched ? std::string("nothing") : matched.error().message;
    };
    const auto drop = [](RankProgram& program, std::size_t operation) {
        std::erase(program.steps, int(operation));
        std::erase(program.steps, ~int(operation));
    };
    int found = 0;
    for (const std::string group : {"tp", "dp", "pp", "pp_back", "world"})
        for (int rank = 0; rank < 8; ++rank) {
            const RankProgram& program = whole[std::size_t(rank)];
            const bool has = std::ranges::any_of(program.operations, [&](const WireOperation& asked) {
                return program.wires[std::size_t(asked.wire)].name.starts_with(group + "/");
            });
            if (!has)
                continue;
            const std::size_t at = first_on(rank, group);
            const std::string place = "rank " + std::to_string(rank) + " ";
            // A missing member, a wrong size, a wrong type.
            EXPECT_THAT(told(rank, [&](RankProgram& own) { drop(own, at); }), HasSubstr(group + "/")) << place << group;
            EXPECT_THAT(told(rank,
                            [&](RankProgram& own) {
                                own.operations[at].elements += 1;
                                for (WireMessage& message : own.operations[at].messages)
                                    message.elements += 1;
                            }),
                HasSubstr(place))
                << group;
            EXPECT_THAT(told(rank, [&](RankProgram& own) { own.operations[at].type = "Half"; }), HasSubstr("Half"))
                << place << group;
            found += 3;
        }
    EXPECT_GT(found, 60);
}

// Of a dense model: two products of each weight's size per token forward, four backward, and causal attention.
TEST(Rehearsal, ProductsFollowTheFormula)
{
    const Case one{"one", {"gpus=1"}, {"training.precision=\"bf16\""}};
    const ResolvedPlan plan = plan_of(one);
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    const ModelShape& model = plan.model;
    const double kv = double(model.kv_heads) * double(model.head_dim), q = double(model.heads) * double(model.head_dim);
    const double layer = double(model.hidden) * (2 * q + 2 * kv + 3 * double(model.ffn));
    const double weights = model.layers * layer + double(model.hidden) * double(plan.padded_vocab);
    const double s = plan.training.seq_len, tokens = s * plan.training.global_batch;
    const double attention = 3.5 * 2 * s * q * tokens * model.layers; // half of 4 s q per token, and 2.5 times that
    EXPECT_DOUBLE_EQ(rehearsed->work.flops, 6 * weights * tokens + attention);
}

// Routing has no values there: every expert gets equally many tokens, and each token its share of the products.
TEST(Rehearsal, ExpertsGetEquallyManyTokens)
{
    const Case mesh{"ep2", {"gpus=2", "layout.dp=2", "layout.ep=2"},
        {"training.precision=\"bf16\"", "model.model_type=\"mixtral\"", "model.num_local_experts=4",
            "model.num_experts_per_tok=2"}};
    const ResolvedPlan plan = plan_of(mesh);
    const auto rehearsed = rehearse_rank(plan, 1);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    const ModelShape& model = plan.model;
    const double hidden = double(model.hidden), kv = double(model.kv_heads) * double(model.head_dim),
                 q = double(model.heads) * double(model.head_dim);
    const double layer = hidden * (2 * q + 2 * kv + 2 * 3 * double(model.experts->ffn) + 4);
    const double weights = model.layers * layer + hidden * double(plan.padded_vocab);
    const double s = plan.training.seq_len, tokens = s * plan.training.global_batch / 2;
    EXPECT_DOUBLE_EQ(rehearsed->work.flops, 6 * weights * tokens + 3.5 * 2 * s * q * tokens * model.layers);
    // Two copies of each token there and back, forward and backward, in bf16.
    const auto sent = rehearsed->traffic.at({"ep", "all_to_all"});
    EXPECT_EQ(double(sent.bytes), model.layers * 4 * 2 * tokens * hidden * 2);
}

// Weights, gradients and both moments of a rank without sharding, at least; and activations of a step on top.
TEST(Rehearsal, MemoryHoldsTheStatesAndFallsWithSharding)
{
    const auto bytes = [](const char* sharding) {
        const Case four{"four", {"gpus=4", "layout.dp=4", std::string("training.sharding=\"") + sharding + '"'}, {}};
        const auto rehearsed = rehearse_rank(plan_of(four), 0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        EXPECT_LE(rehearsed->requested, rehearsed->allocated);
        EXPECT_LE(rehearsed->allocated, rehearsed->reserved);
        return double(rehearsed->requested);
    };
    const double parameters = double(plan_of({"one", {"gpus=1"}, {}}).model.parameters());
    EXPECT_GT(bytes("none"), 16 * parameters);
    EXPECT_LT(bytes("optimizer"), bytes("none"));
    EXPECT_LT(bytes("parameters"), bytes("none"));
}

// What a micro-batch keeps between its forward and its backward pass: a GPipe of one micro-batch more holds as much
// more as the planner counts. Beside it lie the norms' factors, attention's log-sums and the tokens.
class KeptActivations : public ::testing::TestWithParam<Case> { };

TEST_P(KeptActivations, AreWhatThePlannerCounts)
{
    const int dp = plan_of(GetParam()).layout.dp;
    const auto plan_with = [&](int micro_batches) {
        return plan_of(GetParam(),
            {"cluster=\"dgx-h100\"", "layout.pp=2", "training.precision=\"bf16\"", "training.schedule=\"gpipe\"",
                "training.seq_len=256", "model.max_position_embeddings=256", "training.micro_batch=1",
                "training.global_batch=" + std::to_string(micro_batches * dp), "model.hidden_size=1024",
                "model.intermediate_size=2816", "model.num_attention_heads=8", "model.num_key_value_heads=4",
                "model.vocab_size=512", "model.num_hidden_layers=8"});
    };
    const ResolvedPlan few = plan_with(4), more = plan_with(5);
    const auto program = build_program(few, {0, 1});
    double planned = 0;
    for (const Allocation& allocation : program[0].chunks.at(0).allocations)
        planned += allocation.lifetime == Lifetime::micro_batch ? allocation.bytes : 0;
    const auto with_few = rehearse_rank(few, 0), with_more = rehearse_rank(more, 0);
    ASSERT_TRUE(with_few && with_more) << (with_few ? with_more : with_few).error().line();
    constexpr double kBeside = 0.01;
    EXPECT_NEAR(double(with_more->requested - with_few->requested), planned, kBeside * planned);
}

const Case kKeeping[] = {
    {"one", {"gpus=2"}, {}},
    {"tp2", {"gpus=4", "layout.tp=2"}, {}},
    {"tp4_async", {"gpus=8", "layout.tp=4", "training.async_tp=true"}, {}},
    {"tp2_fsdp", {"gpus=8", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
    {"tp2_recompute", {"gpus=4", "layout.tp=2", "training.recompute=\"full\""}, {}},
};
INSTANTIATE_TEST_SUITE_P(
    Plans, KeptActivations, ::testing::ValuesIn(kKeeping), [](const auto& info) { return info.param.name; });

// Between its input gradient and its weight gradient a micro-batch keeps the operands of its products: to the byte what
// the planner counts.
class PostponedGradients : public ::testing::TestWithParam<Case> { };

TEST_P(PostponedGradients, HoldWhatThePlannerCounts)
{
    const fourfold::testing::TemporaryFolder folder;
    // One micro-batch after the other, but the weight gradients of the first ones come last.
    const auto plan_with = [&](int waiting) {
        const auto path = folder.path() / (std::to_string(waiting) + ".csv");
        std::ofstream file(path);
        for (const std::string chunk : {"0", "1"}) {
            std::string last;
            for (int m = 0; m < 4; ++m) {
                const auto cell = [&](const char* letter) { return chunk + letter + std::to_string(m) + ','; };
                file << cell("F") << cell("I");
                if (m < waiting)
                    last += cell("W");
                else
                    file << cell("W");
            }
            file << last << '\n';
        }
        return plan_of(
            GetParam(), {"layout.pp=2", "training.seq_len=64", "training.schedule=\"" + path.string() + '"'});
    };
    const ResolvedPlan few = plan_with(2), more = plan_with(3);
    const auto program = build_program(few, {0, 1});
    for (int rank = 0; rank < few.gpus; ++rank) {
        const StageProgram& stage = program[std::size_t(few.layout.coordinates(rank).pp)];
        double planned = 0;
        for (const Allocation& allocation : stage.chunks.at(0).allocations)
            planned += allocation.lifetime == Lifetime::weight_gradient ? allocation.bytes : 0;
        const auto with_few = rehearse_rank(few, rank), with_more = rehearse_rank(more, rank);
        ASSERT_TRUE(with_few && with_more) << (with_few ? with_more : with_few).error().line();
        EXPECT_GT(planned, 0);
        EXPECT_EQ(double(with_more->requested - with_few->requested), planned) << "rank " << rank;
    }
}

const Case kPostponing[] = {
    {"llama", {"gpus=2"}, {}},
    {"llama_bf16", {"gpus=2"}, {"training.precision=\"bf16\""}},
    {"recomputed", {"gpus=2", "training.recompute=\"full\""}, {}},
    {"tp2", {"gpus=4", "layout.tp=2"}, {"model.vocab_size=62"}},
    {"tp2_plain", {"gpus=4", "layout.tp=2", "training.sequence_parallel=false"}, {"model.vocab_size=62"}},
    {"cp2", {"gpus=4", "layout.cp=2"}, {}},
    {"gpt2", {"gpus=2"},
        {"model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":4,\"n_head\":4,\"n_positions\":"
         "64}"}},
};
INSTANTIATE_TEST_SUITE_P(
    Plans, PostponedGradients, ::testing::ValuesIn(kPostponing), [](const auto& info) { return info.param.name; });

TEST(Rehearsal, CornersStandForLargeMeshes)
{
    const Case mesh{"tp4_dp4", {"gpus=16", "layout.tp=4", "layout.dp=4"}, {}};
    const ResolvedPlan plan = plan_of(mesh);
    EXPECT_EQ(ranks_to_rehearse(plan, 16).size(), 16U);
    EXPECT_EQ(ranks_to_rehearse(plan, 8).size(), 8U) << "two ranks have the same keys";
    const auto result = rehearse(plan);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ((*result)["verdict"], "ok") << result->dump();
    EXPECT_EQ((*result)["rehearsed"], 8);
    EXPECT_EQ((*result)["stages"].size(), 1U);
}

// Also where a group lies within a dimension of the layout.
TEST(Rehearsal, TheEndsOfEveryGroupAreAmongThem)
{
    using enum GroupKind;
    const std::vector<std::string> dense,
        experts{"model.model_type=\"mixtral\"", "model.num_local_experts=8", "model.num_experts_per_tok=2"};
    struct Large {
        Case mesh;
        std::size_t ranks;
    };
    for (const auto& [mesh, expected] : {
             Large{{"data", {"gpus=16", "layout.dp=16"}, dense}, 2},
             Large{{"keys_of_two_ranks", {"gpus=16", "layout.tp=4", "layout.dp=4"}, dense}, 8},
             Large{{"hybrid", {"gpus=64", "layout.dp=64", "layout.dp_shard=8", "training.sharding=\"hybrid\""}, dense},
                 4},
             Large{{"experts", {"gpus=64", "layout.tp=2", "layout.dp=32", "layout.ep=8", "layout.etp=1"}, experts}, 8},
             Large{{"slices", {"gpus=64", "layout.tp=2", "layout.dp=32", "layout.ep=8"}, experts}, 8},
         }) {
        const ResolvedPlan plan = plan_of(mesh, {"training.global_batch=128"});
        const std::vector<int> ranks = ranks_to_rehearse(plan, 8);
        EXPECT_EQ(ranks.size(), expected) << mesh.name;
        const DeviceMesh every(plan.layout, plan.model.kv_heads);
        for (const int rank : ranks)
            for (const GroupKind kind :
                {tp, tp_keys, cp, pp, dp_cp, dp_shard, dp_replicate, ep, etp, expert_shard, expert_replicate}) {
                const std::vector<int> members = every.group(rank, kind);
                for (const int end : {members.front(), members.back()})
                    EXPECT_TRUE(std::ranges::binary_search(ranks, end))
                        << mesh.name << ": rank " << end << " of " << name(kind) << " of rank " << rank;
            }
    }
}

} // namespace
} // namespace fourfold::trainer
