// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedule_file.h"

#include "core/plan/plan_schedule.h"
#include "tests/core/schedule/schedule_cases.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace fourfold {
namespace {

using testing::HasSubstr;

// The compute-only form as PyTorch writes it.
std::string csv_of(const std::vector<std::vector<Action>>& actions)
{
    std::string out;
    for (const auto& list : actions) {
        std::string row;
        for (const Action& a : list) {
            const char letter = a.kind == ActionKind::forward ? 'F'
                : a.kind == ActionKind::backward              ? 'B'
                : a.kind == ActionKind::input_gradient        ? 'I'
                                                              : 'W';
            if (!row.empty())
                row += ',';
            row += std::to_string(a.chunk) + letter + std::to_string(a.micro_batch);
        }
        out += row + "\r\n";
    }
    return out;
}

TEST(ScheduleFile, ReadsWhatPyTorchWouldWriteOfEverySchedule)
{
    for (const Case& c : cases()) {
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        const auto file = parse_schedule_file(csv_of(actions), "s.csv");
        ASSERT_TRUE(file.has_value()) << file.error().line();
        EXPECT_EQ(file->actions, actions);
        EXPECT_EQ(file->micro_batches, c.micro_batches);
        for (std::size_t chunk = 0; chunk < file->stage_of_chunk.size(); ++chunk)
            EXPECT_EQ(file->stage_of_chunk[chunk], home_of(c, int(chunk)));
    }
}

TEST(ScheduleFile, PausesQuotesAndOverlapsOrderNothingElse)
{
    const auto file
        = parse_schedule_file("\xEF\xBB\xBF 0F0 ,0F1,,,\"0B0\",0B1\n,1F0,(1F1;1I0)OVERLAP_F_B,1W0,1B1\n\n\n", "s.csv");
    ASSERT_TRUE(file.has_value()) << file.error().line();
    ASSERT_EQ(file->actions.size(), 2U);
    EXPECT_EQ(file->actions[0].size(), 4U);
    EXPECT_EQ(file->actions[1],
        (std::vector<Action>{{ActionKind::forward, 0, 1}, {ActionKind::forward, 1, 1},
            {ActionKind::input_gradient, 0, 1}, {ActionKind::weight_gradient, 0, 1}, {ActionKind::backward, 1, 1}}));
}

TEST(ScheduleFile, TheLoweredFormGivesTheSameActions)
{
    const auto lowered = parse_schedule_file("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0I0,0W0,0REDUCE_GRAD\n1UNSHARD,1RECV_F0,"
                                             "1F0,1B0,1SEND_B0,1RESHARD,1REDUCE_GRAD\n",
        "s.csv");
    ASSERT_TRUE(lowered.has_value()) << lowered.error().line();
    EXPECT_EQ(lowered->actions, parse_schedule_file("0F0,0I0,0W0\n1F0,1B0\n", "s.csv")->actions);
    // Both chunks of the foot of a V are on one rank: nothing is sent.
    EXPECT_TRUE(parse_schedule_file("0F0,1F0,1B0,0B0,0RESHARD\n", "s.csv").has_value());
}

struct BadFile {
    const char* name;
    const char* text;
    const char* expected; // part of Problem::line()
};
class BadFiles : public testing::TestWithParam<BadFile> { };

TEST_P(BadFiles, SayWhatIsWrongAndWhere)
{
    const auto file = parse_schedule_file(GetParam().text, "s.csv");
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, ProblemCode::bad_input);
    EXPECT_THAT(file.error().line(), HasSubstr(GetParam().expected));
    EXPECT_THAT(file.error().line(), HasSubstr("s.csv"));
}

