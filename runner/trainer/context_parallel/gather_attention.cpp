// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/gather_attention.h"

#include "runner/trainer/context_parallel/slice.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

namespace fourfold::trainer {

namespace {
class GatherAttention final : public SequenceAttention {
public:
    GatherAttention(const AttentionRule& rule, const Communicator& cp)
        : SequenceAttention(rule)
        , cp_(cp)
    {
    }

protected:
    AttentionPart attended(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) override
    {
        const at::Tensor all = in_sequence(cp_.all_gather(at::stack({key, value}).unsqueeze(0)));
        std::vector<at::Tensor> outputs, log_sums;
        for (const Chunk& chunk : chunks(query)) {
            const auto part = [&](const Run& keys) {
                return attend(
                    chunk.of(query), Chunk::at(all[0], keys), Chunk::at(all[1], keys), {chunk.run}, {keys}, rule());
            };
            const AttentionPart sum = begun(part(chunk.run));
            if (const Run before = seen_before(chunk); before.length > 0)
                merge(sum.output, sum.log_sum, part(before));
            outputs.push_back(sum.output);
            log_sums.push_back(sum.log_sum);
        }
        return {at::cat(outputs, kPositions), at::cat(log_sums, kPositions)};
    }

    AttentionGradients gradients(const at::Tensor& slope, const at::Tensor& query, const at::Tensor& key,
        const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum) override
    {
        const at::Tensor all = in_sequence(cp_.all_gather(at::stack({key, value}).unsqueeze(0)));
        const at::Tensor all_slope = at::zeros_like(all);
        std::vector<at::Tensor> query_slopes;
        for (const Chunk& chunk : chunks(query)) {
            const auto part = [&](const Run& keys) {
                const AttentionGradients found
                    = attend_backward(chunk.of(slope), chunk.of(query), Chunk::at(all[0], keys),
                        Chunk::at(all[1], keys), chunk.of(output), chunk.of(log_sum), {chunk.run}, {keys}, rule());
                Chunk::at(all_slope[0], keys).add_(found.key);
                Chunk::at(all_slope[1], keys).add_(found.value);
                return found.query;
            };
            at::Tensor query_slope = part(chunk.run);
            if (const Run before = seen_before(chunk); before.length > 0)
                query_slope = query_slope.add(part(before));
            query_slopes.push_back(query_slope);
        }
        const at::Tensor own_slope = cp_.reduce_scatter(by_rank(all_slope)).squeeze(0);
        return {at::cat(query_slopes, kPositions), own_slope[0], own_slope[1]};
    }

private:
    // One of the two runs of positions that this rank holds.
    struct Chunk {
        int64_t local = 0; // place in this rank's part
        Run run;
        [[nodiscard]] at::Tensor of(const at::Tensor& part) const { return part.narrow(kPositions, local, run.length); }
        [[nodiscard]] static at::Tensor at(const at::Tensor& all, const Run& where)
        {
            return all.narrow(kPositions, where.begin, where.length);
        }
    };
    [[nodiscard]] std::vector<Chunk> chunks(const at::Tensor& query) const
    {
        const Runs own = context_runs(query.size(kPositions) * cp_.size(), cp_.rank(), cp_.size());
        return {{0, own[0]}, {own[0].length, own[1]}};
    }
    // The earlier positions that some query of the chunk sees.
    [[nodiscard]] Run seen_before(const Chunk& chunk) const
    {
        const int64_t first = std::min(rule().first_seen(chunk.run.begin), chunk.run.begin);
        return {first, chunk.run.begin - first};
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

std::shared_ptr<GradientFunction> gather_attention(const AttentionRule& rule, const Communicator& cp)
{
    return std::make_shared<GatherAttention>(rule, cp);
}

} // namespace fourfold::trainer
