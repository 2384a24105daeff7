// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {
namespace {

// The two chunks of a stage in a V: each has a next micro-batch for every kind of work. Micro-batches beyond the batch
// are counted but leave no action, so that a short batch runs the pattern of a long one with gaps.
class VStage {
public:
    VStage(int stage, int pp, int micro_batches)
        : chunk_{stage, 2 * pp - 1 - stage}
        , micro_batches_(micro_batches)
    {
    }
    void forward(int side) { add(ActionKind::forward, side, forwards_); }
    void input_gradient(int side) { add(ActionKind::input_gradient, side, inputs_); }
    void weight_gradient(int side) { add(ActionKind::weight_gradient, side, weights_); }
    void backward(int side)
    {
        input_gradient(side);
        weight_gradient(side);
    }
    [[nodiscard]] int forwards(int side) const { return forwards_[index(side)]; }
    [[nodiscard]] bool owes_weight_gradient(int side) const { return weights_[index(side)] < inputs_[index(side)]; }
    [[nodiscard]] std::vector<Action> take() { return std::move(actions_); }

private:
    using Counts = std::array<int, 2>;
    static std::size_t index(int side) { return static_cast<std::size_t>(side); }
    void add(ActionKind kind, int side, Counts& next)
    {
        const int micro_batch = next[index(side)]++;
        if (micro_batch < micro_batches_)
            actions_.push_back({kind, micro_batch, chunk_[index(side)]});
    }

    std::array<int, 2> chunk_;
    int micro_batches_;
    Counts forwards_{}, inputs_{}, weights_{};
    std::vector<Action> actions_;
};

} // namespace

std::vector<Action> zb_h1_actions(int rank, int pp, int /*virtual_stages*/, int micro_batches)
{
    std::vector<Action> actions;
    actions.reserve(static_cast<std::size_t>(3 * micro_batches));
    const int warm_up = std::min(pp - 1 - rank, micro_batches);
    for (int m = 0; m < warm_up; ++m)
        actions.push_back({ActionKind::forward, m, rank});
    for (int m = 0; m < micro_batches; ++m) {
        if (m + warm_up < micro_batches)
            actions.push_back({ActionKind::forward, m + warm_up, rank});
        actions.push_back({ActionKind::input_gradient, m, rank});
        if (m >= rank)
            actions.push_back({ActionKind::weight_gradient, m - rank, rank});
    }
    for (int m = std::max(0, micro_batches - rank); m < micro_batches; ++m)
        actions.push_back({ActionKind::weight_gradient, m, rank});
    return actions;
}

std::optional<double> zb_h1_length(int pp, int /*virtual_stages*/, int micro_batches, const ChunkTimes& chunk)
{
    const double forward = chunk.forward_s, weight = chunk.weight_gradient_s, input = chunk.backward_s - weight;
    if (weight > std::min(forward, input))
        return std::nullopt;
    const double m = micro_batches, hops = pp - 1;
    return m * (forward + chunk.backward_s) + hops * (forward + input) - std::min(m - 1, hops) * weight;
}

std::vector<Action> zb_v_actions(int rank, int pp, int /*virtual_stages*/, int micro_batches)
{
    constexpr int kDown = 0, kUp = 1; // the two sides of the V
    // Fewer micro-batches than fill the pipeline run the pattern of 2 pp - 1 with gaps.
    const int filled = std::max(2 * pp - 1, micro_batches);
    VStage v(rank, pp, micro_batches);
    // Until the first micro-batch has come down the V and back up to this stage.
    for (int i = 0; i < 2 * (pp - rank) - 1; ++i)
        v.forward(kDown);
    for (int i = 0; i < rank; ++i) {
        v.forward(kUp);
        v.forward(kDown);
    }
    for (int i = 0; i < pp - rank; ++i) {
        v.forward(kUp);
        v.backward(kUp);
    }
    // One forward and one backward of each side in turn.
    while (v.forwards(kUp) < v.forwards(kDown) || v.forwards(kDown) < filled) {
        if (v.forwards(kDown) < filled)
            v.forward(kDown);
        v.backward(kDown);
        v.forward(kUp);
        v.backward(kUp);
    }
    // The last input gradients go out first; their weight gradients fill the end.
    for (int i = 0; i < rank; ++i) {
        v.input_gradient(kDown);
        v.input_gradient(kUp);
    }
    for (int i = 0; i < pp - rank; ++i) {
        v.input_gradient(kDown);
        v.weight_gradient(kDown);
    }
    for (const int side : {kUp, kDown}) {
        while (v.owes_weight_gradient(side))
            v.weight_gradient(side);
    }
    return v.take();
}

std::optional<double> zb_v_length(int pp, int /*virtual_stages*/, int micro_batches, const ChunkTimes& chunk)
{
    const double forward = chunk.forward_s, weight = chunk.weight_gradient_s, input = chunk.backward_s - weight;
    const auto about = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); };
    if (!about(forward, input) || !about(input, weight))
        return std::nullopt;
    const double m = micro_batches, hops = pp - 1;
    return 2 * m * (forward + chunk.backward_s) + std::max(hops, 4 * hops - 2 * (m - 1)) * forward;
}

} // namespace fourfold
