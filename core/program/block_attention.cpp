// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/block_attention.h"

#include "core/plan/plan_constants.h"
#include "core/program/layer_operations.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {
constexpr double kQueries = 128; // of a block
constexpr double kExact = 4; // bytes of a score
// Counted, not fitted, as the trainer's code runs them. Of the scores of a block, each once read or written, in how
// many kernels; and kernels that do little: positions and what they hide, sums of rows, copies of queries and keys.
struct Passes {
    double scores, launches, small;
};
constexpr Passes kForward{14, 8, 23}, kBackward{15, 7, 21};
constexpr double kConversions = 5; // of the small ones, into 32 bits
// The biases of each head, alike for all sequences: made, and added.
constexpr double kBiases = 6;

// What is unlike windows holds for every layer.
const char* whole_reason(const ResolvedPlan& plan)
{
    constexpr int kVector = 8, kWidestHead = 256; // LibTorch's FlashAttention
    const ModelShape& model = plan.model;
    return model.positions == Positions::alibi       ? "linear biases"
        : plan.run.documents.mask                    ? "masked documents"
        : plan.training.precision == Precision::fp32 ? "numbers of 32 bits"
        : model.head_dim % kVector != 0 || model.head_dim > kWidestHead
        ? "heads that are wider than 256 or no multiple of 8"
        : nullptr;
}

// Of all blocks of a sequence: keys that one of a block's queries may see.
double mean_keys(const ResolvedPlan& plan, double seq_len, bool windowed)
{
    const AttentionWindow& window = plan.model.window;
    double sum = 0, blocks = 0;
    for (double begin = 0; begin < seq_len; begin += kQueries, ++blocks) {
        const double first = !windowed ? 0
            : window.chunked           ? std::floor(begin / double(window.tokens)) * double(window.tokens)
                                       : std::max(0.0, begin - double(window.tokens) + 1);
        sum += std::min(seq_len, begin + kQueries) - first;
    }
    return sum / blocks;
}
} // namespace

const char* without_fused_attention(const ResolvedPlan& plan)
{
    if (!is_our_trainer(constants_of(plan)) || plan.cluster.gpu.is_cpu()
        || plan.training.attention != AttentionKernel::flash2)
        return nullptr;
    if (const char* const reason = whole_reason(plan))
        return reason;
    return plan.model.window.tokens > 0 ? "windows" : nullptr;
}

double attended_by_blocks(const ResolvedPlan& plan, const AttentionRow& row)
{
    return without_fused_attention(plan) == nullptr ? 0 : whole_reason(plan) != nullptr ? 1 : row.windowed;
}

double times_of_exact_products(const ResolvedPlan& plan)
{
    const Gpu& gpu = plan.cluster.gpu;
    if (gpu.is_cpu())
        return 1;
    const Precision precision = plan.training.precision;
    const double exact = gpu.peak_flops(Precision::fp32);
    const double own = gpu.peak_flops(is_of_products(precision) ? Precision::bf16 : precision);
    return exact > 0 && precision != Precision::fp32 ? own / exact : 1;
}

void add_block_attention(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    const AttentionRow& row, double layers, bool windowed, double recompute)
{
    const double slower = times_of_exact_products(plan);
    const double queries = std::min(kQueries, rank.seq_len), blocks = rank.seq_len / rank.cp / queries;
    const Attention block{.queries = queries,
        .keys = 2 * mean_keys(plan, rank.seq_len, windowed), // of a square whose half this is
        .head_dim = double(row.query + row.output) / (2.0 * row.heads),
        .batch = rank.sequences * row.heads / rank.tp,
        .causal = true,
        .fused = false};
    const double scores = block.batch * block.queries * block.keys / 2;
    const auto add = [&](Phase phase, double share) {
        const bool backward = phase == Phase::backward;
        const Part part = phase == Phase::recompute ? Part::recompute : Part::compute;
        constexpr double kFifth = 5.0 / 4; // backward: the scores once more
        list.push_back({.name = "attention by blocks",
            .phase = phase,
            .part = part,
            .repeat = layers * share * blocks * slower * (backward ? kFifth : 1),
            .note = "products in 32 bits, which take so many times as long as the plan's",
            .work = block});
        const Passes& passes = backward ? kBackward : kForward;
        const double biases = plan.model.positions == Positions::alibi ? kBiases / rank.sequences : 0;
        list.push_back({.name = "passes over a block's scores",
            .phase = phase,
            .part = part,
            .repeat = layers * share * blocks * passes.launches,
            .note = "no fused kernel of LibTorch has what this attention needs",
            .work = Elementwise{.bytes = scores * kExact * (passes.scores + biases) / passes.launches}});
        const double small = passes.small - (plan.training.precision == Precision::fp32 ? kConversions : 0);
        list.push_back({.name = "small kernels of a block",
            .phase = phase,
            .part = part,
            .repeat = layers * share * blocks * small,
            .note = "each takes at least as long as a kernel does",
            .work = Elementwise{.bytes = block.batch * block.queries * block.head_dim * kExact}});
    };
    add(Phase::forward, 1);
    add(Phase::backward, 1);
    if (recompute > 0)
        add(Phase::recompute, recompute);
}

template <typename Number>
Number block_attention_bytes(const ResolvedPlan& plan, const RankShape& rank, bool backward)
{
    double share = 0, windowed = 0;
    for_each_kind(plan.model, [&](double, const Rows& rows) {
        for (const Row& row : rows)
            if (const auto* attention = std::get_if<AttentionRow>(&row)) {
                share = std::max(share, attended_by_blocks(plan, *attention));
                windowed = attention->windowed;
            }
    });
    if (share == 0)
        return 0.0;
    const AttentionWindow& window = plan.model.window;
    const double seen = share > windowed ? rank.seq_len : std::min(rank.seq_len, double(window.tokens) + kQueries);
    const Number keys = input<Number>("keys", seen), exact = input<Number>("bytes", kExact),
                 tokens = input<Number>("tokens", rank.tokens);
    // Scores, their weights, and what is made of them.
    const Number scores = 3 * input<Number>("sequences", rank.sequences) * input<Number>("heads", rank.heads)
        * input<Number>("queries", std::min(kQueries, rank.seq_len)) * keys;
    const Number of_keys = input<Number>("sequences", rank.sequences) * keys
        * (input<Number>("keys", rank.key_local) + input<Number>("values", rank.value_local));
    const Number of_queries = tokens * input<Number>("queries", rank.query) / input<Number>("TP", rank.tp);
    const Number sums = tokens * (input<Number>("keys", rank.key_local) + input<Number>("values", rank.value_local));
    return exact * (scores + of_keys + of_queries + (backward ? sums : Number(0.0)));
}

template double block_attention_bytes(const ResolvedPlan&, const RankShape&, bool);
template Formula block_attention_bytes(const ResolvedPlan&, const RankShape&, bool);

} // namespace fourfold
