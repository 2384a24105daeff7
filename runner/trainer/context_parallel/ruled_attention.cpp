// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/ruled_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

namespace fourfold::trainer {

namespace {
constexpr int64_t kQueriesAtOnce = 128;
constexpr int kAlong = 2; // dimension of the positions in [b, heads, s, head_dim]
constexpr double kNever = -std::numeric_limits<double>::infinity();

// A part of a tensor whose positions follow each other.
struct Stretch {
    int64_t place = 0; // in the tensor
    Run run;
};
struct QueryBlock {
    Stretch queries;
    std::vector<Stretch> keys; // all that one of the queries may see
};

std::vector<QueryBlock> blocks_of(const Runs& asking, const Runs& asked, const AttentionRule& rule)
{
    std::vector<QueryBlock> blocks;
    int64_t place = 0;
    for (const Run& run : asking)
        for (int64_t offset = 0; offset < run.length; offset += kQueriesAtOnce) {
            QueryBlock block;
            block.queries = {place, {run.begin + offset, std::min(kQueriesAtOnce, run.length - offset)}};
            place += block.queries.run.length;
            const int64_t first = rule.first_seen(block.queries.run.begin), last = block.queries.run.end();
            int64_t key_place = 0;
            for (const Run& keys : asked) {
                const int64_t begin = std::max(first, keys.begin), end = std::min(last, keys.end());
                if (begin < end)
                    block.keys.push_back({key_place + begin - keys.begin, {begin, end - begin}});
                key_place += keys.length;
            }
            blocks.push_back(std::move(block));
        }
    return blocks;
}

at::Tensor positions_of(const std::vector<Stretch>& stretches, at::Device device)
{
    std::vector<at::Tensor> parts;
    for (const Stretch& stretch : stretches)
        parts.push_back(at::arange(stretch.run.begin, stretch.run.end(), at::TensorOptions(at::kLong).device(device)));
    return parts.size() == 1 ? parts[0] : at::cat(parts);
}

at::Tensor parts_of(const at::Tensor& whole, const std::vector<Stretch>& stretches)
{
    std::vector<at::Tensor> parts;
    for (const Stretch& stretch : stretches)
        parts.push_back(whole.narrow(kAlong, stretch.place, stretch.run.length));
    return parts.size() == 1 ? parts[0] : at::cat(parts, kAlong);
}

// One block. Heads that read the same key lie side by side: [b, kv_heads, heads / kv_heads * queries, ...].
class Scored {
public:
    Scored(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const QueryBlock& block,
        const AttentionRule& rule)
        : block_(block)
        , rule_(rule)
        , groups_(key.size(1))
        , exact_(query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat)
    {
        query_ = folded(query);
        key_ = parts_of(key, block.keys).to(exact_);
        value_ = parts_of(value, block.keys).to(exact_);
        const at::Tensor bias = score_bias(positions_of({block.queries}, query.device()),
            positions_of(block.keys, query.device()), rule, query_.options());
        scores_ = at::matmul(query_, key_.transpose(-1, -2)).mul_(rule.scale);
        // [b, heads, queries, keys]: a view, to which the bias of each head is added.
        scores_.view({query.size(0), query.size(1), block.queries.run.length, -1}).add_(bias);
    }

    void forward(const at::Tensor& output, const at::Tensor& log_sum) const
    {
        const at::Tensor sum = scores_.logsumexp(-1, true);
        const at::Tensor weights = scores_.sub(sum.masked_fill(sum.eq(kNever), 0)).exp_();
        here(output).copy_(unfolded(at::matmul(weights, value_), output));
        here(log_sum.unsqueeze(-1)).copy_(unfolded(sum, log_sum.unsqueeze(-1)));
    }

