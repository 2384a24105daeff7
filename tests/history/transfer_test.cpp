// SPDX-License-Identifier: GPL-3.0-or-later
// Export and import, with documents that nobody should trust.
#include "core/history/annotations.h"
#include "core/history/transfer.h"
#include "tests/history/history_test_support.h"

#include <gmock/gmock.h>

#include <random>

namespace fourfold {
namespace {

using namespace test;
using ::testing::HasSubstr;

Json exported_sample(const std::filesystem::path& file)
{
    HistoryStore store = open_store(file);
    NewRun run = sample_run("01RUN");
    run.planned_prediction = Json{{"tps_per_gpu", 120.0}};
    must(store.create_run(run));
    must(store.append_events("01RUN", "events",
        {start_line(0), step_line(1, 1, 50, 5.0), step_line(2, 2, 100, 1e-7),
            R"({"seq":3,"event":"error","rank":1,"message":"stopped"})", end_line(4, "fail")}));
    must(store.append_events("01RUN", "node1", {end_line(0, "fail")}));
    return must(export_run(store, "last"));
}

TEST(Transfer, RoundTripKeepsEverything)
{
    const TemporaryFolder folder;
    const Json document = exported_sample(folder / "a.db");
    HistoryStore other = open_store(folder / "b.db");
    // Through text, as a file would carry it.
    EXPECT_EQ(must(import_run(other, must(parse_json(document.dump(2), "export")))), "01RUN");
    EXPECT_EQ(must(export_run(other, "01RUN")), document);

    const RunDetail before = must(open_store(folder / "a.db").show("01RUN"));
    const RunDetail after = must(other.show("01RUN"));
    EXPECT_EQ(after.summary.created, before.summary.created);
    EXPECT_EQ(after.summary.state, RunState::fail);
    EXPECT_EQ(after.summary.problem, "rank 1: stopped");
    EXPECT_EQ(after.summary.measured_tps_per_gpu, before.summary.measured_tps_per_gpu);
    EXPECT_EQ(after.headline_rule, before.headline_rule);
    EXPECT_EQ(after.steps.size(), before.steps.size());
    EXPECT_EQ(after.versions, before.versions);
    EXPECT_EQ(must(other.last_seq("01RUN", "node1")), 0);

    const auto again = import_run(other, document);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ProblemCode::conflict);
}

TEST(Transfer, KeepsTheStackOfOtherSoftware)
{
    const TemporaryFolder folder;
    Json document = exported_sample(folder / "a.db");
    document["stack"] = "megatron-lm";
    HistoryStore other = open_store(folder / "b.db");
    must(import_run(other, document));
    EXPECT_EQ(must(other.list())[0].stack, "megatron-lm");
}

// Nobody follows it here: else it would go on for ever, and could not be purged.
TEST(Transfer, ARunThatWentOnElsewhereIsLostHere)
{
    const TemporaryFolder folder;
    Json document = exported_sample(folder / "a.db");
    document["state"] = "running";
    document["problem"] = "";
    HistoryStore other = open_store(folder / "b.db");
    must(import_run(other, document));
    EXPECT_EQ(must(other.list())[0].state, RunState::lost);
    EXPECT_THAT(must(other.list())[0].problem, HasSubstr("exported while it went on"));
    must(set_deleted(other, {"01RUN"}, true));
    EXPECT_EQ(must(purge(other)).size(), 1u);
}

TEST(Transfer, NamesTheFieldThatIsWrong)
{
    const TemporaryFolder folder;
    const Json good = exported_sample(folder / "a.db");
    HistoryStore store = open_store(folder / "b.db");
    struct Case {
        const char* pointer;
        Json value; // discarded removes the key
        const char* expected;
    };
    const Json removed(Json::value_t::discarded);
    const Case cases[] = {
        {"/fourfold_run", removed, "fourfold_run"},
        {"/fourfold_run", 2, "version 2"},
        {"/id", "../../etc", "id"},
        {"/id", removed, "id"},
        {"/state", "sleeping", "state"},
        {"/created", "yesterday", "created"},
        {"/plan", "llama", "plan"},
        {"/prediction", removed, "prediction"},
        {"/planned_prediction", 3, "planned_prediction"},
        {"/hosts", Json{{"a", 1}}, "hosts"},
        {"/hosts/0", 5, "hosts"},
        {"/environment", removed, "environment"},
        {"/events", Json::array(), "events"},
        {"/events/events", 1, "events.events"},
        {"/events/events/1/seq", 7, "events.events[1]"},
        {"/events/events/0/event", removed, "events.events[0]"},
        {"/stack", nullptr, "stack"},
    };
    for (const Case& c : cases) {
        Json document = good;
        const Json::json_pointer pointer(c.pointer);
        if (c.value.is_discarded())
            document[pointer.parent_pointer()].erase(pointer.back());
        else
            document[pointer] = c.value;
        const auto result = import_run(store, document);
        ASSERT_FALSE(result) << c.pointer;
        EXPECT_EQ(result.error().exit_status(), 2) << c.pointer;
        EXPECT_THAT(result.error().line(), HasSubstr(c.expected));
        EXPECT_TRUE(must(store.list()).empty()) << "nothing half-written after " << c.pointer;
    }
}

// Replaces one random value by another one of any kind.
void damage(Json& json, std::mt19937& random)
{
    if (json.is_structured() && !json.empty() && random() % 4 != 0) {
        auto at = json.begin();
        std::advance(at, static_cast<long>(random() % json.size()));
        damage(*at, random);
        return;
    }
    const Json values[] = {nullptr, true, -1, 0, 1e300, std::uint64_t(-1), "", "last", std::string("\xff\0\n'", 4),
        Json::array(), Json::object(), Json{{"seq", 0}}, std::string(5000, 'x')};
    json = values[random() % std::size(values)];
}

TEST(Transfer, SurvivesDamagedDocuments)
{
    const TemporaryFolder folder;
    const Json good = exported_sample(folder / "a.db");
    HistoryStore store = open_store(folder / "b.db");
    std::mt19937 random(7);
    int taken = 0, refused = 0;
    for (int i = 0; i < 400; ++i) {
        Json document = good;
        document["id"] = "RUN" + std::to_string(i);
        for (unsigned n = 1 + random() % 3; n > 0; --n)
            damage(document, random);
        const auto before = must(store.list()).size();
        const auto result = import_run(store, document);
        (result ? taken : refused) += 1;
        if (result) {
            EXPECT_TRUE(must(store.show(*result)).plan.is_object());
        }
        EXPECT_EQ(must(store.list()).size(), before + (result ? 1 : 0));
    }
    EXPECT_GT(taken, 20);
    EXPECT_GT(refused, 20);
    open_store(folder / "b.db"); // checks the file
}

} // namespace
} // namespace fourfold
