// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/recompute.h"

#include "core/program/allocations.h"

#include <algorithm>

namespace fourfold {

namespace {
// Of the elementwise work on the residual stream, which also holds two additions: 24 h bytes per token.
constexpr double kTwoNorms = 8.0 / 24;

RecomputeShare share_of_parts(const ResolvedPlan& plan, bool routed, double part)
{
    using enum RecomputePart;
    const WordSet<RecomputePart>& parts = plan.training.recompute_parts;
    RecomputeShare share{.part = part};
    if (parts.contains(operations)) {
        share.every_second = true;
        share.latents = share.norms = share.positions = share.activation = share.gathers = part;
        share.kept_gathers = in_pieces(plan) ? 0 : part;
        return share;
    }
    if (parts.contains(core_attention))
        share.attention = part;
    if (parts.contains(layer_norm)) {
        share.norms = part * kTwoNorms;
        share.gathers = in_pieces(plan) ? 0 : part; // in pieces, what is gathered is kept
    }
    if (parts.contains(mla_up_proj))
        share.latents = share.positions = part;
    if (routed && parts.contains(moe_act))
        share.activation = part;
    const bool repeats_mlp = parts.contains(routed ? moe : mlp);
    if (parts.contains(layer_norm) && !in_pieces(plan))
        share.kept_gathers = repeats_mlp ? part / 2 : part; // of a region that is not repeated as a whole
    if (repeats_mlp) {
        share.mlp = share.activation = part;
        share.gathers = std::max(share.gathers, part / 2); // one of the layer's two regions
        share.reductions = part / 2;
        if (routed)
            share.experts = share.exchange = part;
    }
    return share;
}
} // namespace

bool in_pieces(const ResolvedPlan& plan)
{
    return plan.training.async_tp && plan.training.sequence_parallel && plan.layout.tp > 1;
}

bool parts_of_stack(const ResolvedPlan& plan, const Constants& constants)
{
    if (is_our_trainer(constants)) // its parts are counted one by one
        return false;
    static const WordSet<RecomputePart> kUsual = Training{}.recompute_parts;
    const Json& written = plan.stack.training_defaults;
    const auto own = written.is_object() ? written.find("recompute_parts") : written.end();
    if (own == written.end())
        return plan.training.recompute_parts == kUsual;
    const auto parts = plan.training.recompute_parts.values();
    return own->is_array() && own->size() == parts.size()
        && std::ranges::equal(*own, parts, [](const Json& word, RecomputePart one) { return word == name(one); });
}

RecomputeShare recompute_share(
    const ResolvedPlan& plan, const Constants& constants, bool moe, double layers, double recompute_layers)
{
    if (layers <= 0 || plan.training.recompute == Recompute::none)
        return {};
    const double part = std::min(recompute_layers, layers) / layers;
    if (plan.training.recompute == Recompute::full)
        return {part, part, part, part, false, part, part, part, part, part, part, part, 0, part};
    if (!parts_of_stack(plan, constants))
        return share_of_parts(plan, moe, part);
    const double products = part * constants[Constant::selective_gemm_share];
    const double elementwise = part * constants[Constant::selective_elementwise_share];
    return {.part = part,
        .projections = products,
        .mlp = products,
        .experts = products,
        .latents = part,
        .attention = part * constants[Constant::selective_attention_share],
        .norms = elementwise,
        .positions = elementwise,
        .activation = elementwise,
        .exchange = products};
}

RepeatedProducts::RepeatedProducts(
    const ResolvedPlan& plan, const RankShape& rank, const RecomputeShare& share, bool moe)
    : share_(share)
    , moe_(moe)
    , latent_(plan.model.latent.has_value())
    , in_pieces_(in_pieces(plan))
    , sums_(rank.tp > 1 && is_our_trainer(rank.constants))
{
}

double RepeatedProducts::share_of(const MatrixRow& matrix)
{
    const bool expert = matrix.kind == ParameterKind::expert, mlp = matrix.kind == ParameterKind::mlp;
    if (!share_.every_second) {
        if (matrix.role == Role::query_up || matrix.role == Role::kv_up)
            return std::max(share_.projections, share_.latents);
        if (matrix.kind == ParameterKind::router)
            return moe_ && share_.experts > 0 ? share_.experts : share_.projections;
        return expert ? share_.experts : mlp ? share_.mlp : share_.projections;
    }
    const bool of_latents = latent_ && !expert && !mlp && !matrix.residual();
    if (matrix.kind == ParameterKind::router || of_latents)
        return share_.part;
    if (in_pieces_ && !expert) // gathered beside the product, summed up beside it
        return matrix.residual() ? 0 : share_.part;
    const bool kept = counted_++ % 2 == 0;
    return kept || (sums_ && matrix.residual() && !expert) ? 0 : share_.part;
}

double kept_by_operations(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const RecomputeShare all{.part = 1, .every_second = true};
    RepeatedProducts repeated(plan, rank, all, moe);
    double kept = rank.hidden / rank.sequence_split;
    const auto add = [&](const MatrixRow& matrix, double rows) {
        const double again = repeated.share_of(matrix);
        // What a sum over the ranks gave is kept in any case.
        const bool summed = matrix.residual() && rank.tp > 1;
        kept += matrix.share * (summed ? rank.hidden / rank.sequence_split : (1 - again) * rank.cut.out(matrix) * rows);
    };
    for (const Row& row : layer_rows(plan.model, moe)) {
        if (const auto* matrix = std::get_if<MatrixRow>(&row))
            add(*matrix, 1);
        if (const auto* attention = std::get_if<AttentionRow>(&row))
            kept += attention->share * double(attention->output) / rank.tp;
        if (const auto* scan = std::get_if<ScanRow>(&row))
            kept += scan->share * double(scan->output) / rank.tp;
        if (const auto* experts = std::get_if<ExpertsRow>(&row))
            for (const MatrixRow& matrix : experts->each)
                add(matrix, rank.expert_rows * rank.local_experts / rank.tokens);
    }
    return kept;
}

} // namespace fourfold
