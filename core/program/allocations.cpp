// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/allocations.h"

#include "core/plan/plan_schedule.h"
#include "core/program/allocation_list.h"
#include "core/program/backward_memory.h"
#include "core/program/block_attention.h"
#include "core/program/gradients_on_their_way.h"
#include "core/program/graph_forms.h"
#include "core/program/modules_ahead.h"
#include "core/program/muon.h"
#include "core/program/own_kept.h"
#include "core/program/plain_forms.h"
#include "core/program/recompute.h"
#include "core/program/weight_gradient_memory.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr const char* kActivations
    = "Korthikanti et al., arXiv:2205.05198, table 2, with grouped queries, gated MLP and fused attention";

bool has_score_matrix(const Training& training)
{
    return training.attention == AttentionKernel::unfused || training.attention == AttentionKernel::fused_softmax;
}

// Scores, their softmax and the dropout mask: Korthikanti et al., equation 1.
template <typename Number>
Number score_bytes(const RankShape& rank)
{
    const Number length = input<Number>("seq_len", rank.seq_len);
    return (2 * input<Number>("bytes", rank.element_bytes) + 1) * input<Number>("sequences", rank.sequences)
        * input<Number>("heads", rank.heads) * length * length / input<Number>("CP", rank.cp);
}

// Queries, keys and values, which follow from their latents; those are kept instead.
template <typename Number>
Number rebuilt_from_latents(const ResolvedPlan& plan, const RankShape& rank)
{
    const LatentAttention& latent = *plan.model.latent;
    const Number kept = input<Number>("latents", double(latent.q_rank + latent.kv_rank + latent.rope_head_dim));
    const Number rebuilt = input<Number>("queries", rank.query) / input<Number>("TP", rank.tp)
        + input<Number>("keys", rank.key_local) + input<Number>("values", rank.value_local) - kept;
    return input<Number>("tokens", rank.tokens) * rebuilt * input<Number>("bytes", rank.element_bytes);
}

// What selective recomputation frees of a layer with latent attention: those, and the outputs of the norms
// (DeepSeek-V3, arXiv:2412.19437, section 3.2.3).
template <typename Number>
Number latent_bytes(const ResolvedPlan& plan, const RankShape& rank)
{
    const Number norms = 2 * input<Number>("hidden", rank.hidden) / input<Number>("TP", rank.sequence_split);
    return rebuilt_from_latents<Number>(plan, rank)
        + input<Number>("tokens", rank.tokens) * norms * input<Number>("bytes", rank.element_bytes);
}

// Bytes of an element of what a product keeps of its input for the weight gradient. Transformer Engine 2.8,
// pytorch/module/linear.py, layernorm_linear.py and grouped_linear.py: columns of 8 or 4 bits, with their scales.
double kept_input_bytes(const ResolvedPlan& plan, const RankShape& rank)
{
    const Training& training = plan.training;
    if (rank.constants[Constant::quantized_inputs] < 0.5 || !is_of_products(training.precision))
        return rank.element_bytes;
    const double scales = training.precision != Precision::fp8 ? 0
        : training.fp8_recipe == Fp8Recipe::mxfp8              ? 1.0 / 32
        : training.fp8_recipe == Fp8Recipe::blockwise          ? 4.0 / 128
                                                               : 0;
    return bytes_per_element(training.precision) + scales;
}

// Of a row that is in a share of the layers.
template <typename Number>
Number of_share(double share, const Number& width)
{
    return share == 1 ? width : input<Number>("share of the layers", share) * width;
}

} // namespace

template <typename Number>
Number logits_bytes(const ResolvedPlan& plan, const RankShape& rank)
{
    const Number logits
        = input<Number>("tokens", rank.tokens) * input<Number>("vocabulary", rank.vocab) / input<Number>("TP", rank.tp);
    const Number bytes = logits * constant_input<Number>(rank, Constant::logits_memory_bytes)
        * input<Number>("bytes", rank.element_bytes) / 2;
    if (!has_plain_forms(plan, rank))
        return bytes;
    return bytes + logits * input<Number>("bytes of a softmax", plain_forms::kLoss.of(rank.element_bytes).kept);
}