INSTANTIATE_TEST_SUITE_P(All, BadFiles,
    testing::Values(BadFile{"empty", " ,,\n\n", "no action"},
        BadFile{"no_pass", "0UNSHARD\n1UNSHARD,1REDUCE_GRAD\n", "the file has no pass"},
        BadFile{"word", "0F0,hello\n", "row 1, column 2: found \"hello\", expected CHUNK LETTER"},
        BadFile{"letter", "0F0,0X0\n", "column 2: found \"0X0\""},
        BadFile{"no_micro_batch", "0F,0B0\n", "expected a micro-batch"},
        BadFile{"rest", "0F0x,0B0\n", "found \"0F0x\", expected a micro-batch"},
        BadFile{"negative", "-1F0,0B0\n", "found \"-1F0\""},
        BadFile{"huge", "99999999999999999999F0,0B0\n", "expected CHUNK LETTER"},
        BadFile{"huge_micro_batch", "0F0,0B1048575\n", "2 actions for 1 stages x 1048576 micro-batches"},
        BadFile{"overlap", "(0F0;0B0\n", "expected (ACTION;ACTION)OVERLAP_F_B"},
        BadFile{"twice", "0F0,0B0,0F0\n", "row 1, column 3: \"0F0\" stands twice in the row (first in column 1)"},
        BadFile{"two_homes", "0F0,0B0\n1F0,1B0,0F1\n", "row 2, column 3: \"0F1\" is of stage 0, which is on row 1"},
        BadFile{"missing_stage", "0F0,0B0\n2F0,2B0\n", "stage 1 of 3 has no action"},
        BadFile{"empty_row", "0F0,0B0\n,,\n1F0,1B0\n", "row 2 has no action"},
        BadFile{"no_forward", "0B0,0W0\n", "stage 0, micro-batch 0: no forward"},
        BadFile{"no_backward", "0F0,0F1,0I0,0W0\n", "stage 0, micro-batch 1: no backward"},
        BadFile{"no_weights", "0F0,0I0\n", "I without its weight gradient"},
        BadFile{"both", "0F0,0B0,0W0\n", "column 2: stage 0, micro-batch 0: a whole backward B beside I or W"},
        BadFile{"backward_first", "0B0,0F0\n", "column 1: \"0B0\" stands before its forward 0F0"},
        BadFile{"weights_first", "0F0,0W0,0I0\n", "column 2: \"0W0\" stands before its input gradient 0I0"},
        BadFile{"deadlock", "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n",
            "row 1, column 2: the schedule deadlocks: \"0B0\" waits for \"1B0\" of row 2, column 3"},
        BadFile{"no_send", "0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", "row 1, column 1: no 0SEND_F0 after"},
        BadFile{"early_send", "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", "no 0SEND_F0 after \"0F0\""},
        BadFile{"no_receive", "0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n", "row 2, column 1: no 1RECV_F0 before"},
        BadFile{"to_itself", "0F0,0SEND_F0,1F0,1B0,0B0\n", "column 2: \"0SEND_F0\" sends to the rank itself"}),
    [](const auto& test) { return std::string(test.param.name); });

// Any bytes give a schedule or a problem, and what is accepted simulates to its end.
TEST(ScheduleFile, NoInputBreaksIt)
{
    std::mt19937 random(5);
    const std::string sound = "0F0,0F1,0I0,0W0,0B1\n1F0,1B0,1F1,1B1\n2F0,,2B0,2F1,(2I1;2W1)OVERLAP_F_B\n";
    const std::string letters = "0123FBIWSENDRCV_;(),\n\" -x";
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bad = sound;
        const int edits = 1 + int(random() % 3);
        for (int e = 0; e < edits; ++e) {
            const std::size_t at = random() % bad.size();
            if (random() % 2 == 0)
                bad[at] = letters[random() % letters.size()];
            else
                bad.erase(at, 1 + random() % 4);
        }
        const auto file = parse_schedule_file(bad, "s.csv");
        if (!file) {
            EXPECT_FALSE(file.error().message.empty());
            continue;
        }
        ++accepted;
        const auto chunks = file->stage_of_chunk.size();
        ScheduleTimes times{std::vector<ChunkTimes>(chunks, {1, 2, 1}), 0};
        std::size_t actions = 0;
        for (const auto& list : file->actions)
            actions += list.size();
        if (chunks % file->actions.size() == 0) {
            EXPECT_EQ(simulate(file->actions, times, int(chunks / file->actions.size())).spans.size(), actions) << bad;
        }
    }
    EXPECT_GT(accepted, 100);
    EXPECT_LT(accepted, 20000);
}

