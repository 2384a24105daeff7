// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold run` and `fourfold attach` as a user sees them.
#include "tests/cli/training.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Run : public TrainingTest {
protected:
    // On four ranks; `environment` reaches the fake trainer.
    std::string tiny_plan(const Json& environment = Json::object())
    {
        return TrainingTest::tiny_plan(
            {{"gpus", 4}, {"layout", {{"tp", 2}, {"dp", 2}}}, {"run", {{"steps", 5}, {"environment", environment}}}});
    }

    // A run is under way once its first step was shown.
    static bool wait_for_steps(const Started& started)
    {
        for (int i = 0; i < 600; ++i) {
            if (started.error_text().find("\nstep ") != std::string::npos)
                return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        return false;
    }

    [[nodiscard]] Json history() const { return json_of(fourfold({"history", "list", "--json"})); }
};

TEST_F(Run, ShowsProgressThenPredictionBesideMeasurement)
{
    const Output output = fourfold({"run", tiny_plan({{"FAKE_STEPS", "12"}})});
    EXPECT_EQ(output.status, 0) << output.err;
    for (const char* text : {"run ", "running: 4 ranks on 1 host", "step ", "loss", "TPS/GPU", "ok"})
        EXPECT_THAT(output.err, HasSubstr(text));
    const Json runs = history();
    ASSERT_EQ(runs.size(), 1u);
    const std::string id = runs[0]["id"];
    EXPECT_EQ(runs[0]["state"], "ok");
    EXPECT_EQ(runs[0]["steps"], 12);
    EXPECT_TRUE(runs[0]["predicted_tps_per_gpu"].is_number());
    EXPECT_TRUE(runs[0]["measured_tps_per_gpu"].is_number());
    for (const std::string& text : {id + "  ok  Tiny", std::string("throughput  TPS/GPU"), history_file().string(),
             (folder() / "data/fourfold/runs" / id).string()})
        EXPECT_THAT(output.out, HasSubstr(text));
    EXPECT_TRUE(fs::exists(folder() / "data/fourfold/runs" / id / "events.jsonl"));
}

TEST_F(Run, JsonIsEveryEventAndTheResult)
{
    const Output output = fourfold({"run", tiny_plan({{"FAKE_STEPS", "6"}}), "--json"});
    EXPECT_EQ(output.status, 0) << output.err;
    std::vector<Json> lines;
    for (const std::string& line : lines_of(output.out))
        lines.push_back(Json::parse(line));
    ASSERT_GT(lines.size(), 7u);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
        EXPECT_EQ(lines[i]["seq"], i);
    EXPECT_EQ(lines[lines.size() - 2]["event"], "end");
    const Json& result = lines.back()["result"];
    EXPECT_EQ(result["state"], "ok");
    EXPECT_EQ(result["steps"], 6);
    EXPECT_TRUE(fs::is_directory(result["folder"].get<std::string>()));

    // Attaching to what has ended gives the same lines at once.
    const Output attached = fourfold({"attach", "last", "--json"});
    EXPECT_EQ(attached.status, 0) << attached.err;
    const auto again = lines_of(attached.out);
    ASSERT_EQ(again.size(), lines.size());
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
        EXPECT_EQ(Json::parse(again[i]), lines[i]);
}

