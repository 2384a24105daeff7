// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that write a checkpoint together, each on a thread of its own: it is there when all of them wrote, and not
// before.
#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/trainer/checkpoint/background_save.h"
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/comm/store_server.h"
#include "tests/parity/ranks.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>

namespace fourfold::trainer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// Three ranks of one process; each has a weight of its own and a piece of the states of a common one.
class BackgroundSaves : public ::testing::Test {
protected:
    static constexpr int kRanks = 3;

    void SetUp() override
    {
        auto listener = listen_on("127.0.0.1");
        ASSERT_TRUE(listener) << listener.error().line();
        const StorePlace place{"127.0.0.1", listener->port, random_token(kTokenBytes)};
        auto started = StoreServer::start(std::move(listener->socket), place.token);
        ASSERT_TRUE(started) << started.error().line();
        server = *std::move(started);
        for (int rank = 0; rank < kRanks; ++rank) {
            auto line = StoreClient::connect(place, 20s);
            ASSERT_TRUE(line) << line.error().line();
            if (rank == 0)
                store = *(*line)->again();
            ranks.push_back(std::make_unique<BackgroundSave>(
                rank, kRanks, *std::move(line), [this](const SaveOutcome&) { ++told; }));
        }
    }
    void TearDown() override { ranks.clear(); }

    SaveRequest request(int rank, int steps)
    {
        SaveRequest request;
        request.folder = all;
        request.steps = steps;
        request.keep = 2;
        request.state = {{"fourfold_checkpoint", kCheckpointVersion}, {"step", steps}, {"updates", steps}};
        request.config = {{"model_type", "llama"}};
        const auto* data = reinterpret_cast<const std::byte*>(values.data());
        request.weights = {part_file("model", rank, kRanks),
            {{{"weight" + std::to_string(rank), "F32", {4}}, data + 16 * rank, std::nullopt}}};
        const Piece piece{"common", 0, 1, 4 * rank, 4};
        request.states.name = part_file("optimizer", rank, kRanks);
        for (const std::string suffix : {kFirstMoment, kSecondMoment})
            request.states.tensors.push_back({{piece.stored_name(suffix), "F32", {4}}, data + 16 * rank, std::nullopt});
        request.pieces = {piece};
        return request;
    }
    std::vector<SaveOutcome> wait()
    {
        std::vector<SaveOutcome> outcomes;
        for (const auto& rank : ranks)
            outcomes.push_back(rank->wait().value());
        return outcomes;
    }
    [[nodiscard]] bool there(int steps) const { return fs::exists(all / step_name(steps)); }

    testing::TemporaryFolder folder;
    fs::path all = folder.path() / "all";
    std::vector<float> values = std::vector<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    std::atomic<int> told{0};
    std::unique_ptr<StoreServer> server;
    std::shared_ptr<StoreClient> store;
    std::vector<std::unique_ptr<BackgroundSave>> ranks;
};

TEST_F(BackgroundSaves, ArePublishedWhenTheLastRankWrote)
{
    for (const int steps : {2, 4, 6}) {
        for (int rank = 1; rank < kRanks; ++rank)
            ranks[std::size_t(rank)]->start(request(rank, steps));
        ranks[0]->start(request(0, steps));
        for (const SaveOutcome& outcome : wait())
            ASSERT_FALSE(outcome.problem) << outcome.problem->line();
        const auto contents = CheckpointContents::open(all / step_name(steps));
        ASSERT_TRUE(contents) << contents.error().line();
        EXPECT_EQ(contents->steps, steps);
        Shard common;
        common.parameter.name = "common";
        common.parameter.shape = {12};
        common.parameter.tp_dim = -1;
        common.length = common.valid_rows = 12;
        const auto read = contents->states->read(ModelShape{}, common, kSecondMoment, 0, 12);
        ASSERT_TRUE(read) << read.error().line();
        EXPECT_EQ(*read, std::vector<double>(values.begin(), values.end()));
    }
    EXPECT_FALSE(there(2)) << "two are kept";
    EXPECT_TRUE(there(4));
    EXPECT_EQ(told, 3 * kRanks);
    EXPECT_LE(store->count().value(), 2 * (kRanks + 1)) << "of old saves nothing stays in the store";
}

TEST_F(BackgroundSaves, WaitForASlowRankBesideTheTraining)
{
    ranks[0]->start(request(0, 2));
    ranks[1]->start(request(1, 2));
    std::this_thread::sleep_for(200ms);
    EXPECT_FALSE(there(2)) << "rank 2 has not begun";
    ranks[2]->start(request(2, 2));
    EXPECT_FALSE(wait()[0].problem);
    EXPECT_TRUE(there(2));
}

// As a full disk under one of them.
TEST_F(BackgroundSaves, OfARankThatCannotWriteAreNone)
{
    for (int rank = 0; rank < kRanks; ++rank)
        ranks[std::size_t(rank)]->start(request(rank, 2));
    ASSERT_FALSE(wait()[0].problem);
    for (int rank = 0; rank < kRanks; ++rank) {
        SaveRequest own = request(rank, 4);
        if (rank == 1)
            own.states.name = "missing/" + own.states.name;
        ranks[std::size_t(rank)]->start(std::move(own));
    }
    const auto outcomes = wait();
    for (const SaveOutcome& outcome : outcomes) {
        ASSERT_TRUE(outcome.problem);
        EXPECT_THAT(outcome.problem->line(), HasSubstr("missing/optimizer-00002-of-00003.safetensors: cannot create"));
    }
    EXPECT_FALSE(outcomes[0].own || outcomes[2].own);
    EXPECT_TRUE(outcomes[1].own);
    EXPECT_TRUE(CheckpointContents::open(all / step_name(2))) << "the one before stays";
    EXPECT_EQ(std::distance(fs::directory_iterator(all), fs::directory_iterator()), 1) << "its room is given back";
    for (int rank = 0; rank < kRanks; ++rank)
        ranks[std::size_t(rank)]->start(request(rank, 6));
    EXPECT_FALSE(wait()[0].problem) << "the next one is tried again";
    EXPECT_TRUE(there(6));
}

TEST_F(BackgroundSaves, DoNotReplaceWhatIsNotTheirs)
{
    fs::create_directories(all / "step-00000002.partial");
    std::ofstream(all / "step-00000002.partial/thesis.tex") << "mine";
    fs::create_directories(all / "step-00000004");
    std::ofstream(all / "step-00000004/thesis.tex") << "mine";
    for (const int steps : {2, 4}) {
        for (int rank = 0; rank < kRanks; ++rank)
            ranks[std::size_t(rank)]->start(request(rank, steps));
        const auto outcomes = wait();
        EXPECT_THAT(outcomes[0].problem.value().line(), HasSubstr("thesis.tex"));
        EXPECT_TRUE(outcomes[0].own);
        EXPECT_FALSE(outcomes[1].own);
    }
    EXPECT_TRUE(fs::exists(all / "step-00000002.partial/thesis.tex"));
    EXPECT_TRUE(fs::exists(all / "step-00000004/thesis.tex"));
    EXPECT_TRUE(CheckpointContents::open(all / "step-00000004.kept")) << "whole, beside it";
}

} // namespace
} // namespace fourfold::trainer