class PlanOfFile : public testing::Test {
protected:
    void SetUp() override
    {
        folder_
            = std::filesystem::temp_directory_path() / ("fourfold-schedule-" + std::to_string(std::random_device{}()));
        std::filesystem::create_directories(folder_);
        plan_.where = (folder_ / "my.plan.json").string();
        plan_.layout.pp = 2;
        plan_.layout.virtual_stages = 2;
        plan_.training.schedule = Schedule::csv;
        plan_.training.schedule_csv = "v.csv";
        plan_.training.micro_batches = 6;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& text) const { std::ofstream(folder_ / "v.csv") << text; }
    [[nodiscard]] std::string problem() const
    {
        const auto schedule = plan_schedule(plan_, plan_.training.micro_batches);
        return schedule ? "" : schedule.error().line();
    }

    std::filesystem::path folder_;
    ResolvedPlan plan_;
};

TEST_F(PlanOfFile, SaysWhyItCannotBeRead)
{
    write(std::string("\xff\xfe"
                      "0\0F\0"
                      "0\0",
        8));
    EXPECT_THAT(problem(), HasSubstr("v.csv: this is not UTF-8 text"));
    std::filesystem::remove(folder_ / "v.csv");
    std::filesystem::create_symlink("v.csv", folder_ / "v.csv");
    EXPECT_THAT(problem(), HasSubstr("v.csv\" cannot be looked at: Too many levels of symbolic links"));
}

TEST_F(PlanOfFile, IsReadBesideThePlanAndMustMatchIt)
{
    EXPECT_THAT(problem(), HasSubstr("\"v.csv\" does not exist (looked at " + (folder_ / "v.csv").string()));
    write(csv_of(*make_schedule(Schedule::zb_v, 2, 2, 6)));
    const auto schedule = plan_schedule(plan_, 6);
    ASSERT_TRUE(schedule.has_value()) << schedule.error().line();
    EXPECT_EQ(schedule->stage_of_chunk, (std::vector<int>{0, 1, 1, 0}));
    EXPECT_EQ(schedule->actions, *make_schedule(Schedule::zb_v, 2, 2, 6));

    plan_.layout.pp = 4;
    EXPECT_THAT(problem(), HasSubstr("layout.pp: the schedule \"v.csv\" has 2 rows (ranks), the plan pp 4"));
    plan_.layout.pp = 2;
    plan_.layout.virtual_stages = 1;
    EXPECT_THAT(problem(), HasSubstr("4 stages, the plan pp x virtual_stages = 2 (set virtual_stages to 2)"));
    plan_.layout.virtual_stages = 2;
    plan_.layout.dp = 3;
    plan_.training.micro_batches = 8;
    EXPECT_THAT(problem(), HasSubstr("6 micro-batches, the plan 8 (set global_batch to 18)"));
    write("0F0,0B0\n1F0,2F0,3F0,3B0,2B0,1B0\n");
    EXPECT_THAT(problem(), HasSubstr("1 stages on row 1, the plan 2 on each"));
    write("0F0\n");
    EXPECT_THAT(problem(), HasSubstr("training.schedule: " + (folder_ / "v.csv").string()));
}

TEST_F(PlanOfFile, GeneratedSchedulesComeWithTheirPlacement)
{
    plan_.training.schedule_csv.clear();
    plan_.training.schedule = Schedule::interleaved;
    EXPECT_EQ(plan_schedule(plan_, 4)->stage_of_chunk, (std::vector<int>{0, 1, 0, 1}));
    plan_.training.schedule = Schedule::zb_v;
    EXPECT_EQ(plan_schedule(plan_, 4)->stage_of_chunk, (std::vector<int>{0, 1, 1, 0}));
}

} // namespace
} // namespace fourfold
