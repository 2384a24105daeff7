// SPDX-License-Identifier: GPL-3.0-or-later
// Measured sweeps: cells, what becomes of them, and going on after an interruption.
#include "core/base/file_descriptor.h"
#include "core/base/paths.h"
#include "core/history/annotations.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/sweep/measured_sweep.h"
#include "runner/sweep/preview_sweep.h"
#include "tests/runner/sshd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fourfold::test {
namespace {

TEST(Cells, HaveNames)
{
    const SweepCell cell{{2, 1, 1, 4, 2}, 8};
    EXPECT_EQ(cell.key(), "tp2-cp1-pp1-mb4-v2-gpus8");
    EXPECT_EQ(cell.name(), "tp 2, cp 1, pp 1, micro-batch 4, 2 virtual stages, 8 GPUs");
    EXPECT_EQ(layout_name({1, 1, 2, 4, 1}), "tp 1, cp 1, pp 2, micro-batch 4");
}

TEST(Cells, TakeAsManyHostsAsTheyNeed)
{
    Target target = *target_from_json(Json::parse(R"({"hosts":[{"address":"a[1-4]","ranks":4}]})"), "t");
    EXPECT_EQ(target_of_cell(target, 8).hosts.size(), 2u);
    EXPECT_EQ(*ranks_of_hosts(target_of_cell(target, 6), 6), (std::vector<int>{4, 2}));
    EXPECT_EQ(target_of_cell(target, 16).hosts.size(), 4u);
    EXPECT_FALSE(ranks_of_hosts(target_of_cell(target, 32), 32));
}

class MeasuredSweep : public testing::Test {
protected:
    SweepRequest asked(const std::map<std::string, std::string>& environment)
    {
        const RunRequest one = request(home, 2, environment);
        SweepRequest out;
        Json document = Json::parse(R"({ "name": "Tiny", "cluster": "this-computer", "stack": "fourfold", "gpus": 2,
            "model": { "model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
                       "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
                       "max_position_embeddings": 128, "tie_word_embeddings": false },
            "training": { "seq_len": 64, "precision": "fp32", "global_batch": 4 },
            "run": { "steps": 3, "data": [ { "path": "corpus.txt" } ] } })");
        for (const auto& [key, value] : environment)
            document["run"]["environment"][key] = value;
        out.plan = *plan_from_json(document, (home.path() / "tiny.plan.json").string());
        out.layouts = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {3, 1, 1, 1, 1}};
        out.gpus = {1, 2};
        out.target = one.target;
        out.trainer = one.trainer;
        out.agent = one.agent;
        return out;
    }

    Home home;
    Recording observer;
    std::vector<std::string> begun;
    std::function<void(const SweepTable&, const std::string&)> note
        = [this](const SweepTable&, const std::string& next) { begun.push_back(next); };
};