template <typename Number>
LayerWidths<Number> layer_widths(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const Number tp = input<Number>("TP", rank.tp);
    LayerWidths<Number> widths;
    for (const Row& row : layer_rows(plan.model, moe)) {
        if (const auto* attention = std::get_if<AttentionRow>(&row))
            widths.attention += of_share(attention->share,
                (input<Number>("queries", double(attention->query))
                    + input<Number>("attention output", double(attention->output)))
                        / tp
                    + input<Number>("keys", rank.key_local) + input<Number>("values", rank.value_local));
        if (const auto* scan = std::get_if<ScanRow>(&row))
            widths.attention += of_share(scan->share,
                (input<Number>("inputs of a scan", double(scan->inputs))
                    + input<Number>("output of a scan", double(scan->output)))
                    / tp);
        if (const auto* norm = std::get_if<NormRow>(&row)) {
            if (const double elements = normed_elements(*norm, rank); elements > 0)
                widths.norms += of_share(norm->share, input<Number>("inputs of more norms", elements));
        }
        const auto* experts = std::get_if<ExpertsRow>(&row);
        const auto* mlp = experts != nullptr ? &experts->activation : std::get_if<ActivationRow>(&row);
        if (mlp != nullptr)
            widths.mlps.push_back({experts != nullptr,
                of_share(experts != nullptr ? experts->share : mlp->share,
                    input<Number>(mlp->label, double(mlp->width))
                        / (experts != nullptr ? input<Number>("ETP", rank.cut.etp) : tp)),
                double(mlp->inputs)});
    }
    return widths;
}

namespace {
// What a token's norm of the whole stream keeps more in its plain form.
template <typename Number>
Number plain_norm(const ResolvedPlan& plan, const RankShape& rank)
{
    if (plan.model.norm != Norm::rms)
        return 0.0;
    return input<Number>("bytes of a plain norm", plain_forms::kNorm.of(rank.element_bytes).kept)
        * input<Number>("hidden", rank.hidden) / input<Number>("TP", rank.sequence_split);
}

// And its MLPs' activations.
template <typename Number>
Number plain_gates(const ResolvedPlan& plan, const RankShape& rank, const LayerWidths<Number>& widths)
{
    const bool clamped = plan.model.activation == Activation::clamped_swiglu;
    Number elements = 0.0;
    for (const auto& [routed, width, inputs] : widths.mlps)
        elements += routed
            ? input<Number>("rows per token", rank.expert_rows * rank.local_experts / rank.tokens) * width
            : width;
    if (!clamped && plan.model.activation != Activation::swiglu)
        return 0.0;
    const PlainForm& form = clamped ? plain_forms::kClampedGate : plain_forms::kGate;
    return input<Number>("bytes of a plain gate", form.of(rank.element_bytes).kept) * elements;
}

// Of a layer.
template <typename Number>
Number plainly_kept(const ResolvedPlan& plan, const RankShape& rank, bool moe, const LayerWidths<Number>& widths)
{
    Number norms = branches(plan.model, moe) * plain_norm<Number>(plan, rank);
    if (plan.model.norm == Norm::rms)
        norms += input<Number>("bytes of a plain norm", plain_forms::kNorm.of(rank.element_bytes).kept) * widths.norms;
    return input<Number>("tokens", rank.tokens) * (norms + plain_gates<Number>(plan, rank, widths));
}
} // namespace

namespace {
// What is kept less where products keep inputs of fewer bits: outputs of norms and activations, and tokens of experts.
// Not where they are kept for others as well: what enters the output projection for attention's backward pass, what
// latents are made of twice, once for each of two products, and what enters experts for the router.
template <typename Number>
Number quantized_away(
    const ResolvedPlan& plan, const RankShape& rank, bool moe, const LayerWidths<Number>& widths, double bytes)
{
    const double norms = std::max(0.0, branches(plan.model, moe) - (plan.model.latent ? 1 : 0) - (moe ? 1 : 0));
    Number per_token = input<Number>("outputs of norms", norms) * input<Number>("hidden", rank.hidden)
        / input<Number>("TP", rank.sequence_split);
    for (const auto& [routed, width, inputs] : widths.mlps)
        per_token += routed
            ? input<Number>("rows per token", rank.expert_rows * rank.local_experts / rank.tokens) * width
            : width;
    Number elements = input<Number>("tokens", rank.tokens) * per_token;
    if (moe)
        elements += input<Number>("routed tokens", rank.routed_tokens) * input<Number>("hidden", rank.hidden);
    return input<Number>("bytes saved by inputs of fewer bits", rank.element_bytes - bytes) * elements;
}
} // namespace

