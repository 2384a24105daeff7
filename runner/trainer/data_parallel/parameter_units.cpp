// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data_parallel/parameter_units.h"

#include "runner/trainer/autograd/before_backward.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace fourfold::trainer {

struct ParameterUnits::State {
    const Weights& weights;
    FsdpSettings settings;
    bool keep = false, overlap_publish = true;
    std::vector<int> chunks; // of a pipeline; else empty

    // Stages 1 and 2: what is still on its way, beside the buckets; where a layer's weights end in the shard table.
    std::vector<std::optional<Handle>> published;
    std::map<int, std::size_t> end_of_layer;
    int64_t overlapped = 0;

    struct Unit {
        std::vector<std::size_t> buckets;
        int chunk = 0; // of the rank's, from 1 on; of a root at both ends the last
        int last_layer = kRear; // after it the unit is through
        bool ahead = false; // of a module that predicts further ahead, between two uses of the head
        bool here = false;
        std::vector<Handle> gathers; // under way
        std::size_t made = 0; // buckets all of whose gradients came
    };
    // In the order of a forward pass: the front, or root of both ends; layers; where it is apart, the rear.
    std::vector<Unit> units;
    std::vector<std::size_t> in_order; // those with weights, as the forward passes of this rank first come to them
    std::map<int, std::size_t> of_layer;
    std::map<std::size_t, std::size_t> of_bucket;
    // Of a pipeline: the backward pass in front of the layers needs weights too, those of a norm.
    bool front_computes = false;
    std::vector<std::size_t> in_backward; // of a pipeline: what the backward pass computes with

    [[nodiscard]] int chunk_of(int layer) const
    {
        return layer == kRear ? int(chunks.size())
                              : int(std::ranges::upper_bound(chunks, std::max(layer, 0)) - chunks.begin());
    }
    // What is computed after one unit and before another, if it is a unit of the same chunk.
    [[nodiscard]] std::optional<std::size_t> beside(std::size_t unit, std::size_t other) const
    {
        return units[unit].chunk == units[other].chunk ? std::optional(other) : std::nullopt;
    }

    // Waits for every bucket with a weight of a place before `end` in the shard table; returns how many it waited for.
    int64_t arrive(std::size_t end)
    {
        int64_t count = 0;
        for (std::size_t b = 0; b < published.size(); ++b) {
            const auto needed = [&](const BucketEntry& entry) { return entry.shard < end; };
            if (!published[b] || !std::ranges::any_of(weights.buckets()[b].entries, needed))
                continue;
            published[b]->wait();
            published[b].reset();
            ++count;
        }
        return count;
    }

    void start(std::size_t index)
    {
        Unit& unit = units[index];
        if (unit.here)
            return;
        unit.here = true;
        for (const std::size_t bucket : unit.buckets)
            unit.gathers.push_back(weights.start_gather(bucket));
    }

    // The first in order that is not here, nor on its way.
    [[nodiscard]] std::optional<std::size_t> first_missing() const
    {
        const auto found = std::ranges::find_if(in_order, [&](std::size_t unit) { return !units[unit].here; });
        return found == in_order.end() ? std::nullopt : std::optional(*found);
    }

    // `next`: the unit that will be needed after this one, if any. Where what is gathered stays, it is the first that
    // is missing, of whatever chunk: a stage has time for it while the micro-batches before go through the chunks
    // before.
    void bring(std::size_t index, std::optional<std::size_t> next)
    {
        start(index);
        if (keep)
            next = first_missing();
        if (next && settings.prefetch)
            start(*next);
        for (Handle& gather : units[index].gathers)
            gather.wait();
        units[index].gathers.clear();
    }

    void free(std::size_t index)
    {
        Unit& unit = units[index];
        for (Handle& gather : unit.gathers)
            gather.wait();
        unit.gathers.clear();
        for (const std::size_t bucket : unit.buckets)
            if (unit.here)
                weights.release(bucket);
        unit.here = false;
        unit.made = 0;
    }