TEST_F(MeasuredSweep, FillsTheTableWhateverBecomesOfACell)
{
    // Rank 1 runs out of memory wherever there is one.
    const auto table = measure_sweep(
        asked({{"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "2"}, {"FAKE_HOW", "oom"}}), observer, {}, note);
    ASSERT_TRUE(table) << table.error().line();
    const auto status = [&](std::size_t row, std::size_t column) {
        return table->cells[row][column] ? table->cells[row][column]->status : "(none)";
    };
    EXPECT_EQ(status(0, 0), "ok");
    EXPECT_EQ(status(0, 1), "oom");
    EXPECT_EQ(status(1, 0), "impossible") << "tp 2 on one GPU";
    EXPECT_EQ(status(1, 1), "oom");
    EXPECT_EQ(status(2, 0), "impossible");
    EXPECT_TRUE(table->cells[0][0]->tps_per_gpu);
    EXPECT_TRUE(table->cells[0][0]->predicted_tps_per_gpu);
    EXPECT_FALSE(table->cells[0][1]->tps_per_gpu);
    EXPECT_EQ(HistoryStore::open(HistoryStore::default_file())->list()->size(), 3u) << "one run a cell that can be run";
    // Everything is known now: nothing runs.
    begun.clear();
    const auto known = measure_sweep(
        asked({{"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "2"}, {"FAKE_HOW", "oom"}}), observer, {}, note);
    ASSERT_TRUE(known);
    EXPECT_EQ(begun, std::vector<std::string>{""});
    EXPECT_EQ(known->cells[0][0]->tps_per_gpu, table->cells[0][0]->tps_per_gpu);
}

TEST_F(MeasuredSweep, GoesOnAfterAnInterruption)
{
    std::stop_source stop;
    int runs = 0;
    observer.each_event = [&](const Json& event) {
        if (event.value("event", "") == "start" && ++runs == 2)
            stop.request_stop();
    };
    SweepRequest request = asked({{"FAKE_STEPS", "20"}});
    request.layouts.pop_back();
    const auto stopped = measure_sweep(request, observer, stop.get_token(), note);
    ASSERT_TRUE(stopped) << stopped.error().line();
    EXPECT_TRUE(stopped->stopped);
    EXPECT_EQ(stopped->cells[0][0]->status, "ok");
    observer.each_event = {};
    begun.clear();
    const auto whole = measure_sweep(request, observer, {}, note);
    ASSERT_TRUE(whole);
    EXPECT_FALSE(whole->stopped);
    EXPECT_EQ(begun.size(), 3u) << "the cell that was cancelled, the one not reached, and the end";
    EXPECT_EQ(whole->cells[0][1]->status, "ok");
    EXPECT_EQ(whole->cells[1][1]->status, "ok");
}

TEST_F(MeasuredSweep, ALineMoreLeavesWhatTheOthersMeasured)
{
    SweepRequest request = asked({{"FAKE_STEPS", "3"}});
    request.gpus = {2};
    request.layouts = {{2, 1, 1, 1, 1}};
    ASSERT_TRUE(measure_sweep(request, observer, {}, note));
    begun.clear();
    request.layouts = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}};
    const auto table = measure_sweep(request, observer, {}, note);
    ASSERT_TRUE(table) << table.error().line();
    EXPECT_EQ(begun, (std::vector<std::string>{"tp 1, cp 1, pp 1, micro-batch 1, 2 GPUs", ""}));
    EXPECT_EQ(table->cells[1][0]->status, "ok");
}

TEST_F(MeasuredSweep, ACellWhoseRunWasDeletedIsMeasuredAnew)
{
    SweepRequest request = asked({{"FAKE_STEPS", "3"}});
    request.gpus = {2};
    request.layouts.resize(2);
    const auto first = measure_sweep(request, observer, {}, note);
    ASSERT_TRUE(first) << first.error().line();
    auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    const std::string run = first->cells[0][0]->run;
    ASSERT_TRUE(set_deleted(*store, {run}, true));
    begun.clear();
    const auto again = measure_sweep(request, observer, {}, note);
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(begun, (std::vector<std::string>{"tp 1, cp 1, pp 1, micro-batch 1, 2 GPUs", ""}));
    EXPECT_NE(again->cells[0][0]->run, run);
    // Nor does a purge leave its figure; a history that was moved away does, as the runs' folders are there.
    ASSERT_TRUE(set_deleted(*store, {again->cells[0][0]->run}, true));
    ASSERT_TRUE(purge(*store));
    std::filesystem::remove_all(data_folder() / "runs" / again->cells[0][0]->run);
    begun.clear();
    ASSERT_TRUE(measure_sweep(request, observer, {}, note));
    EXPECT_EQ(begun.size(), 2u);
    std::filesystem::rename(HistoryStore::default_file(), home.path() / "away.db");
    ASSERT_TRUE(HistoryStore::open(HistoryStore::default_file()));
    begun.clear();
    ASSERT_TRUE(measure_sweep(request, observer, {}, note));
    EXPECT_EQ(begun, std::vector<std::string>{""});
}

// Two at a time would measure neither.
TEST_F(MeasuredSweep, IsOneProgramsAtATime)
{
    SweepRequest request = asked({{"FAKE_STEPS", "3"}});
    const auto file = open_record(request)->file();
    std::filesystem::create_directories(file.parent_path());
    const FileDescriptor other(
        open(std::filesystem::path(file).replace_extension(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
    const auto second = measure_sweep(request, observer, {}, note);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ProblemCode::refused);
    EXPECT_NE(second.error().line().find("another program of this computer measures this sweep"), std::string::npos);
    EXPECT_TRUE(begun.empty());
    EXPECT_TRUE(preview_sweep(request)) << "who only asks disturbs nobody";
}

// A sweep that is killed leaves a run on the nodes: the next one takes that run for its cell.
TEST_F(MeasuredSweep, TakesUpTheRunThatAKilledSweepLeft)
{
    SweepRequest request = asked({{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}});
    request.layouts.resize(1);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t killed = fork();
    ASSERT_GE(killed, 0);
    if (killed == 0) {
        request.gpus = {2};
        observer.each_event = [&](const Json& event) {
            if (event.value("step", 0) == 5)
                (void)!write(ends[1], "5", 1);
        };
        (void)measure_sweep(request, observer, {}, note);
        _exit(0);
    }
    request.gpus = {2};
    char step = 0;
    close(ends[1]);
    EXPECT_EQ(read(ends[0], &step, 1), 1);
    close(ends[0]);
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
    const auto preview = preview_sweep(request);
    ASSERT_TRUE(preview) << preview.error().line();
    EXPECT_NE(preview->text.find("would follow run "), std::string::npos) << preview->text;
    for (const bool again : {true, false}) { // what goes on is new enough for `again` too
        request.again = again;
        const auto whole = measure_sweep(request, observer, {}, note);
        ASSERT_TRUE(whole) << whole.error().line();
        EXPECT_EQ(whole->cells[0][0]->status, "ok") << whole->cells[0][0]->why;
        EXPECT_TRUE(whole->cells[0][0]->tps_per_gpu);
    }
    EXPECT_EQ(HistoryStore::open(HistoryStore::default_file())->list()->size(), 1u) << "no second run beside it";
}

TEST_F(MeasuredSweep, SkipsWhatIsPredictedNotToFitOnlyWhenAsked)
{
    SweepRequest request = asked({{"FAKE_STEPS", "2"}});
    request.layouts.resize(1);
    request.gpus = {1};
    request.plan = *with_assignment(request.plan, "training.micro_batch=1");
    request.plan.document["model"]["hidden_size"] = 16384;
    request.plan.document["model"]["intermediate_size"] = 65536;
    request.plan = *plan_from_json(request.plan.document, request.plan.where);
    request.skip_unfit = true;
    const auto skipped = measure_sweep(request, observer, {}, note);
    ASSERT_TRUE(skipped) << skipped.error().line();
    EXPECT_EQ(skipped->cells[0][0]->status, "unfit") << skipped->cells[0][0]->why;
    EXPECT_TRUE(observer.id.empty()) << "no run was made";
}

// A run that cannot be followed any more, as its host shows another key: it goes on, and no other one is started beside
// it.
TEST_F(MeasuredSweep, ARunThatGoesOnIsNotDisturbedByTheNextCell)
{
    if (const std::string why = why_no_sshd(); !why.empty())
        GTEST_SKIP() << why;
    Sshd host(home, "host");
    host.start();
    SweepRequest sweep = asked({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    sweep.layouts = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}};
    sweep.gpus = {2};
    sweep.target = ssh_target(home, {&host});
    observer.trust = true;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 10) {
            host.make_host_key();
            host.stop();
            host.start();
        }
    };
    const auto table = measure_sweep(sweep, observer, {}, note);
    ASSERT_TRUE(table) << table.error().line();
    const auto& first = table->cells[0][0];
    ASSERT_TRUE(first);
    EXPECT_EQ(first->status, "running");
    EXPECT_NE(first->why.find("the host key has changed"), std::string::npos) << first->why;
    EXPECT_EQ(processes_of(first->run), 2) << "the ranks go on";
    EXPECT_FALSE(table->cells[1][0]) << "it was not started";
    EXPECT_FALSE(table->stopped) << "nobody asked for that";
}

} // namespace
} // namespace fourfold::test