namespace {
// Elements of a token that are made again in the backward pass: the output of the norm before attention, where it is
// not made into latents, and of that before an MLP without experts, and what its activation makes.
template <typename Number>
Number made_again(const ResolvedPlan& plan, const RankShape& rank, bool moe, const LayerWidths<Number>& widths)
{
    const ModelShape& model = plan.model;
    const double norms = model.norm != Norm::rms
        ? 0
        : (model.latent ? 0 : 1) + (moe || model.parallel_residual ? 0 : branches(model, moe) - 1);
    Number elements = std::max(0.0, norms) * input<Number>("hidden", rank.hidden);
    for (const auto& [routed, width, inputs] : widths.mlps)
        if (!routed && model.activation == Activation::swiglu)
            elements += width;
    return elements;
}
} // namespace

template <typename Number>
Number layer_activation_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const Number whole = input<Number>("hidden", rank.hidden), element = input<Number>("bytes", rank.element_bytes);
    const LayerWidths<Number> kept = layer_widths<Number>(plan, rank, moe);
    Number mlp = 0.0;
    for (const auto& [routed, width, inputs] : kept.mlps)
        mlp += routed ? input<Number>("rows per token", rank.expert_rows * rank.local_experts / rank.tokens) * width
                      : width;
    if (!kept.mlps.empty())
        mlp = (kept.mlps.front().inputs + 1) * mlp; // those of one model are alike
    Number routed = 0.0;
    if (moe) // permuted inputs and expert outputs
        routed = (1 + constant_input<Number>(rank, Constant::expert_outputs_kept))
            * input<Number>("routed tokens", rank.routed_tokens) * whole * element;
    Number hidden = constant_input<Number>(rank, Constant::activation_hidden_factor) * whole
        / input<Number>("TP", rank.sequence_split);
    if (rank.tp > 1)
        hidden += constant_input<Number>(rank, Constant::activation_gathered_factor) * whole;
    hidden = of_share(branches(plan.model, moe) / 2, hidden); // they hold of two branches
    Number bytes
        = input<Number>("tokens", rank.tokens) * element * (hidden + kept.attention + kept.norms + mlp) + routed;
    if (makes_inputs_again(plan, rank))
        bytes = bytes - input<Number>("tokens", rank.tokens) * element * made_again<Number>(plan, rank, moe, kept);
    if (const double fewer = kept_input_bytes(plan, rank); fewer < rank.element_bytes)
        bytes = bytes - quantized_away<Number>(plan, rank, moe, kept, fewer);
    if (!plan.training.compile || is_our_trainer(rank.constants))
        bytes *= constant_input<Number>(rank, Constant::eager_activation_factor);
    if (has_plain_forms(plan, rank))
        bytes += plainly_kept<Number>(plan, rank, moe, kept);
    if (is_our_trainer(rank.constants)) {
        bytes += kept_of_latents<Number>(plan, rank);
        if (moe)
            bytes += kept_of_routing<Number>(plan, rank);
    }
    if (plan.training.async_tp && rank.tp > 1)
        bytes *= 1 - constant_input<Number>(rank, Constant::async_tp_memory_saving);
    if (has_score_matrix(plan.training))
        bytes += score_bytes<Number>(rank);
    return bytes;
}