    // A backward pass has come to `unit`, or to its end: what it came from has given its input gradients, but for the
    // head, which is needed once more behind each module that predicts further ahead.
    void leave_behind(std::optional<std::size_t> unit)
    {
        if (keep || chunks.empty())
            return;
        const bool head_stays = unit && units[*unit].ahead;
        std::erase_if(in_backward, [&](std::size_t before) {
            if (before == unit || (head_stays && before == of_layer.at(kRear)))
                return false;
            free(before);
            return true;
        });
        if (unit && std::ranges::find(in_backward, *unit) == in_backward.end())
            in_backward.push_back(*unit);
    }
};

ParameterUnits::ParameterUnits(
    const Weights& weights, FsdpSettings settings, bool keep, bool overlap_publish, std::vector<int> chunks)
    : state_(std::make_unique<State>(
        State{weights, settings, keep, overlap_publish, std::move(chunks), {}, {}, 0, {}, {}, {}, {}, false, {}}))
{
    const auto& shards = weights.shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const int layer = shards[i].parameter.layer;
        const bool front = layer < 0 && state_->end_of_layer.upper_bound(kFront) == state_->end_of_layer.end();
        state_->end_of_layer[layer >= 0 ? layer : front ? kFront : kRear] = i + 1;
    }
    if (!weights.fully_sharded())
        return;
    // Buckets stand in the order of a backward pass.
    std::vector<std::size_t> front, rear;
    for (std::size_t b = weights.buckets().size(); b-- > 0;) {
        const auto layer_of = [&](const BucketEntry& entry) { return weights.shards()[entry.shard].parameter.layer; };
        const auto& entries = weights.buckets()[b].entries;
        if (layer_of(entries.front()) < 0) {
            (state_->units.empty() ? front : rear).push_back(b);
            continue;
        }
        // Layers may have several buckets, of parameters that are sharded over different groups.
        std::size_t place = 0; // that of the root
        for (const BucketEntry& entry : entries)
            if (const auto known = state_->of_layer.find(layer_of(entry)); known != state_->of_layer.end())
                place = known->second;
        if (place == 0) {
            state_->units.emplace_back();
            place = state_->units.size();
        }
        State::Unit& unit = state_->units[place - 1];
        unit.buckets.push_back(b);
        unit.chunk = state_->chunk_of(layer_of(entries.front()));
        for (const BucketEntry& entry : entries) {
            state_->of_layer[layer_of(entry)] = place;
            unit.last_layer = std::max(unit.last_layer, layer_of(entry));
            unit.ahead |= weights.shards()[entry.shard].parameter.role == Role::ahead_projection;
        }
    }
    const bool apart = !rear.empty();
    const auto any = [&](Role role) {
        return std::ranges::any_of(weights.shards(), [&](const Shard& shard) { return shard.parameter.role == role; });
    };
    state_->front_computes = !state_->chunks.empty() && any(Role::embedding_norm);
    const bool table = !any(Role::final_norm) && !any(Role::embedding_norm); // of the first stage
    const int place = apart || table ? kFront : kRear;
    state_->units.insert(
        state_->units.begin(), State::Unit{front, state_->chunk_of(place), place, false, false, {}, 0});
    if (apart)
        state_->units.push_back(State::Unit{rear, state_->chunk_of(kRear), kRear, false, false, {}, 0});
    state_->of_layer[kFront] = 0;
    state_->of_layer[kRear] = apart ? state_->units.size() - 1 : 0;
    for (std::size_t u = 0; u < state_->units.size(); ++u) {
        for (const std::size_t bucket : state_->units[u].buckets)
            state_->of_bucket[bucket] = u;
        if (!state_->units[u].buckets.empty())
            state_->in_order.push_back(u);
    }
    // Of a stage behind the first one, the root is what stands behind its layers.
    const bool embeds = state_->chunks.empty() || state_->chunks.front() == 0;
    if (auto& order = state_->in_order; !embeds && !order.empty() && order.front() == 0)
        std::ranges::rotate(order, order.begin() + 1);
}