// What is written while a run goes on, what `attach` writes and what is exported from the history are the same bytes.
TEST_F(Run, DashboardsOfARunAreThoseOfItsRecord)
{
    const auto files = [&](const char* name) {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(folder() / name))
            if (entry.is_regular_file()) {
                std::ifstream in(entry.path(), std::ios::binary);
                all[fs::relative(entry.path(), folder() / name)] = {std::istreambuf_iterator<char>(in), {}};
            }
        return all;
    };
    const auto at = [&](const char* name) { return (folder() / name).string(); };
    const Output output
        = fourfold({"run", tiny_plan({{"FAKE_STEPS", "12"}}), "--tensorboard", at("live"), "--wandb", at("live")});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.err, HasSubstr("wrote " + at("live")));
    const auto live = files("live");
    ASSERT_EQ(live.size(), 2u);
    for (const auto& [name, bytes] : live)
        EXPECT_THAT(bytes, HasSubstr("train/loss")) << name;
    EXPECT_EQ(
        fourfold({"history", "export", "last", "--tensorboard", at("stored"), "--wandb", at("stored")}).status, 0);
    EXPECT_EQ(files("stored"), live);
    EXPECT_EQ(fourfold({"attach", "last", "--tensorboard", at("attached"), "--wandb", at("attached")}).status, 0);
    EXPECT_EQ(files("attached"), live);

    // A folder that cannot be made stops an export, not a run.
    std::ofstream(folder() / "file") << "x";
    expect_problem(fourfold({"history", "export", "last", "--tensorboard", at("file")}), 1, at("file"));
    const Output blocked = fourfold({"run", tiny_plan(), "--tensorboard", at("file")});
    EXPECT_EQ(blocked.status, 0) << blocked.err;
    EXPECT_THAT(blocked.err, HasSubstr("the run goes on without its dashboards"));
}

// The run is stored and ends well; that nobody could be told of it is an exit status of its own.
TEST_F(Run, WithoutAnyStandardStream)
{
    for (const char* streams : {"<&- >&- 2>&-", "</dev/null >/dev/full 2>/dev/full"}) {
        use_program("/bin/sh");
        const Output output = fourfold({"-c", std::string("exec \"$0\" run \"$1\" ") + streams,
            (folder() / "bin/fourfold").string(), tiny_plan({{"FAKE_STEPS", "12"}})});
        EXPECT_EQ(output.status, 1) << streams;
        use_program(folder() / "bin/fourfold");
        const Json runs = history();
        ASSERT_FALSE(runs.empty());
        EXPECT_EQ(runs[0]["state"], "ok") << streams;
        EXPECT_EQ(runs[0]["steps"], 12) << streams;
    }
    EXPECT_EQ(history().size(), 2u);
}

TEST_F(Run, WhatIsRemovedMeanwhileIsSaid)
{
    const std::string plan = tiny_plan({{"FAKE_STEPS", "200"}, {"FAKE_STEP_MS", "20"}});
    const auto while_it_goes = [&](const std::function<void()>& act) {
        const Started started = start({"run", plan});
        EXPECT_TRUE(wait_for_steps(started));
        act();
        return finish(started);
    };
    const Output without_folder = while_it_goes([&] { fs::remove_all(folder() / "data/fourfold/runs"); });
    EXPECT_EQ(without_folder.status, 0) << without_folder.err;
    EXPECT_THAT(without_folder.err, HasSubstr("the run's folder was removed while it went"));
    const Output without_history = while_it_goes([&] {
        for (const char* part : {"", "-wal", "-shm"})
            fs::remove(history_file().string() + part);
    });
    EXPECT_EQ(without_history.status, 0) << without_history.err;
    EXPECT_THAT(without_history.err, HasSubstr("the history was removed or replaced while the run went"));
    EXPECT_EQ(fourfold({"attach", "last", "--target", "local"}).status, 0);
    const Json runs = history();
    ASSERT_EQ(runs.size(), 1u) << "what stored it again";
    EXPECT_EQ(runs[0]["steps"], 200);
    const Output with_another = while_it_goes([&] {
        for (const char* part : {"", "-wal", "-shm"})
            fs::remove(history_file().string() + part);
        std::ofstream(history_file()).flush();
    });
    EXPECT_EQ(with_another.status, 0) << with_another.err;
    EXPECT_THAT(with_another.err, HasSubstr("stores what the history lacks"));
}

