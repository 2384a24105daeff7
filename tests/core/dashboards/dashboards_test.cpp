// SPDX-License-Identifier: GPL-3.0-or-later
// Read back by TensorBoard's and Weights & Biases' own packages (read_back.py).
#include "core/dashboards/checksum.h"
#include "core/dashboards/dashboard.h"
#include "core/dashboards/tracked_run.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <map>

namespace fourfold {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;

class Folder {
public:
    Folder()
    {
        std::string path = fs::temp_directory_path() / "fourfold-dashboards-XXXXXX";
        if (mkdtemp(path.data()) != nullptr)
            path_ = path;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::string contents(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Json event_of(const char* kind, int second, Json fields)
{
    char time[40]; // as long as two minutes and seconds of any number
    std::snprintf(time, sizeof time, "2026-01-01T00:%02d:%02d.250Z", second / 60, second % 60);
    fields["event"] = kind;
    fields["time"] = time;
    return fields;
}

// `steps` of them, an evaluation after each tenth, a loss that is not finite in the third.
std::vector<Json> events_of(int steps)
{
    std::vector<Json> events{event_of("start", 0, {{"steps", steps}})};
    for (int step = 1; step <= steps; ++step) {
        events.push_back(event_of("step", step,
            {{"step", step}, {"loss", step == 3 ? Json() : Json(8.0 / step)}, {"tps_per_gpu", 1000 + step},
                {"mfu", Json()}, {"tokens", 1e9 * step}}));
        if (step % 10 == 0)
            events.push_back(event_of("eval", step, {{"step", step}, {"loss", 9.0 / step}}));
    }
    events.push_back(event_of("end", steps + 5, {{"status", "ok"}}));
    return events;
}

TEST(Dashboards, TellHowExpertsAreLoaded)
{
    const EventNumbers numbers = numbers_of(event_of("step", 1,
        {{"step", 1}, {"loss", 2.0}, {"experts", {{"busiest", 1.5}, {"layer", 3}, {"idle", 2}, {"dropped", 0.25}}}}));
    const std::vector<std::pair<std::string, double>> values(numbers.values.begin(), numbers.values.end());
    EXPECT_THAT(values, Contains(std::pair<std::string, double>("train/experts_busiest", 1.5)));
    EXPECT_THAT(values, Contains(std::pair<std::string, double>("train/experts_idle", 2)));
    EXPECT_THAT(values, Contains(std::pair<std::string, double>("train/experts_dropped", 0.25)));
    EXPECT_EQ(numbers_of(event_of("step", 1, {{"step", 1}, {"experts", 7}})).values.size(), 0U);
}

void write(const fs::path& folder, const DashboardRun& run, const std::vector<Json>& events)
{
    for (const auto& dashboard : {tensorboard_file(folder, run), weights_and_biases_run(folder, run)}) {
        EXPECT_EQ(dashboard->where(), "");
        for (const Json& event : events) {
            const auto added = dashboard->add(event);
            ASSERT_TRUE(added) << added.error().line();
        }
        const auto finished = dashboard->finish();
        ASSERT_TRUE(finished) << finished.error().line();
        EXPECT_TRUE(fs::exists(dashboard->where()));
    }
}

Json read_back(const fs::path& folder, const std::string& run)
{
    const std::string out = folder / "out", log = folder / "log";
    const std::string command = "PYTHONPATH='" FOURFOLD_BIN_DIR
                                "/../tests/wheels' python3 -W ignore '" FOURFOLD_TEST_DATA "/read_back.py' '"
        + folder.string() + "' " + run + " >'" + out + "' 2>'" + log + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << contents(log);
    return Json::parse(contents(out), nullptr, false);
}

// What read_back.py let the packages write.
void expect_theirs(const fs::path& folder)
{
    const auto places = tracked_runs(folder);
    ASSERT_TRUE(places) << places.error().line();
    ASSERT_EQ(places->size(), 2u);
    for (const TrackedPlace& place : *places) {
        TrackedRun run(place);
        std::map<std::string, std::vector<TrackedValue>> values;
        const auto read = run.read([&](const TrackedValue& value) { values[std::string(value.tag)].push_back(value); },
            [] { ADD_FAILURE() << "the files are the same"; });
        ASSERT_TRUE(read) << read.error().line();
        EXPECT_EQ(run.left_out(), 0u);
        const bool board = place.tracker == Tracker::tensorboard;
        const auto& losses = values[board ? "Loss/train" : "train/loss"];
        ASSERT_EQ(losses.size(), 500u);
        EXPECT_EQ(losses[3].step, 4);
        EXPECT_EQ(losses[3].value, 2);
        EXPECT_EQ(losses[3].time_s, 1767225604);
        const auto& norms = values[board ? "grad-norm" : "optim.grad_norm"];
        ASSERT_EQ(norms.size(), 500u);
        EXPECT_EQ(norms[499].value, 1000);
        EXPECT_EQ(run.has_ended(), !board);
        EXPECT_EQ(run.name(), board ? "board" : "brisk-wind-1");
        EXPECT_EQ(run.tags().size(), board ? 0u : 2u);
        if (board) {
            EXPECT_EQ(values["lr"].at(9).value, 30) << "a tensor of raw bytes";
        }
        EXPECT_EQ(values.size(), board ? 3u : 2u) << "what is no number is passed over";
    }
}

// Published check values of the two (Rocksoft model; RFC 3720, appendix B.4).
TEST(Checksums, AreThePublishedOnes)
{
    EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
    EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
}

TEST(Dashboards, AreReadBackByTheirOwnPackages)
{
    const Folder folder;
    // A config longer than a block of W&B's log, and enough rows for several blocks.
    const std::string large(100'000, 'x');
    constexpr int kSteps = 400;
    const Json plan{{"name", "A plan"}, {"gpus", 8}, {"layout", {{"tp", 2}}}, {"large", large},
        {"model", {{"model_type", "llama"}, {"rope_scaling", {{"factor", 4.5}}}}}, {"cluster", {{"name", "Cluster"}}},
        {"training", {{"compile", true}, {"ramp_up", Json()}}}, {"run", {{"data", Json::array({{{"path", "x"}}})}}}};
    write(folder.path(), {"01RUN", "A run", plan}, events_of(kSteps));
    const Json read = read_back(folder.path(), "01RUN");
    ASSERT_TRUE(read.is_object());

    const Json& board = read["tensorboard"];
    ASSERT_EQ(board["train/loss"].size(), kSteps - 1u) << "what is not finite is left out";
    EXPECT_EQ(board["train/loss"][1], Json({2, 4.0}));
    EXPECT_EQ(board["train/loss"][2], Json({4, 2.0}));
    EXPECT_EQ(board["speed/tps_per_gpu"][kSteps - 1], Json({kSteps, 1000.0 + kSteps}));
    EXPECT_EQ(board["eval/loss"].size(), kSteps / 10u);
    EXPECT_NEAR(board["eval/loss"][0][1].get<double>(), 0.9, 1e-7);
    EXPECT_FALSE(board.contains("speed/mfu"));

    // Every setting that is one value, none that is not, nothing of a key that no plan has.
    const Json& hyperparameters = read["hyperparameters"];
    EXPECT_EQ(hyperparameters["settings"],
        Json({{"cluster", "Cluster"}, {"gpus", 8.0}, {"layout.tp", 2.0}, {"model.model_type", "llama"},
            {"model.rope_scaling.factor", 4.5}, {"name", "A plan"}, {"training.compile", true}}));
    EXPECT_EQ(hyperparameters["start"], 1767225601.25) << "of the first numbers";
    EXPECT_EQ(hyperparameters["status"], 1);
    EXPECT_EQ(hyperparameters["end"], 1767225600.25 + kSteps + 5);
    EXPECT_EQ(hyperparameters["text"][0], Json({"plan"}));
    EXPECT_EQ(hyperparameters["text"][1], "```\n" + plan.dump(2) + "\n```");
    EXPECT_EQ(hyperparameters["about"]["speed/tps_per_gpu"], "Tokens per second and GPU.");
    for (const auto& [tag, about] : hyperparameters["about"].items())
        EXPECT_FALSE(about.get<std::string>().empty()) << tag;

    const Json& run = read["wandb"];
    EXPECT_EQ(run["id"], "01RUN");
    EXPECT_EQ(run["name"], "A run");
    EXPECT_EQ(run["config"]["gpus"], 8);
    EXPECT_EQ(run["config"]["layout"], Json({{"tp", 2}}));
    EXPECT_EQ(run["config"]["large"], large);
    EXPECT_EQ(run["started"], "2026-01-01T00:00:00.250Z");
    EXPECT_EQ(read["folder"], "offline-run-20260101_000000-01RUN");
    ASSERT_EQ(run["history"].size(), std::size_t(kSteps)) << "one row per step";
    const Json& tenth = run["history"][9];
    EXPECT_EQ(tenth[0], 10);
    EXPECT_EQ(tenth[1]["train/loss"], 0.8);
    EXPECT_EQ(tenth[1]["eval/loss"], 0.9);
    EXPECT_EQ(tenth[1]["_step"], 10);
    EXPECT_EQ(tenth[1]["_runtime"], 10.0);
    EXPECT_FALSE(run["history"][2][1].contains("train/loss"));
    EXPECT_EQ(run["summary"]["train/tokens"], 1e9 * kSteps);
    EXPECT_EQ(run["exit"], Json({0, kSteps}));
    EXPECT_EQ(run["kinds"][0], "header");
    EXPECT_EQ(run["kinds"][1], "run");
    expect_theirs(folder.path() / "theirs");
}

TEST(Dashboards, TheSameEventsMakeTheSameFilesAgain)
{
    const Folder folder;
    const auto files = [&] {
        std::string all;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
            if (entry.is_regular_file())
                all += contents(entry.path());
        return all;
    };
    write(folder.path(), {"01RUN", "A run", Json()}, events_of(50));
    const std::string first = files();
    EXPECT_GT(first.size(), 1000u);
    write(folder.path(), {"01RUN", "A run", Json()}, events_of(50));
    EXPECT_EQ(files(), first);
}

TEST(Dashboards, OddEventsArePassedOver)
{
    const Folder folder;
    const auto board = tensorboard_file(folder.path(), {"01RUN", "", Json()});
    for (const char* text : {"{}", "[]", "3", R"({"event": "step"})", R"({"event": "step", "step": -1, "loss": 2})",
             R"({"event": "step", "step": "one", "loss": 2})", R"({"event": "step", "step": 1e300, "loss": 2})"})
        EXPECT_TRUE(board->add(Json::parse(text))) << text;
    EXPECT_EQ(board->where(), "");
    const auto named = tensorboard_file(folder.path(), {"01NAMED", "tp 2/pp 2\n", Json()});
    ASSERT_TRUE(named->add(event_of("step", 1, {{"step", 1}, {"loss", 2}})));
    EXPECT_THAT(named->where(), ::testing::HasSubstr("tp 2-pp 2"));
    EXPECT_TRUE(named->where().starts_with((folder.path() / "tp").string())) << "in no folder of a folder";
    std::ofstream(folder.path() / "01FILE") << "x";
    const auto blocked = tensorboard_file(folder.path(), {"01FILE", "", Json()});
    const auto added = blocked->add(event_of("step", 1, {{"step", 1}, {"loss", 2}}));
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().line(), ::testing::HasSubstr("01FILE"));
}

} // namespace
} // namespace fourfold
