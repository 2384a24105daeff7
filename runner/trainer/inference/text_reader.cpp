// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/text_reader.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>

namespace fourfold::trainer {

RotaryFrequencies TextReader::frequencies(int64_t length) const
{
    const ModelShape& model = model_.plan.model;
    if (model.positions != Positions::rope)
        return {};
    return rotary_frequencies(model.rope_scaling, model.rope_theta, model.rotary_dim(), model.max_positions, length);
}

void TextReader::make_layers(int64_t room, int64_t length)
{
    ResolvedPlan plan = model_.plan; // of this length
    plan.training.seq_len = static_cast<int>(length);
    std::vector<int64_t> positions(static_cast<std::size_t>(room));
    std::iota(positions.begin(), positions.end(), 0);
    decoders_.clear(); // they refer to the settings
    settings_.emplace(block_settings(plan, model_.mesh, positions, model_.options, model_.later, nullptr));
    decoders_ = make_decoders(plan, model_.mesh, model_.weights, model_.units, *settings_, positions);
    room_ = room;
}

at::Tensor TextReader::read(const std::vector<int64_t>& tokens)
{
    constexpr int64_t kRoom = 256; // tokens, at first
    const at::NoGradGuard no_graph;
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    const auto length = static_cast<int64_t>(text_.size());
    RotaryFrequencies now = frequencies(length);
    const bool otherwise = now.each != turned_.each || now.magnitude != turned_.magnitude;
    if (otherwise || length > room_) {
        make_layers(
            std::min(std::max({2 * room_, length, kRoom}), std::max(length, model_.plan.model.max_positions)), length);
        turned_ = std::move(now);
    }
    if (otherwise)
        seen_.clear();
    const std::vector<int64_t>& fresh = seen_.length() == 0 ? text_ : tokens;
    const at::Tensor ids = at::tensor(at::ArrayRef<int64_t>(fresh), at::kLong).unsqueeze(1).to(model_.options.device());
    const at::Tensor stream = decoders_[0].forward(ids, {}, &seen_);
    const at::Tensor logits = decoders_[0].logits(stream.narrow(0, stream.size(0) - 1, 1));
    return logits.flatten().narrow(0, 0, model_.plan.model.vocab);
}

} // namespace fourfold::trainer
