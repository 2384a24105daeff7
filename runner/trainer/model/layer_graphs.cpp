// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/layer_graphs.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/autograd/gradients_of.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

struct LayerGraphs::State {
    // A layer in one set, while it is recorded.
    struct Pass {
        const Block* block;
        Block::Attentions attentions;
        at::Tensor input; // a leaf in the memory of what comes before
        at::Tensor output; // with the graph from the input, between the forward and the backward pass
        std::vector<at::Tensor> leaves, sums; // weights, and where their gradients are added up

        std::vector<at::Tensor> forward()
        {
            const at::AutoGradMode with_graph(true);
            output = block->forward(input, attentions);
            return {output.detach()};
        }
        std::vector<at::Tensor> backward(const at::Tensor& slope)
        {
            std::vector<at::Tensor> inputs{input};
            inputs.insert(inputs.end(), leaves.begin(), leaves.end());
            const std::vector<at::Tensor> slopes = gradients_of(std::exchange(output, {}), slope, inputs);
            const at::NoGradGuard no_graph;
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i].add_(slopes[i + 1]);
            return {slopes[0]};
        }
    };
    struct Set {
        at::Tensor x, y, y_slope, x_slope; // the stream and its gradient, before and behind the layers
        std::vector<std::unique_ptr<DeviceGraph>> forward, backward; // by layer
        bool in_use = false;
    };

    Rank rank;
    std::vector<Layer> layers;
    std::vector<std::vector<std::size_t>> shards; // by layer: its weights'
    Block::Attentions attentions;
    std::vector<Set> sets;
    int64_t replays = 0;

    [[nodiscard]] Pass pass_of(std::size_t layer, const at::Tensor& input) const
    {
        Pass pass{layers[layer].block, attentions, input.detach().requires_grad_(true), {}, {}, {}};
        for (const std::size_t shard : shards[layer]) {
            pass.leaves.push_back(rank.weights.leaves()[shard]);
            pass.sums.push_back(rank.gradients.sum_of(shard));
        }
        return pass;
    }

    void warm_up(GraphRecorder& recorder, const std::vector<int64_t>& stream, const at::TensorOptions& options) const
    {
        recorder.warm_up([&]() -> std::vector<at::Tensor> {
            const at::Tensor x = at::zeros(stream, options);
            for (std::size_t layer = 0; layer < layers.size(); ++layer) {
                Pass pass = pass_of(layer, x);
                (void)pass.forward();
                (void)pass.backward(x);
            }
            return {};
        });
    }

    // Activations of a layer go back to the pool when its backward pass is recorded: those before it take the room.
    [[nodiscard]] Set record(
        GraphRecorder& recorder, const std::vector<int64_t>& stream, const at::TensorOptions& options) const
    {
        Set set;
        set.x = at::zeros(stream, options);
        set.y_slope = at::zeros(stream, options);
        set.backward.resize(layers.size());
        recorder.begin_pool();
        std::vector<std::shared_ptr<Pass>> passes;
        at::Tensor at = set.x;
        for (std::size_t layer = 0; layer < layers.size(); ++layer) {
            passes.push_back(std::make_shared<Pass>(pass_of(layer, at)));
            auto [graph, results] = recorder.record([pass = passes.back()] { return pass->forward(); });
            set.forward.push_back(std::move(graph));
            at = results.at(0);
        }
        set.y = std::exchange(at, set.y_slope);
        for (std::size_t layer = layers.size(); layer-- > 0;) {
            auto [graph, results]
                = recorder.record([pass = std::move(passes[layer]), slope = at] { return pass->backward(slope); });
            set.backward[layer] = std::move(graph);
            at = results.at(0);
        }
        set.x_slope = at;
        return set;
    }
};

namespace {
// One micro-batch; it has the set as long as a graph of autograd's may come back to it.
template <typename State>
class Replayed final : public GradientFunction {
public:
    Replayed(std::shared_ptr<State> state, std::size_t set)
        : state_(std::move(state))
        , set_(state_->sets[set])
    {
        set_.in_use = true;
    }
    ~Replayed() override { set_.in_use = false; }
    Tensors forward(const Tensors& inputs, Tensors&) override
    {
        goes_away_ = inputs[0].is_leaf();
        set_.x.copy_(inputs[0]);
        for (std::size_t layer = 0; layer < state_->layers.size(); ++layer) {
            state_->rank.units.enter(state_->layers[layer].number);
            set_.forward[layer]->replay();
            ++state_->replays;
        }
        return {set_.y.variable_data()};
    }
    Tensors backward(const Tensors& gradients, const Tensors&) override
    {
        set_.y_slope.copy_(gradients[0]);
        for (std::size_t layer = state_->layers.size(); layer-- > 0;) {
            set_.backward[layer]->replay();
            ++state_->replays;
            for (const std::size_t shard : state_->shards[layer])
                state_->rank.gradients.count(shard);
        }
        // What is sent to the stage before is on its way while the next micro-batch computes; all else has used it
        // before.
        return {goes_away_ ? set_.x_slope.clone() : set_.x_slope.variable_data()};
    }

private:
    std::shared_ptr<State> state_;
    typename State::Set& set_;
    bool goes_away_ = false;
};
} // namespace

LayerGraphs::LayerGraphs(GraphRecorder& recorder, const Rank& rank, const std::vector<Layer>& layers,
    const std::vector<int64_t>& stream, const at::TensorOptions& options, int sets)
    : state_(std::make_shared<State>(
        State{rank, layers, {}, std::make_shared<const LayerAttentions>(rank.settings.attention), {}}))
{
    for (const Layer& layer : layers) {
        auto& own = state_->shards.emplace_back();
        for (std::size_t shard = 0; shard < rank.weights.shards().size(); ++shard)
            if (rank.weights.shards()[shard].parameter.layer == layer.number)
                own.push_back(shard);
    }
    state_->warm_up(recorder, stream, options);
    for (int set = 0; set < sets; ++set)
        state_->sets.push_back(state_->record(recorder, stream, options));
}

LayerGraphs::~LayerGraphs() = default;

int LayerGraphs::first() const
{
    return state_->layers.front().number;
}

int LayerGraphs::count() const
{
    return int(state_->layers.size());
}

std::optional<at::Tensor> LayerGraphs::forward(const at::Tensor& x) const
{
    const auto free = std::ranges::find(state_->sets, false, &State::Set::in_use);
    if (free == state_->sets.end())
        return std::nullopt;
    const auto set = std::size_t(free - state_->sets.begin());
    return apply(std::make_shared<Replayed<State>>(state_, set), {x})[0];
}

int64_t LayerGraphs::replays() const
{
    return state_->replays;
}

} // namespace fourfold::trainer