namespace {

// Of a layer with (`routed_layer`) or without experts that keeps `layer`: what repeating parts of it frees.
template <typename Number>
Number freed_by_parts(const ResolvedPlan& plan, const RankShape& rank, bool routed_layer, const Number& layer)
{
    using enum RecomputePart;
    const WordSet<RecomputePart>& parts = plan.training.recompute_parts;
    const Number row = input<Number>("tokens", rank.tokens) * input<Number>("bytes", rank.element_bytes);
    if (parts.contains(operations))
        return larger(Number(0.0),
            layer - row * input<Number>("kept by operations", kept_by_operations(plan, rank, routed_layer)));
    const bool scaled = !plan.training.compile || is_our_trainer(rank.constants);
    const Number made = scaled ? row * constant_input<Number>(rank, Constant::eager_activation_factor) : row;
    const LayerWidths<Number> widths = layer_widths<Number>(plan, rank, routed_layer);
    const Number tokens = input<Number>("tokens", rank.tokens);
    const bool plain = has_plain_forms(plan, rank);
    Number freed = 0.0;
    if (parts.contains(core_attention) && has_score_matrix(plan.training))
        freed += score_bytes<Number>(rank);
    else if (parts.contains(core_attention) && is_our_trainer(rank.constants))
        freed += filled_output<Number>(plan, rank);
    const double input_share = kept_input_bytes(plan, rank) / rank.element_bytes; // of the bytes of other activations
    const double norm_share = plan.model.latent ? 1 : input_share;
    const Number norm = made * input<Number>("hidden", rank.hidden);
    const bool again = makes_inputs_again(plan, rank); // whether it is repeated or not
    if (parts.contains(layer_norm) && !in_pieces(plan) && !again)
        freed += (plan.model.latent || routed_layer ? 1 : 2)
            * ((norm_share == 1 ? norm : input<Number>("share of its bytes", norm_share) * norm)
                + (plain ? tokens * plain_norm<Number>(plan, rank) : Number(0.0)));
    if (parts.contains(mla_up_proj) && plan.model.latent)
        freed += rebuilt_from_latents<Number>(plan, rank);
    const bool whole = parts.contains(routed_layer ? moe : mlp);
    Number inner = 0.0;
    if (whole && plain)
        freed += tokens * plain_gates<Number>(plan, rank, widths);
    for (const auto& [routed, width, inputs] : widths.mlps) {
        const double tensors = whole            ? inputs + (again && !routed ? 0 : input_share)
            : routed && parts.contains(moe_act) ? input_share
                                                : 0;
        if (tensors > 0)
            inner += tensors
                * (routed ? input<Number>("rows per token", rank.expert_rows * rank.local_experts / rank.tokens) * width
                          : width);
    }
    if (value_of(inner) > 0)
        freed += made * inner;
    if (whole && routed_layer && is_our_trainer(rank.constants))
        freed += kept_of_routing<Number>(plan, rank);
    if (whole && routed_layer)
        freed += (input_share + constant_input<Number>(rank, Constant::expert_outputs_kept))
            * input<Number>("routed tokens", rank.routed_tokens) * input<Number>("hidden", rank.hidden)
            * input<Number>("bytes", rank.element_bytes);
    return freed;
}

} // namespace

template <typename Number>
Number freed_selectively(const ResolvedPlan& plan, const RankShape& rank, bool moe, const Number& layer)
{
    if (!parts_of_stack(plan, rank.constants))
        return freed_by_parts<Number>(plan, rank, moe, layer);
    Number freed = layer * (1 - constant_input<Number>(rank, Constant::selective_memory_share));
    if (has_score_matrix(plan.training))
        freed = larger(freed, score_bytes<Number>(rank));
    if (plan.model.latent)
        freed = larger(freed, latent_bytes<Number>(plan, rank));
    return freed;
}

template <typename Number>
Number layer_input_bytes(const RankShape& rank)
{
    return input<Number>("tokens", rank.tokens) * input<Number>("hidden", rank.hidden)
        * input<Number>("bytes", rank.element_bytes) / input<Number>("TP", rank.sequence_split);
}