ParameterUnits::~ParameterUnits() = default;

void ParameterUnits::publish() const
{
    State& state = *state_;
    state.published.resize(state.weights.buckets().size());
    // Buckets stand in the order of a backward pass.
    for (std::size_t b = state.published.size(); b-- > 0;)
        state.published[b] = state.weights.start_publish(b);
    const bool sharded = std::ranges::any_of(state.weights.buckets(), &Bucket::cut);
    if (state.overlap_publish && sharded && !state.weights.fully_sharded())
        return;
    for (auto& gather : std::exchange(state.published, {}))
        gather->wait();
}

void ParameterUnits::begin_pass() const
{
    State& state = *state_;
    const auto first = state.first_missing();
    if (!first || first != state.in_order.front() || !state.settings.prefetch)
        return;
    state.start(*first);
    if (const auto second = state.first_missing(); second && (state.keep || state.beside(*first, *second)))
        state.start(*second);
}

void ParameterUnits::enter(int layer, bool in_passing) const
{
    lasting({in_passing ? "enter in passing" : "enter", layer}, [state = state_.get(), layer, in_passing] {
        if (state->units.empty()) {
            state->overlapped
                += state->arrive(layer == kRear ? state->weights.shards().size() : state->end_of_layer.at(layer));
            return;
        }
        const std::size_t unit = state->of_layer.at(layer);
        const bool last = in_passing || layer == kRear || unit + 1 == state->units.size();
        state->bring(unit, last ? std::nullopt : state->beside(unit, unit + 1));
    });
}

at::Tensor ParameterUnits::leave(int layer, const at::Tensor& y) const
{
    if (state_->units.empty())
        return y;
    const std::size_t unit = state_->of_layer.at(layer);
    const bool computes_in_front = layer == kFront && state_->front_computes;
    const bool through = layer == state_->units[unit].last_layer;
    if (!through && !computes_in_front)
        return y;
    const bool graph = at::GradMode::is_enabled();
    // A backward pass begins with what stands behind the layers: that stays. A root stays to the pass's last step.
    if (!state_->keep && (!graph || (state_->settings.reshard_after_forward && through && layer != kRear)))
        lasting({"leave", layer}, [state = state_.get(), unit] { state->free(unit); });
    if (!graph || (layer == kFront && !computes_in_front)) // the gradients of a table need no weights
        return y;
    const auto bring = [state = state_.get(), unit, layer] {
        const std::size_t before = unit > 0 ? unit : state->units.size(); // in a forward pass
        state->leave_behind(unit);
        state->bring(unit, before > 1 && layer != kFront ? state->beside(unit, before - 1) : std::nullopt);
    };
    return before_backward(y, [bring, layer] { lasting({"before backward", layer}, bring); });
}

void ParameterUnits::gradients_made(std::size_t bucket) const
{
    if (state_->units.empty() || state_->keep || !state_->chunks.empty())
        return;
    const std::size_t unit = state_->of_bucket.at(bucket);
    const std::size_t buckets = state_->units[unit].buckets.size();
    if (unit == 0 && buckets > 1)
        return; // one of them is the embedding's, which the other end of the pipeline has as well
    if (++state_->units[unit].made == buckets)
        state_->free(unit);
}

void ParameterUnits::end_of_backward() const
{
    state_->leave_behind(std::nullopt);
}

std::vector<int> ParameterUnits::gradient_lanes() const
{
    std::vector<int> lanes;
    for (const auto& [bucket, unit] : state_->of_bucket) {
        const bool layers = unit > 0 && state_->units[unit].last_layer != kRear;
        lanes.push_back(layers ? state_->units[unit].chunk : state_->units[unit].last_layer);
    }
    return lanes;
}

int64_t ParameterUnits::overlapped() const
{
    return state_->overlapped;
}

void ParameterUnits::end_of_pass() const
{
    state_->arrive(state_->weights.shards().size());
    for (std::size_t unit = 0; unit < state_->units.size(); ++unit)
        state_->free(unit);
}

} // namespace fourfold::trainer