// Whatever was done to the file of its events: cut short while it went, exchanged or put back from a copy afterwards.
TEST_F(Run, ItsEventsHereAreThoseOfTheHistory)
{
    const Started started = start({"run", tiny_plan({{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}})});
    EXPECT_TRUE(wait_for_steps(started));
    const fs::path file = folder() / "data/fourfold/runs" / history()[0]["id"].get<std::string>() / "events.jsonl";
    fs::resize_file(file, 100);
    EXPECT_EQ(finish(started).status, 0);
    const auto whole = read_text_file(file);
    ASSERT_TRUE(whole);
    const auto lines = lines_of(*whole);
    ASSERT_EQ(lines.size(), 102u);
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(Json::parse(lines[i])["seq"], i);
    for (const std::string& other : {whole->substr(0, whole->size() / 2), std::string("{}\n"), std::string()}) {
        std::ofstream(file) << other;
        EXPECT_EQ(fourfold({"attach", "last"}).status, 0);
        EXPECT_EQ(*read_text_file(file), *whole);
    }
    fs::remove(file);
    EXPECT_EQ(fourfold({"attach", "last"}).status, 0);
    EXPECT_EQ(*read_text_file(file), *whole);
}

TEST_F(Run, StepsOfTheCommandLineWin)
{
    const Output output = fourfold({"run", tiny_plan(), "--steps", "3", "--dry-run", "--json"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_TRUE(json_of(output).is_object());
    EXPECT_EQ(lines_of(output.err).size(), 0u) << output.err;
    const Output text = fourfold({"run", tiny_plan(), "--dry-run"});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("fourfold-trainer"));
    for (const char* part : {"run folder (RUN: the run's id): ", "node/runs/RUN", "each rank: ",
             "fourfold-trainer --plan ", "opens a free port", "127.0.0.1 only", "stores: ", "history.db"})
        EXPECT_THAT(text.out, HasSubstr(part));
    EXPECT_FALSE(fs::exists(history_file())) << "a dry run stores nothing";
    EXPECT_FALSE(fs::exists(folder() / "data/fourfold/runs"));
}

TEST_F(Run, WhatARehearsalFoundIsNotStarted)
{
    setenv("FAKE_REHEARSAL", R"({"verdict": "failed", "problem": "the ranks wait for each other", "stages": []})", 1);
    const Output found = fourfold({"run", tiny_plan()});
    EXPECT_EQ(found.status, 1);
    EXPECT_THAT(found.err,
        HasSubstr("it would not run: the ranks wait for each other (change the plan, or start it unrehearsed: "
                  "--no-rehearse, or the switch beside the steps)"));
    EXPECT_EQ(history().size(), 0u);
    EXPECT_EQ(fourfold({"run", tiny_plan(), "--no-rehearse"}).status, 0);
    setenv("FAKE_REHEARSAL", "no verdict", 1);
    const Output unknown = fourfold({"run", tiny_plan()});
    EXPECT_EQ(unknown.status, 0) << "what cannot be rehearsed may run";
    EXPECT_THAT(unknown.err, HasSubstr("warning: not rehearsed: "));
    unsetenv("FAKE_REHEARSAL");
}

// The second run loads what the first one saved, and each is in the history.
TEST_F(Run, ARunThatFailsIsStartedAnewFromItsCheckpoint)
{
    const Json environment{{"FAKE_STEPS", "6"}, {"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "3"},
        {"FAKE_CHECKPOINT", (folder() / "saved/step-00000001").string()}, {"FAKE_FAILS_UNLOADED", "1"}};
    const Output output = fourfold({"run", tiny_plan(environment), "--restarts", "2"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.err, HasSubstr("restart 1 of 2 from " + (folder() / "saved").string()));
    EXPECT_THAT(output.err, Not(HasSubstr("restart 2")));
    const Json runs = history();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0]["state"], "ok");
    EXPECT_EQ(runs[1]["state"], "fail");
}

TEST_F(Run, RestartsComeToAnEnd)
{
    const Output output = fourfold({"run",
        tiny_plan({{"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "2"}, {"FAKE_HOW", "kill"}}), "--restarts", "2"});
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err, HasSubstr("restart 2 of 2 from the beginning: there is no checkpoint"));
    EXPECT_EQ(history().size(), 3u);
    expect_problem(fourfold({"run", tiny_plan(), "--restarts", "-1"}), 2, "--restarts");
}

TEST_F(Run, AFailingRankIsOneLineAndExitOne)
{
    const Output output = fourfold({"run",
        tiny_plan({{"FAKE_STEPS", "50"}, {"FAKE_STEP_MS", "20"}, {"FAKE_FAIL_RANK", "2"}, {"FAKE_FAIL_STEP", "4"},
            {"FAKE_HOW", "exit37"}})});
    EXPECT_EQ(output.status, 1);
    const std::string last = lines_of(output.err).back();
    EXPECT_TRUE(last.starts_with("fourfold: run ")) << last;
    EXPECT_THAT(last, HasSubstr("rank 2"));
    const Json runs = history();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0]["state"], "fail");
    EXPECT_THAT(runs[0]["problem"].get<std::string>(), HasSubstr("rank 2"));
    EXPECT_THAT(fourfold({"history", "show"}).out, HasSubstr("problem"));
}

// What a host lacks is found while running: the plan and the target are sound.
TEST_F(Run, AHostWithoutTheContainerIsExitOne)
{
    const std::string target = file("boxed.json", R"({"kind": "local", "container": "/no/such/image.sif"})");
    const Output output = fourfold({"run", tiny_plan(), "--target", target});
    EXPECT_EQ(output.status, 1) << output.err;
    EXPECT_EQ(history()[0]["state"], "fail");
    expect_problem(fourfold({"run", tiny_plan(), "--target", file("n.json", R"({"kind":"local","backend":"nccl"})")}),
        2, "n.json: the backend nccl needs GPUs");
}

TEST_F(Run, OutlivesItsClientAndIsCaughtUpWith)
{
    const Started client = start({"run", tiny_plan({{"FAKE_STEPS", "150"}, {"FAKE_STEP_MS", "40"}})});
    ASSERT_TRUE(wait_for_steps(client));
    ::kill(client.process, SIGKILL);
    EXPECT_EQ(finish(client).status, 128 + SIGKILL);
    ASSERT_EQ(history()[0]["state"], "running");

    // Ctrl-C on attach only detaches.
    const Started watcher = start({"attach"});
    ASSERT_TRUE(wait_for_steps(watcher));
    ::kill(watcher.process, SIGINT);
    const Output detached = finish(watcher);
    EXPECT_EQ(detached.status, 0) << detached.err;
    EXPECT_THAT(detached.err, HasSubstr("the run goes on"));
    EXPECT_EQ(history()[0]["state"], "running");

    const Output attached = fourfold({"attach", "--json"});
    EXPECT_EQ(attached.status, 0) << attached.err;
    const auto lines = lines_of(attached.out);
    ASSERT_EQ(lines.size(), 153u) << "start, 150 steps, end and the result";
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
        EXPECT_EQ(Json::parse(lines[i])["seq"], i);
    EXPECT_EQ(history()[0]["state"], "ok");
    EXPECT_EQ(history()[0]["steps"], 150);
}

// Beside the program that follows the run, and after that one was killed.
TEST_F(Run, IsStoppedByAnotherProgram)
{
    const std::string plan = tiny_plan({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    expect_problem(fourfold({"stop", "last"}), 2, "--target");
    for (const bool followed : {true, false}) {
        SCOPED_TRACE(followed);
        const Started client = start({"run", plan});
        ASSERT_TRUE(wait_for_steps(client)) << client.error_text();
        if (!followed) {
            ::kill(client.process, SIGKILL);
            EXPECT_EQ(finish(client).status, 128 + SIGKILL);
        }
        const std::string id = history()[0]["id"];
        EXPECT_THAT(fourfold({"stop", id, "--dry-run"}).out, HasSubstr("asks the agent of each host to stop"));
        EXPECT_EQ(history()[0]["state"], "running");
        const Output stopped = fourfold({"stop", id});
        EXPECT_EQ(stopped.status, 0) << stopped.err;
        EXPECT_EQ(stopped.out, "run " + id + " has ended (cancelled)\n");
        EXPECT_EQ(processes_with("FOURFOLD_RUN=" + id), 0);
        if (followed) {
            EXPECT_EQ(finish(client).status, 1);
        }
        EXPECT_EQ(history()[0]["state"], "cancelled");
        EXPECT_THAT(fourfold({"stop", id, "--dry-run"}).out, HasSubstr("nothing would be opened"));
        EXPECT_EQ(json_of(fourfold({"stop", id, "--json"}))["state"], "cancelled") << "again changes nothing";
    }
}

// What leads to its nodes is lost or damaged: the nodes still know it.
TEST_F(Run, IsReachedThroughItsTargetWithoutItsRecord)
{
    const std::string plan = tiny_plan({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    for (const bool emptied : {true, false}) {
        SCOPED_TRACE(emptied);
        const Started client = start({"run", plan});
        ASSERT_TRUE(wait_for_steps(client)) << client.error_text();
        ::kill(client.process, SIGKILL);
        (void)finish(client);
        const std::string id = history()[0]["id"];
        const fs::path record = folder() / "data/fourfold/runs" / id / "launch.json";
        fs::remove(record);
        if (emptied)
            std::ofstream(record).close();
        expect_problem(fourfold({"stop", id}), 2, emptied ? "launch.json: is empty" : "name its nodes with --target");
        const Output stopped = fourfold({"stop", id, "--target", "local"});
        EXPECT_EQ(stopped.status, 0) << stopped.err;
        EXPECT_EQ(processes_with("FOURFOLD_RUN=" + id), 0);
        EXPECT_EQ(history()[0]["state"], "cancelled");
    }
}

// What could not be stopped is a failure with its cause, not a run that goes on as asked.
TEST_F(Run, AStopThatReachesNobodyFails)
{
    const std::string target = file("here.json", R"({"kind": "local", "timeouts": {"connect_s": 0.1}})");
    const Started client
        = start({"run", tiny_plan({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}}), "--target", target});
    ASSERT_TRUE(wait_for_steps(client)) << client.error_text();
    ::kill(client.process, SIGKILL);
    (void)finish(client);
    fs::rename(folder() / "bin/fourfold-agent", folder() / "bin/away");
    const Output failed = fourfold({"stop", "last"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_EQ(failed.out, "");
    EXPECT_THAT(lines_of(failed.err).back(), HasSubstr("could not be reached to stop its ranks"));
    EXPECT_EQ(history()[0]["state"], "stopping");
    const Output attached = fourfold({"attach"});
    EXPECT_EQ(attached.status, 1) << "attach tries the same again";
    EXPECT_THAT(lines_of(attached.err).back(), HasSubstr("could not be reached to stop its ranks"));
    fs::rename(folder() / "bin/away", folder() / "bin/fourfold-agent");
    EXPECT_EQ(fourfold({"stop", "last"}).status, 0);
    EXPECT_EQ(history()[0]["state"], "cancelled");
}

// Added by one command, started by nobody's hand, ended behind all of them.
TEST_F(Run, QueuedRunsStartByThemselves)
{
    for (const char* steps : {"3", "4"}) {
        const Output added = fourfold({"run", tiny_plan({{"FAKE_STEPS", steps}}), "--no-rehearse", "--queue"});
        ASSERT_EQ(added.status, 0) << added.err;
        EXPECT_THAT(added.out, HasSubstr("of the queue ("));
    }
    const auto queue = [&] { return json_of(fourfold({"queue", "list", "--json"})); };
    const auto ended = [](const Json& runs) {
        return std::all_of(runs.begin(), runs.end(), [](const Json& run) { return run["state"] == "ok"; });
    };
    for (int i = 0; i < 1200 && !ended(queue()); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Json runs = queue();
    ASSERT_TRUE(ended(runs)) << runs.dump(2);
    ASSERT_EQ(runs.size(), 2u);
    const Json stored = history();
    ASSERT_EQ(stored.size(), 2u);
    EXPECT_EQ(stored[0]["id"], runs[1]["run"]) << "newest first";
    EXPECT_EQ(stored[0]["steps"], 4);
    EXPECT_EQ(stored[1]["steps"], 3);
    EXPECT_EQ(fourfold({"queue", "clear"}).out, "took out 2 runs that have ended\n");
    EXPECT_THAT(fourfold({"queue", "list"}).err, HasSubstr("the queue is empty"));
    // The program behind them ends as well.
    const std::string here = "XDG_DATA_HOME=" + (folder() / "data").string();
    for (int i = 0; i < 600 && processes_with(here) > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(processes_with(here), 0);
}

TEST_F(Run, TheQueueRefusesInOneLine)
{
    const Output unsound = fourfold({"run", tiny_plan(), "--set", "layout.dp=3", "--queue"});
    EXPECT_EQ(unsound.status, 2);
    EXPECT_EQ(lines_of(unsound.err).size(), 1u) << unsound.err;
    expect_problem(fourfold({"queue", "remove", "7"}), 2, "the queue has no run 7");
    expect_problem(fourfold({"queue", "move", "7", "0"}), 2, "PLACE");
    expect_problem(fourfold({"queue"}), 2, "subcommand is required");
    expect_problem(fourfold({"run", tiny_plan(), "--queue", "--accept-new-hosts"}), 2, "--accept-new-hosts");
    ASSERT_EQ(fourfold({"queue", "pause"}).out, "paused: 0 runs wait\n");
    ASSERT_EQ(fourfold({"run", tiny_plan(), "--queue", "--json"}).out, "{\n  \"number\": 1\n}\n");
    EXPECT_EQ(json_of(fourfold({"queue", "list", "--json"}))[0]["state"], "waiting");
    expect_problem(fourfold({"queue", "remove", "1", "7"}), 2, "no run 7 (nothing is taken out");
    EXPECT_EQ(fourfold({"queue", "remove", "1", "1"}).status, 0) << "named twice";
    std::filesystem::create_directories(folder() / "data/fourfold/queue");
    file("data/fourfold/queue/queue.json", "{\"format\": 1, \"runs\": [");
    expect_problem(fourfold({"queue", "list"}), 2, "queue.json");
}

class Stop : public Run, public ::testing::WithParamInterface<int> { };

TEST_P(Stop, EndsTheRunOnEveryRank)
{
    const std::string plan = tiny_plan({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    const Started started = start({"run", plan});
    ASSERT_TRUE(wait_for_steps(started)) << started.error_text();
    ::kill(started.process, GetParam());
    const Output output = finish(started);
    EXPECT_EQ(output.status, 1) << "it ended by itself, not by the signal";
    EXPECT_THAT(output.err, HasSubstr("stopping the run on every node"));
    EXPECT_THAT(lines_of(output.err).back(), HasSubstr("cancelled"));
    const Json runs = history();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0]["state"], "cancelled");
    EXPECT_EQ(processes_with("FOURFOLD_RUN=" + runs[0]["id"].get<std::string>()), 0);
}

INSTANTIATE_TEST_SUITE_P(Run, Stop, ::testing::Values(SIGINT, SIGTERM));

TEST_F(Run, FromTheLastGoodNeedsACheckpointToLoad)
{
    const Output output = fourfold({"run", tiny_plan(), "--from-last-good"});
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err, HasSubstr("--from-last-good: there is no checkpoint to continue from"));
    EXPECT_EQ(lines_of(output.err).size(), 1u) << output.err;
}

} // namespace
} // namespace fourfold::test
