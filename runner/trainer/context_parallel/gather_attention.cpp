// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/gather_attention.h"

#include "runner/trainer/context_parallel/attention_block.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

namespace fourfold::trainer {

namespace {
class GatherAttention final : public GradientFunction {
public:
    explicit GatherAttention(const Communicator& cp)
        : cp_(cp)
    {
    }

    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor &query = inputs[0], own = at::stack({inputs[1], inputs[2]});
        const at::Tensor all = in_sequence(cp_.all_gather(own.unsqueeze(0)));
        Tensors outputs, log_sums;
        for (const Chunk& chunk : chunks(query)) {
            const AttentionPart diagonal = attend(chunk.of(query), chunk.here(all[0]), chunk.here(all[1]), true);
            const at::Tensor output = diagonal.output.to(diagonal.log_sum.scalar_type(), false, /*copy=*/true);
            const at::Tensor log_sum = diagonal.log_sum.clone();
            if (chunk.begin > 0)
                merge(output, log_sum, attend(chunk.of(query), chunk.before(all[0]), chunk.before(all[1]), false));
            outputs.push_back(output);
            log_sums.push_back(log_sum);
        }
        const at::Tensor result = at::cat(outputs, kPositions).to(query.scalar_type());
        kept = {query, own, result, at::cat(log_sums, kPositions)};
        return {result};
    }

    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor &query = kept[0], own = kept[1], output = kept[2], log_sum = kept[3], slope = gradients[0];
        const at::Tensor all = in_sequence(cp_.all_gather(own.unsqueeze(0))), all_slope = at::zeros_like(all);
        Tensors query_slopes;
        for (const Chunk& chunk : chunks(query)) {
            const auto part = [&](const at::Tensor& keys, const at::Tensor& values, bool causal) {
                return attend_backward(
                    chunk.of(slope), chunk.of(query), keys, values, chunk.of(output), chunk.of(log_sum), causal);
            };
            const AttentionGradients diagonal = part(chunk.here(all[0]), chunk.here(all[1]), true);
            chunk.here(all_slope[0]).add_(diagonal.key);
            chunk.here(all_slope[1]).add_(diagonal.value);
            at::Tensor query_slope = diagonal.query;
            if (chunk.begin > 0) {
                const AttentionGradients earlier = part(chunk.before(all[0]), chunk.before(all[1]), false);
                chunk.before(all_slope[0]).add_(earlier.key);
                chunk.before(all_slope[1]).add_(earlier.value);
                query_slope = query_slope.add(earlier.query);
            }
            query_slopes.push_back(query_slope);
        }
        const at::Tensor own_slope = cp_.reduce_scatter(by_rank(all_slope)).squeeze(0);
        return {at::cat(query_slopes, kPositions), own_slope[0], own_slope[1]};
    }

private:
    static constexpr int kPositions = 2; // dimension of [b, heads, s, head_dim]

    // One of the two runs of positions that this rank holds.
    struct Chunk {
        int64_t local, begin, length; // place in this rank's part, place in the sequence
        [[nodiscard]] at::Tensor of(const at::Tensor& part) const { return part.narrow(kPositions, local, length); }
        [[nodiscard]] at::Tensor here(const at::Tensor& all) const { return all.narrow(kPositions, begin, length); }
        [[nodiscard]] at::Tensor before(const at::Tensor& all) const { return all.narrow(kPositions, 0, begin); }
    };
    [[nodiscard]] std::vector<Chunk> chunks(const at::Tensor& query) const
    {
        const int64_t length = query.size(kPositions) / 2;
        return {{0, cp_.rank() * length, length}, {length, (2 * cp_.size() - 1 - cp_.rank()) * length, length}};
    }

    // [cp, 2, b, kv_heads, s / cp, head_dim] by rank -> [2, b, kv_heads, s, head_dim] by position.
    [[nodiscard]] static at::Tensor in_sequence(const at::Tensor& ranks)
    {
        const int64_t size = ranks.size(0), half = ranks.size(4) / 2;
        Tensors parts;
        for (int64_t rank = 0; rank < size; ++rank)
            parts.push_back(ranks[rank].narrow(3, 0, half));
        for (int64_t rank = size - 1; rank >= 0; --rank)
            parts.push_back(ranks[rank].narrow(3, half, half));
        return at::cat(parts, 3);
    }
    // And back.
    [[nodiscard]] at::Tensor by_rank(const at::Tensor& sequence) const
    {
        const int64_t size = cp_.size(), half = sequence.size(3) / (2 * size);
        Tensors parts;
        for (int64_t rank = 0; rank < size; ++rank)
            parts.push_back(at::cat(
                {sequence.narrow(3, rank * half, half), sequence.narrow(3, (2 * size - 1 - rank) * half, half)}, 3));
        return at::stack(parts);
    }

    const Communicator& cp_;
};
} // namespace

std::shared_ptr<GradientFunction> gather_attention(const Communicator& cp)
{
    return std::make_shared<GatherAttention>(cp);
}

} // namespace fourfold::trainer