    void backward(const at::Tensor& gradient, const at::Tensor& output, const at::Tensor& log_sum,
        const AttentionGradients& out) const
    {
        const at::Tensor weights = scores_.sub(folded(log_sum.unsqueeze(-1))).exp_(), slope = folded(gradient);
        const at::Tensor mean = slope.mul(folded(output)).sum(-1, true);
        const at::Tensor score_slope
            = at::matmul(slope, value_.transpose(-1, -2)).sub_(mean).mul_(weights).mul_(rule_.scale);
        here(out.query).copy_(unfolded(at::matmul(score_slope, key_), out.query));
        add_to_keys(out.key, at::matmul(score_slope.transpose(-1, -2), query_));
        add_to_keys(out.value, at::matmul(weights.transpose(-1, -2), slope));
    }

private:
    [[nodiscard]] at::Tensor here(const at::Tensor& whole) const
    {
        return whole.narrow(kAlong, block_.queries.place, block_.queries.run.length);
    }
    [[nodiscard]] at::Tensor folded(const at::Tensor& whole) const
    {
        const at::Tensor x = here(whole);
        return x.to(exact_).reshape({x.size(0), groups_, x.size(1) / groups_ * x.size(2), x.size(3)});
    }
    [[nodiscard]] at::Tensor unfolded(const at::Tensor& x, const at::Tensor& whole) const
    {
        return x.reshape({whole.size(0), whole.size(1), block_.queries.run.length, whole.size(3)});
    }
    void add_to_keys(const at::Tensor& whole, const at::Tensor& x) const
    {
        int64_t place = 0;
        for (const Stretch& stretch : block_.keys) {
            whole.narrow(kAlong, stretch.place, stretch.run.length).add_(x.narrow(kAlong, place, stretch.run.length));
            place += stretch.run.length;
        }
    }

    const QueryBlock& block_;
    const AttentionRule& rule_;
    int64_t groups_;
    at::ScalarType exact_;
    at::Tensor query_, key_, value_, scores_;
};

at::TensorOptions exact_options(const at::Tensor& query)
{
    return query.options().dtype(query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}
} // namespace

at::Tensor score_bias(
    const at::Tensor& queries, const at::Tensor& keys, const AttentionRule& rule, const at::TensorOptions& options)
{
    const at::Tensor asking = queries.unsqueeze(1), asked = keys.unsqueeze(0), distance = asking.sub(asked);
    at::Tensor hidden = distance.lt(0);
    if (rule.window > 0)
        hidden = hidden.logical_or(rule.chunked ? asking.floor_divide(rule.window).ne(asked.floor_divide(rule.window))
                                                : distance.ge(rule.window));
    at::Tensor bias = at::zeros({1, distance.size(0), distance.size(1)}, options);
    if (rule.slopes.defined())
        bias = distance.to(bias.scalar_type()).mul(rule.slopes.to(options.dtype()).view({-1, 1, 1})).neg_();
    bias.masked_fill_(hidden, kNever);
    if (!rule.documents.starts.defined())
        return bias;
    const at::Tensor own = rule.documents.starts.index_select(1, queries).unsqueeze(-1); // [b, queries, 1]
    return bias.unsqueeze(0).masked_fill(asked.unsqueeze(0).lt(own).unsqueeze(1), kNever);
}

AttentionPart attend_by_rule(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const Runs& asking, const Runs& asked, const AttentionRule& rule)
{
    const auto exact = exact_options(query);
    const at::Tensor output = at::zeros(query.sizes(), exact);
    const at::Tensor log_sum = at::full({query.size(0), query.size(1), query.size(2)}, kNever, exact);
    for (const QueryBlock& block : blocks_of(asking, asked, rule))
        if (!block.keys.empty())
            Scored(query, key, value, block, rule).forward(output, log_sum);
    return {output.to(query.scalar_type()), log_sum};
}

AttentionGradients attend_backward_by_rule(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, const Runs& asking, const Runs& asked,
    const AttentionRule& rule)
{
    const auto exact = exact_options(query);
    const AttentionGradients sums{
        at::zeros(query.sizes(), exact), at::zeros(key.sizes(), exact), at::zeros(value.sizes(), exact)};
    for (const QueryBlock& block : blocks_of(asking, asked, rule))
        if (!block.keys.empty())
            Scored(query, key, value, block, rule).backward(gradient, output, log_sum, sums);
    return {sums.query.to(query.scalar_type()), sums.key.to(key.scalar_type()), sums.value.to(value.scalar_type())};
}

} // namespace fourfold::trainer