namespace {

template <typename Number>
void add_layers(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank,
    int dense_layers, int moe_layers, double recompute_layers, double offload_layers)
{
    const Training& training = plan.training;
    const double layers = dense_layers + moe_layers;
    const auto one = [&](bool moe) -> Number {
        return part(moe ? "one layer with experts" : "one layer", layer_activation_bytes<Number>(plan, rank, moe));
    };
    Number whole = 0.0;
    if (dense_layers > 0)
        whole += double(dense_layers) * one(false);
    if (moe_layers > 0)
        whole += double(moe_layers) * one(true);
    Number layer = whole / layers;
    // Where all layers are alike their mean is one of them.
    if constexpr (std::is_same_v<Number, Formula>) {
        if (dense_layers == 0 || moe_layers == 0)
            layer = one(dense_layers == 0).with_value(layer.value());
    }
    const double again = std::min(recompute_layers, layers);
    Number kept = whole;
    const char* note = kActivations;
    if (training.recompute == Recompute::full) {
        kept = (layers - again) * layer + again * part("input of a layer", layer_input_bytes<Number>(rank));
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::backward, layer, "recomputed layer",
            "one layer's activations, rebuilt from its input");
    } else if (training.recompute == Recompute::selective) {
        Number freed = 0.0;
        if (parts_of_stack(plan, rank.constants)) {
            freed = freed_selectively<Number>(plan, rank, false, layer);
        } else {
            const auto of = [&](int count, bool moe) -> Number {
                return count == 0 ? Number(0.0) : count / layers * freed_selectively<Number>(plan, rank, moe, one(moe));
            };
            freed = of(dense_layers, false) + of(moe_layers, true);
        }
        kept = whole - again * part("recomputed part of a layer", freed);
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::backward, freed, "recomputed part of a layer");
    }
    if (is_our_trainer(rank.constants)) {
        Number slopes = 0.0;
        if (dense_layers > 0)
            slopes = backward_bytes<Number>(plan, rank, false);
        if (moe_layers > 0)
            slopes = larger(slopes, backward_bytes<Number>(plan, rank, true));
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::backward, slopes, "gradients within a layer",
            "of activations, from product to product");
        for (const Lifetime pass : {Lifetime::forward, Lifetime::backward})
            add_allocation<Number>(list, MemoryKind::activations, pass,
                block_attention_bytes<Number>(plan, rank, pass == Lifetime::backward), "blocks of attention");
        for (const Lifetime pass : {Lifetime::forward, Lifetime::backward})
            if (plan.layout.pp > 1 && training.offload != Offload::activations)
                add_allocation<Number>(list, MemoryKind::activations, pass, layer_input_bytes<Number>(rank),
                    "message on its way", "what went to another stage and is not known to have arrived");
    }
    // One micro-batch's layers come as another's go.
    if (plan.layout.pp == 1 && passes_side_by_side(plan))
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::backward, layer,
            "a layer of the micro-batch beside", "its forward and this backward take turns, layer by layer");
    if (offload_layers > 0) {
        // Where others stay their transfers have the time of those as well, and the one in use when most is held is one
        // that stays (Transformer Engine 2.8, pytorch/cpu_offload.py, layer_window_map).
        const Number buffers = (offload_layers < layers ? 1.0 : 2.0) * (again < layers ? layer : kept / layers);
        for (const Lifetime pass : {Lifetime::forward, Lifetime::loss, Lifetime::backward})
            add_allocation<Number>(list, MemoryKind::activations, pass, buffers, "offloaded layers",
                "the layer in use and the one on its way to the host or from there");
        const Number ends = 2 * part("input of a layer", layer_input_bytes<Number>(rank));
        kept = offload_layers < layers ? input<Number>("share of the layers", 1 - offload_layers / layers) * kept + ends
                                       : ends;
        note = "what came from the stage before and what went to the next: the host has all else of offloaded layers";
    }
    add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch, kept, "activations", note);
}

// Logits are there from the loss until the backward turns them into their gradient, at once in most schedules. In a
// GPipe every micro-batch has them until the last forward is through (the bundled trainer's; nobody measured
// another's).
template <typename Number>
void add_logits(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank, double times,
    const char* name, const char* blocks)
{
    const Number one = logits_bytes<Number>(plan, rank), logits = times == 1 ? one : times * one;
    const bool all_at_once = plan.layout.pp > 1 && traits_of(plan.training.schedule).in_flight == InFlight::all;
    if (all_at_once && is_our_trainer(rank.constants)) {
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch, logits, name,
            "all forwards come before the first backward, which turns logits into their gradient");
        return;
    }
    add_allocation<Number>(
        list, MemoryKind::activations, Lifetime::loss, logits, name, "logits, their fp32 copy and gradient");
    // Freed before the layers' backward; what is reserved stays.
    if (plan.stack.memory_convention != MemoryConvention::peak_allocated)
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::backward, logits, blocks,
            "the allocator keeps their blocks for the layers' backward");
}

