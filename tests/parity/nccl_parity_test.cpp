// SPDX-License-Identifier: GPL-3.0-or-later
// Meshes under NCCL's rules (runner/trainer/comm/nccl_rules.h): none deadlocks, none mixes up its messages, and each
// still equals one rank. What used to be wrong stays as a control: it has to fail. The long test has the whole matrix:
//   FOURFOLD_NCCL_REPORT=resources/reports/under-nccl-rules.md build/release/tests/trainer_nccl_parity_long_test
// Other random meshes than those that always run: FOURFOLD_RANDOM_MESHES=COUNT,SEED and --gtest_filter='Random*'.
#include "tests/parity/compare.h"
#include "tests/parity/matrix.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>

namespace fourfold::testing {
namespace {

// Four operations at once and one queue: stricter than a GPU, on which a waiting operation takes a few of some hundred
// multiprocessors.
const std::vector<std::string> kRules{"--nccl-rules", "4", "--one-queue"};

// A mesh as a row; files are named from the project's folder.
std::string row_of(const Case& mesh, bool passes)
{
    std::string row = "| " + mesh.name + " | " + words(mesh.mesh) + " | " + words(mesh.model) + " | "
        + (passes ? "yes" : "**no**") + " |\n";
    const std::string folder = FOURFOLD_SOURCE_DIR "/";
    for (std::size_t at = row.find(folder); at != std::string::npos; at = row.find(folder))
        row.erase(at, folder.size());
    return row;
}

// Adds a line to the report that is asked for, the first of its table with a heading.
void report(const std::string& heading, const std::string& line)
{
    const char* const file = std::getenv("FOURFOLD_NCCL_REPORT");
    if (file == nullptr)
        return;
    static std::string last;
    std::ofstream out(file, last.empty() ? std::ios::trunc : std::ios::app);
    ASSERT_TRUE(out) << "cannot write " << file;
    if (last.empty())
        out << "# Meshes under NCCL's rules\n"
               "Written by `FOURFOLD_NCCL_REPORT=resources/reports/under-nccl-rules.md "
               "build/release/tests/trainer_nccl_parity_long_test`: real ranks\n"
               "over Gloo that keep NCCL's rules (`runner/trainer/comm/nccl_rules.h`), four operations at once in one "
               "queue. *Passes*: no rank waits\n"
               "for ever, and after ten steps in fp64 losses, gradients and weights are those of one rank "
               "(`tests/parity/report.md` has the bounds).\n";
    if (last != heading)
        out << heading;
    last = heading;
    out << line << std::flush;
}

class UnderNcclRules : public ::testing::TestWithParam<Case> { };

TEST_P(UnderNcclRules, EqualsOneRank)
{
    const Case& mesh = GetParam();
    const std::string wrong
        = excess(compare_with_one_rank(of_steps(mesh, kSteps), {"--fp64"}, joined({"--fp64"}, kRules)));
    EXPECT_EQ(wrong, "");
    const std::string suite = ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    report("\n## " + suite.substr(0, suite.find('/'))
            + "\n| mesh | its layout and technique | model and batch | passes |\n| --- | --- | --- | --- |\n",
        row_of(mesh, wrong.empty()));
}

// Pipelines of more than two ranks, where links go both ways between any two neighbours.
std::vector<Case> pipelines()
{
    return {pipeline_case("interleaved_pp3_v2_m6", "interleaved", 3, 2, 6),
        pipeline_case("interleaved_pp4_v2_m8", "interleaved", 4, 2, 8),
        pipeline_case("interleaved_pp3_v3_m9", "interleaved", 3, 3, 9), pipeline_case("zb_h1_pp4_m8", "zb-h1", 4, 1, 8),
        pipeline_case("zb_v_pp4_m8", "zb-v", 4, 2, 8), pipeline_case("dualpipe_v_pp3_m8", "dualpipe-v", 3, 2, 8),
        {"interleaved_pp2_fsdp2_each",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.schedule=\"interleaved\"",
                "training.sharding=\"parameters\"", "training.fsdp.each_micro_batch=true"},
            {"model.num_hidden_layers=4", "training.micro_batch=1"}},
        {"async_tp4", {"gpus=4", "layout.tp=4", "training.async_tp=true"}, {"training.global_batch=2"}},
        {"async_beside_tp4",
            {"gpus=4", "layout.tp=4", "training.async_tp=true", "training.overlap.tensor_parallel=true"}, {}}};
}

INSTANTIATE_TEST_SUITE_P(
    Pipelines, UnderNcclRules, ::testing::ValuesIn(pipelines()), [](const auto& info) { return info.param.name; });
#ifdef FOURFOLD_EVERY_MESH
INSTANTIATE_TEST_SUITE_P(Precisions, UnderNcclRules, ::testing::ValuesIn(precision_cases()),
    [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Meshes, UnderNcclRules, ::testing::ValuesIn(all_cases()), [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(
    More, UnderNcclRules, ::testing::ValuesIn(more_pipeline_cases()), [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(
    MoreData, UnderNcclRules, ::testing::ValuesIn(more_data_cases()), [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(MorePrecisions, UnderNcclRules, ::testing::ValuesIn(more_precision_cases()),
    [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Sixteen, UnderNcclRules, ::testing::ValuesIn(sixteen_rank_cases()),
    [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Shapes, UnderNcclRules, ::testing::ValuesIn(mesh_shapes()), [](const auto& info) { return info.param.name; });
// Techniques that no table puts together.
std::vector<Case> random_meshes()
{
    const char* const wanted = std::getenv("FOURFOLD_RANDOM_MESHES");
    int count = 32;
    unsigned seed = 20261127;
    if (wanted != nullptr && std::sscanf(wanted, "%d,%u", &count, &seed) != 2)
        throw std::runtime_error("FOURFOLD_RANDOM_MESHES: expected COUNT,SEED");
    return random_cases(count, seed, 8);
}
INSTANTIATE_TEST_SUITE_P(
    Random, UnderNcclRules, ::testing::ValuesIn(random_meshes()), [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Triples, UnderNcclRules, ::testing::ValuesIn(covering_array(3, 16)),
    [](const auto& info) { return "row" + std::to_string(info.index) + "_" + info.param.name; });
#else
// Every pair of settings that a job of at most 4 ranks can have is in one of these.
INSTANTIATE_TEST_SUITE_P(CoveringArray, UnderNcclRules, ::testing::ValuesIn(covering_array(2, 4)),
    [](const auto& info) { return "row" + std::to_string(info.index) + "_" + info.param.name; });
#endif

// Fewer communicators for the messages of a pipeline than one for each link. One for all stages is what this trainer
// had; one for both ways between two stages already fails where a gradient is asked for before an activation is sent.
// GPipe fails with one for each, too, where nobody makes its connection before its first message (Transport::connect).
struct Shared {
    std::string wiring;
    std::vector<std::string> mesh;
};
void PrintTo(const Shared& shared, std::ostream* out)
{
    *out << shared.wiring;
}

class TooFewCommunicators : public ::testing::TestWithParam<Shared> { };

TEST_P(TooFewCommunicators, Deadlock)
{
    const TemporaryFolder folder;
    const auto rules = joined({"--fp64"}, kRules);
    const auto plan = tiny_plan(write_tokens(folder.path()),
        joined(GetParam().mesh,
            {"model.num_hidden_layers=6", "training.micro_batch=1", "training.global_batch=6", "run.steps=1"}));
    ASSERT_EQ(run_job(plan, folder.path() / "links", rules).problem, "");
    const auto shared
        = run_job(plan, folder.path() / "shared", joined(rules, {"--wiring", GetParam().wiring, "--timeout", "4"}));
    EXPECT_THAT(shared.problem, ::testing::HasSubstr(GetParam().wiring + "/"))
        << "it has to deadlock, and to say on which communicator";
    report(
        "\n## What has to fail\nPipelines whose messages do not have a communicator for each link.\n\n| communicators "
        "| mesh | said |\n| --- | --- | --- |\n",
        "| " + GetParam().wiring + " | " + words(GetParam().mesh) + " | "
            + shared.problem.substr(0, shared.problem.find('\n')) + " |\n");
}

// The stored report has every mesh of the tables, as it is now, and each passes.
TEST(NcclReport, HasEveryMesh)
{
    const auto text = read_text_file(FOURFOLD_SOURCE_DIR "/resources/reports/under-nccl-rules.md");
    ASSERT_TRUE(text) << text.error().line();
    EXPECT_EQ(text->find("**no**"), std::string::npos);
    for (const auto& part : {pipelines(), precision_cases(), all_cases(), more_pipeline_cases(), more_precision_cases(),
             sixteen_rank_cases(), mesh_shapes()})
        for (const Case& mesh : part)
            EXPECT_NE(text->find(row_of(mesh, true)), std::string::npos) << mesh.name;
    for (const char* wiring : {"stages", "pairs", "late"})
        EXPECT_NE(text->find(std::string("| ") + wiring + " | "), std::string::npos) << wiring;
}

const Shared kShared[] = {
    {"stages", {"gpus=3", "layout.pp=3", "layout.virtual_stages=2", "training.schedule=\"interleaved\""}},
    {"pairs", {"gpus=2", "layout.pp=2"}},
    {"late", {"gpus=3", "layout.pp=3", "training.schedule=\"gpipe\""}},
};
INSTANTIATE_TEST_SUITE_P(
    Wirings, TooFewCommunicators, ::testing::ValuesIn(kShared), [](const auto& info) { return info.param.wiring; });

} // namespace
} // namespace fourfold::testing
