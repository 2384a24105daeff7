// SPDX-License-Identifier: GPL-3.0-or-later
// What layers keep for their backward pass lies in the host's memory meanwhile. A layer's part goes there while the
// next layer computes and comes back while the layer behind it runs its backward: at most two layers' are on the device
// (vDNN, Rhu et al. 2016, arXiv:1602.08124, section 3.2, of whole layers of a transformer).
#pragma once

#include "runner/trainer/offload/copy_lane.h"

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

namespace fourfold::trainer {

// Memory that goes and comes as a whole, whatever tensors are views of it.
struct OffloadedMemory {
    at::Tensor here; // its bytes on the device; undefined: it is away
    at::Tensor there; // on the host
    int64_t bytes = 0;
    at::Device device;
};

// A tensor kept for a backward pass, of a layer that is offloaded, or any other.
class KeptTensor {
public:
    KeptTensor() = default;
    // Made while a layer runs (ActivationOffload::layer()) its memory goes to the host with that layer's.
    explicit KeptTensor(at::Tensor tensor);
    // The same values; of an offloaded layer, during its backward pass.
    [[nodiscard]] at::Tensor get() const;

private:
    at::Tensor stays_; // defined: it is where it was
    std::shared_ptr<OffloadedMemory> memory_;
    std::vector<int64_t> sizes_, strides_;
    int64_t offset_ = 0;
    at::TensorOptions options_;
};

class ActivationOffload {
public:
    // Memory that is there anyway: weights, tables of positions.
    using Stays = std::unordered_set<const void*>;
    static void add(Stays& stays, const at::Tensor& tensor);

    // What is kept beside weights and smaller than this share of a layer's input stays on the device: its transfer
    // would take longer to begin than to run.
    static constexpr int64_t kSmall = 64;

    ActivationOffload(const at::Device& device, Stays stays);

    // The layers of a chunk in one forward pass, as long as their graph lives.
    struct Layer;
    struct Pass {
        Stays stays; // beside those of the constructor
        std::vector<std::shared_ptr<Layer>> layers;
    };
    static std::shared_ptr<Pass> begin_pass(Stays stays) { return std::make_shared<Pass>(Pass{std::move(stays), {}}); }

    // forward(), the next layer of `pass`, whose input is `x`; without gradient mode nothing else. Must outlive the
    // graph.
    at::Tensor layer(
        const std::shared_ptr<Pass>& pass, const at::Tensor& x, const std::function<at::Tensor()>& forward);

    // The layer that runs on this thread; null: none that is offloaded.
    static Layer* running();

private:
    void arrive(const Pass& pass, std::size_t index);
    void settle_last();
    void send(Layer& layer);
    void fetch(Layer& layer);
    void wait_for(Layer& layer);

    CopyLane out_, in_;
    Stays stays_;
    std::shared_ptr<Layer> last_; // that went, and whose memory is still here
};

} // namespace fourfold::trainer