// Modules that predict further ahead: a layer each, what joins its inputs, and logits that are there beside the head's
// own. They are never offloaded.
template <typename Number>
void add_modules(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    const Training& training = plan.training;
    const double modules = plan.model.predicted_ahead;
    const bool moe = plan.model.is_moe_layer(plan.model.layers);
    const Number layer
        = part(moe ? "one layer with experts" : "one layer", layer_activation_bytes<Number>(plan, rank, moe));
    const Number stream = layer_input_bytes<Number>(rank);
    constexpr double kJoined = 4; // the embedding, both norms side by side, and what the last norm reads
    Number kept = layer + kJoined * stream;
    if (repeats_modules(training) && training.recompute == Recompute::full)
        kept = 2 * stream;
    else if (repeats_modules(training))
        kept = kept - freed_selectively<Number>(plan, rank, moe, layer);
    add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch, modules * kept, "prediction modules",
        "activations of a layer each, and of what joins its inputs");
    add_logits<Number>(
        list, plan, rank, modules, "logits of prediction modules", "blocks of the logits of prediction modules");
    for (int module = 0; module < plan.model.predicted_ahead; ++module)
        add_weight_gradient_allocations(list, plan, rank, moe ? 0 : 1, moe ? 1 : 0, true);
}

} // namespace

template <typename Number>
std::vector<AllocationOf<Number>> chunk_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape)
{
    std::vector<AllocationOf<Number>> list;
    const int dense = dense_layers(plan.model, shape.first_layer, shape.layers), moe = shape.layers - dense;
    if (shape.layers > 0)
        add_layers(list, plan, rank, dense, moe, shape.recompute_layers, shape.offload_layers);
    // Each layer keeps its input. What goes to another stage the bundled trainer frees when it has arrived: one more is
    // that of the head. Others' constants were fitted with one more on the first stage.
    const bool own = is_our_trainer(rank.constants);
    if ((own ? shape.head : shape.embedding) && plan.training.offload != Offload::activations)
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch, layer_input_bytes<Number>(rank),
            own ? "input of the head" : "embedding output");
    if (shape.head)
        add_logits<Number>(list, plan, rank, 1, "logits", "blocks of the logits");
    add_graphs_of_a_chunk(list, plan, rank, shape);
    add_gradients_on_their_way(list, plan, rank, shape, moe > 0);
    add_weight_gradient_allocations(list, plan, rank, dense, moe, shape.head);
    if (shape.head && plan.model.predicted_ahead > 0)
        add_modules(list, plan, rank);
    return list;
}

template LayerWidths<double> layer_widths(const ResolvedPlan&, const RankShape&, bool);
template LayerWidths<Formula> layer_widths(const ResolvedPlan&, const RankShape&, bool);
template double layer_activation_bytes(const ResolvedPlan&, const RankShape&, bool);
template double freed_selectively(const ResolvedPlan&, const RankShape&, bool, const double&);
template double layer_input_bytes(const RankShape&);
template Formula layer_input_bytes(const RankShape&);
template Formula freed_selectively(const ResolvedPlan&, const RankShape&, bool, const Formula&);
template Formula layer_activation_bytes(const ResolvedPlan&, const RankShape&, bool);
template double logits_bytes(const ResolvedPlan&, const RankShape&);
template Formula logits_bytes(const ResolvedPlan&, const RankShape&);
template std::vector<Allocation> chunk_allocations(const ResolvedPlan&, const RankShape&, const ChunkShape&);
template std::vector<AllocationOf<Formula>> chunk_allocations(const ResolvedPlan&, const RankShape&, const ChunkShape&);

} // namespace fourfold
