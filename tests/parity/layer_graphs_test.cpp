// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded layers in one process: what becomes of a micro-batch for which there is no set of graphs, and of a device
// that cannot record.
#include "runner/trainer/trainer.h"
#include "tests/parity/graph_cases.h"
#include "tests/parity/graph_stand_in.h"
#include "tests/parity/ranks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>

#include <numeric>

namespace fourfold::testing {
namespace {

using ::testing::HasSubstr;
using trainer::Trainer;

struct Recording {
    explicit Recording(const std::function<std::unique_ptr<trainer::GraphRecorder>()>& graphs)
        : plan(tiny_plan(write_tokens(folder.path()), kAsksForGraphs))
        , mesh(trainer::make_mesh(plan, 0, *trainer::listed_schedule(plan), nullptr))
    {
        at::set_num_threads(1);
        trainer::TrainerOptions options{false, true};
        options.graphs = graphs;
        trainer = *Trainer::create(plan, mesh, options);
    }
    double loss() { return trainer->accumulate_gradients(0)->loss; }

    TemporaryFolder folder;
    ResolvedPlan plan;
    trainer::Mesh mesh;
    std::unique_ptr<Trainer> trainer;
};

TEST(LayerGraphs, ThatADeviceCannotRecordAreLeftOut)
{
    Recording without([] { return nullptr; }), fails([] { return graphs_on_cpu(3); }),
        records([] { return graphs_on_cpu(); });
    EXPECT_EQ(without.trainer->without_graphs(), "the ranks run on CPUs");
    EXPECT_THAT(fails.trainer->without_graphs(),
        HasSubstr("the device could not record the layers: operation not permitted when stream is capturing"));
    EXPECT_EQ(records.trainer->without_graphs(), "");
    const double loss = without.loss();
    EXPECT_EQ(fails.loss(), loss);
    EXPECT_EQ(fails.trainer->graph_replays(), 0);
    EXPECT_EQ(records.loss(), loss);
    EXPECT_GT(records.trainer->graph_replays(), 0);
}

// One set: of two micro-batches under way the second is computed, and when the first is through the set is free again.
TEST(LayerGraphs, AMicroBatchWithoutASetIsComputed)
{
    Recording one([] { return nullptr; });
    Trainer& trainer = *one.trainer;
    const int64_t length = one.plan.training.seq_len, sequences = one.plan.training.micro_batch;
    std::vector<int64_t> positions(std::size_t(length), 0);
    std::iota(positions.begin(), positions.end(), 0);
    const auto exact = at::TensorOptions(at::kDouble);
    trainer::WeightGradients later;
    const auto settings = trainer::block_settings(one.plan, one.mesh, positions, exact, later, nullptr);
    auto recorded = trainer::make_decoders(one.plan, one.mesh, trainer.weights(), trainer.units(), settings, positions);
    const auto computed
        = trainer::make_decoders(one.plan, one.mesh, trainer.weights(), trainer.units(), settings, positions);
    const auto recorder = graphs_on_cpu();
    recorded[0].record_graphs(one.plan, *recorder, trainer.weights(), trainer.gradients(),
        {length, sequences, one.plan.model.hidden}, exact, 1);

    const auto forward = [&](const trainer::Decoder& decoder, int64_t first) {
        const at::Tensor tokens = at::arange(first, first + length * sequences, at::kLong).remainder(61);
        return decoder.forward(tokens.view({length, sequences}), {});
    };
    const auto gradients = [&](const std::vector<trainer::Decoder>& decoders) {
        const auto& leaves = trainer.weights().leaves();
        for (const at::Tensor& leaf : leaves)
            leaf.grad().zero_();
        at::Tensor first = forward(decoders[0], 3), second = forward(decoders[0], 40);
        EXPECT_EQ(recorded[0].replays(), &decoders == &recorded ? 2 : 0);
        second.square().sum().backward();
        first.square().sum().backward();
        first.reset();
        forward(decoders[0], 11).square().sum().backward();
        std::vector<at::Tensor> found;
        for (const at::Tensor& leaf : leaves)
            found.push_back(leaf.grad().clone());
        return found;
    };
    const auto expected = gradients(computed), found = gradients(recorded);
    EXPECT_EQ(recorded[0].replays(), 8); // both layers, forward and backward, of two micro-batches
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i].allclose(expected[i], 1e-12, 1e-13)) << trainer.weights().shards()[i].parameter.name;
}

} // namespace
} // namespace fourfold::testing
