// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/ring_attention.h"

#include "runner/trainer/context_parallel/slice.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

namespace fourfold::trainer {

namespace {
constexpr int kKeysTag = 1, kGradientsTag = 2;
constexpr int kPositions = 2; // dimension of [b, heads, s, head_dim]

// A tensor that moves one rank further round the ring, while what left the rank before it arrives.
class Hop {
public:
    Hop(const Communicator& cp, const at::Tensor& leaving, int tag)
        : arriving_(at::empty_like(leaving))
        , handle_(cp.start_exchange({{Transfer::Way::send, leaving, (cp.rank() + 1) % cp.size(), tag},
              {Transfer::Way::receive, arriving_, (cp.rank() + cp.size() - 1) % cp.size(), tag}}))
    {
    }
    at::Tensor arrived()
    {
        handle_.wait();
        return arriving_;
    }

private:
    at::Tensor arriving_;
    Handle handle_;
};

// What rank `rank` computes with the keys of rank `source`. Both hold a chunk from the front and its mirror image from
// the back. Of an earlier source, the front chunk lies before all own queries and the back chunk after all of them; of
// a later source, both chunks lie before the own back chunk and after the own front chunk. Either is half of the
// square.
struct Overlap {
    bool earlier;
    Runs asking, asked;
    Overlap(int source, int rank, int64_t seq_len, int size)
        : earlier(source < rank)
        , asking(context_runs(seq_len, rank, size))
        , asked(context_runs(seq_len, source, size))
    {
        if (earlier)
            asked.pop_back();
        else
            asking.erase(asking.begin());
    }
    [[nodiscard]] at::Tensor queries(const at::Tensor& x) const { return earlier ? x : back(x); }
    [[nodiscard]] at::Tensor keys(const at::Tensor& x) const { return earlier ? front(x) : x; }

    static at::Tensor front(const at::Tensor& x) { return x.narrow(kPositions, 0, x.size(kPositions) / 2); }
    static at::Tensor back(const at::Tensor& x)
    {
        const int64_t half = x.size(kPositions) / 2;
        return x.narrow(kPositions, half, half);
    }
};

class RingAttention final : public SequenceAttention {
public:
    RingAttention(const AttentionRule& rule, const Communicator& cp)
        : SequenceAttention(rule)
        , cp_(cp)
    {
    }

protected:
    AttentionPart attended(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) override
    {
        std::unique_ptr<Hop> hop = std::make_unique<Hop>(cp_, at::stack({key, value}), kKeysTag);
        // The own positions in rising order: causal as they stand.
        const Runs own = context_runs(seq_len(query), cp_.rank(), cp_.size());
        const AttentionPart sum = begun(attend(query, key, value, own, own, rule()));
        for (int step = 1; step < cp_.size(); ++step) {
            const at::Tensor visiting = hop->arrived();
            hop = step + 1 < cp_.size() ? std::make_unique<Hop>(cp_, visiting, kKeysTag) : nullptr;
            const Overlap overlap(source(step), cp_.rank(), seq_len(query), cp_.size());
            merge(overlap.queries(sum.output), overlap.queries(sum.log_sum),
                attend(overlap.queries(query), overlap.keys(visiting[0]), overlap.keys(visiting[1]), overlap.asking,
                    overlap.asked, rule()));
        }
        return sum;
    }

    AttentionGradients gradients(const at::Tensor& slope, const at::Tensor& query, const at::Tensor& key,
        const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum) override
    {
        std::unique_ptr<Hop> keys = std::make_unique<Hop>(cp_, at::stack({key, value}), kKeysTag), home;
        const Runs own = context_runs(seq_len(query), cp_.rank(), cp_.size());
        const AttentionGradients local = attend_backward(slope, query, key, value, output, log_sum, own, own, rule());
        const at::Tensor query_slope = local.query.contiguous();
        for (int step = 1; step < cp_.size(); ++step) {
            const at::Tensor visiting = keys->arrived();
            keys = step + 1 < cp_.size() ? std::make_unique<Hop>(cp_, visiting, kKeysTag) : nullptr;
            const Overlap overlap(source(step), cp_.rank(), seq_len(query), cp_.size());
            const AttentionGradients part = attend_backward(overlap.queries(slope), overlap.queries(query),
                overlap.keys(visiting[0]), overlap.keys(visiting[1]), overlap.queries(output), overlap.queries(log_sum),
                overlap.asking, overlap.asked, rule());
            overlap.queries(query_slope).add_(part.query);
            // The first rank after their home starts the sum; home adds its own share when it comes back.
            const at::Tensor travelling = home ? home->arrived() : at::zeros_like(visiting);
            overlap.keys(travelling[0]).add_(part.key);
            overlap.keys(travelling[1]).add_(part.value);
            home = std::make_unique<Hop>(cp_, travelling, kGradientsTag);
        }
        const at::Tensor others = home->arrived();
        return {query_slope, others[0].add_(local.key), others[1].add_(local.value)};
    }

private:
    [[nodiscard]] int64_t seq_len(const at::Tensor& query) const { return query.size(kPositions) * cp_.size(); }
    // Whose keys are here after `step` hops.
    [[nodiscard]] int source(int step) const { return (cp_.rank() - step + cp_.size()) % cp_.size(); }

    const Communicator& cp_;
};
} // namespace

std::shared_ptr<GradientFunction> ring_attention(const AttentionRule& rule, const Communicator& cp)
{
    return std::make_shared<RingAttention>(rule, cp);
}

} // namespace fourfold::trainer
