// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/layer_operations.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// How much of a layer's forward runs again in the backward, per kind of work (0..1).
struct RecomputeShare {
    double gemm = 0, attention = 0, elementwise = 0, tp = 0;
};

RecomputeShare recompute_share(
    const ResolvedPlan& plan, const Constants& constants, double layers, double recompute_layers)
{
    if (layers <= 0)
        return {};
    const double part = std::min(recompute_layers, layers) / layers;
    switch (plan.training.recompute) {
    case Recompute::none:
        return {};
    case Recompute::selective:
        return {part * constants[Constant::selective_gemm_share], part * constants[Constant::selective_attention_share],
            part * constants[Constant::selective_elementwise_share], 0};
    case Recompute::full:
        return {part, part, part, part};
    }
    return {};
}

bool fused_attention(const Training& training)
{
    return training.attention != AttentionKernel::unfused && training.attention != AttentionKernel::fused_softmax;
}

void add_attention(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers, double recompute)
{
    Operation core;
    core.kind = OperationKind::attention;
    core.name = "attention";
    core.flash = fused_attention(plan.training);
    core.causal = core.flash; // batched products compute the whole square
    core.m = rank.seq_len / rank.cp;
    core.k = rank.seq_len;
    core.n = rank.head_dim;
    core.batch = rank.sequences * rank.heads;
    core.bytes
        = core.batch * core.m * core.k * rank.element_bytes; // one pass over the scores, where they are in memory
    core.repeat = layers;
    const bool ring = plan.layout.cp > 1 && plan.training.cp_method != CpMethod::ulysses;
    core.blocks = ring ? rank.cp : 1;
    core.note = core.flash
        ? "FlashAttention-2, arXiv:2307.08691: 4 s^2 d FLOPs forward (half when causal), 2.5 times backward"
        : "batched products with the score matrix in memory";
    add_passes(list, core, recompute);
}

// Ring attention (arXiv:2310.01889): cp - 1 exchanges of keys and values, hidden behind the attention of the blocks.
void add_ring(std::vector<Operation>& list, const RankShape& rank, double layers, double recompute)
{
    Operation ring;
    ring.kind = OperationKind::send_receive;
    ring.part = Part::cp;
    ring.group = GroupKind::cp;
    ring.name = "cp exchange of keys and values";
    ring.bytes = rank.tokens * (rank.key_local + rank.value_local) * rank.element_bytes;
    ring.repeat = layers * (rank.cp - 1);
    ring.latency = Constant::zero;
    ring.overlappable = true;
    ring.window = Window::attention;
    ring.note = "Ring Attention, arXiv:2310.01889; hides behind (cp - 1) / cp of the attention";
    Operation step;
    step.kind = OperationKind::host;
    step.part = Part::cp;
    step.name = "cp ring step";
    step.constant = Constant::cp_step_s;
    step.m = 1;
    step.repeat = ring.repeat;
    step.in_layer = true;

    const auto add = [&](Phase phase, double factor, double share) {
        ring.phase = step.phase = phase;
        Operation sent = ring;
        sent.bytes *= factor;
        sent.repeat *= share;
        list.push_back(sent);
        Operation wait = step;
        wait.m = factor;
        wait.repeat *= share;
        list.push_back(wait);
    };
    add(Phase::forward, 1, 1);
    add(Phase::backward, 2, 1); // keys and values again, and their gradients
    if (recompute > 0)
        add(Phase::recompute, 1, recompute);
}

// All-gather of keys and values (Llama 3, arXiv:2407.21783 section 3.3.2), or Ulysses' all-to-all (arXiv:2309.14509).
void add_context_collectives(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers, double recompute)
{
    const bool ulysses = plan.training.cp_method == CpMethod::ulysses;
    Operation op;
    op.kind = OperationKind::collective;
    op.part = Part::cp;
    op.group = GroupKind::cp;
    op.repeat = layers;
    const auto add = [&](Phase phase, Collective collective, double share) {
        op.phase = phase;
        op.collective = collective;
        op.repeat = layers * share;
        list.push_back(op);
    };
    if (ulysses) {
        op.name = "cp all-to-all of queries, keys, values and outputs";
        op.bytes = rank.tokens * ((rank.query + rank.output) / rank.tp + rank.key_local + rank.value_local)
            * rank.element_bytes;
        op.note = "DeepSpeed Ulysses, arXiv:2309.14509";
        add(Phase::forward, Collective::all_to_all, 1);
        add(Phase::backward, Collective::all_to_all, 1);
        if (recompute > 0)
            add(Phase::recompute, Collective::all_to_all, recompute);
        return;
    }
    op.name = "cp all-gather of keys and values";
    op.bytes = rank.tokens * rank.cp * (rank.key_local + rank.value_local) * rank.element_bytes;
    op.note = "Llama 3, arXiv:2407.21783, section 3.3.2";
    add(Phase::forward, Collective::all_gather, 1);
    add(Phase::backward, Collective::all_gather, 1);
    if (recompute > 0)
        add(Phase::recompute, Collective::all_gather, recompute);
    op.name = "cp reduce-scatter of key and value gradients";
    add(Phase::backward, Collective::reduce_scatter, 1);
}

// Norms and residuals work on hidden-size tensors, which sequence parallelism splits; the rest on TP-split tensors.
void add_elementwise(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double ffn_rows, double ffn_width, double recompute)
{
    const double scale = rank.element_bytes / 2;
    const bool gated = plan.model.gated();
    struct Item {
        const char* name;
        double bytes;
        const char* note;
    };
    const Item items[] = {
        {"norms and residuals", 24 * rank.hidden * rank.tokens / rank.sequence_split * scale,
            "two norms and two residual additions: 24 h bytes per token"},
        {"positions and head layout", 4 * (rank.hidden / rank.tp + rank.key_local) * rank.tokens * scale,
            "4 (h + kv) bytes per token"},
        {gated ? "gated activation" : "activation", (gated ? 6 : 8) * ffn_width * ffn_rows * scale,
            gated ? "reads gate and up, writes the product: 6 f bytes per token"
                  : "bias and GELU: 8 f bytes per token"},
    };
    for (const Item& item : items) {
        if (item.bytes <= 0)
            continue;
        Operation op;
        op.kind = OperationKind::elementwise;
        op.name = item.name;
        op.note = item.note;
        op.bytes = item.bytes;
        op.repeat = layers;
        op.efficiency
            = plan.training.compile ? Constant::elementwise_efficiency_compiled : Constant::elementwise_efficiency;
        op.phase = Phase::forward;
        list.push_back(op);
        op.phase = Phase::backward;
        op.bytes = 2 * item.bytes;
        list.push_back(op);
        if (recompute > 0) {
            op.phase = Phase::recompute;
            op.part = Part::recompute;
            op.bytes = item.bytes;
            op.repeat = layers * recompute;
            list.push_back(op);
        }
    }
}

// Megatron-LM TP: two all-reduces a pass (arXiv:1909.08053 section 3), with sequence parallelism an all-gather and a
// reduce-scatter each (arXiv:2205.05198 section 4.2.2), whose gathered inputs the weight gradients need once more.
void add_tensor_parallel(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers, double recompute)
{
    const Training& training = plan.training;
    Operation op;
    op.kind = OperationKind::collective;
    op.part = Part::tp;
    op.group = GroupKind::tp;
    op.bytes = rank.tokens * rank.hidden * rank.element_bytes;
    const bool pieces = training.sequence_parallel && rank.constants[Constant::tp_exposed] < 1;
    if (training.async_tp || pieces) {
        op.overlappable = true;
        op.window = Window::gemm;
        op.exposed_floor = training.async_tp ? Constant::async_tp_exposed : Constant::tp_exposed;
        op.note = "cut into pieces that hide behind the products";
    }
    const auto add = [&](Phase phase, Collective collective, const char* name, double repeat) {
        op.phase = phase;
        op.collective = collective;
        op.name = name;
        op.repeat = repeat;
        list.push_back(op);
    };
    if (training.sequence_parallel) {
        add(Phase::forward, Collective::all_gather, "tp all-gather before attention and MLP", 2 * layers);
        add(Phase::forward, Collective::reduce_scatter, "tp reduce-scatter after attention and MLP", 2 * layers);
        add(Phase::backward, Collective::all_gather, "tp all-gather of gradients", 2 * layers);
        add(Phase::backward, Collective::reduce_scatter, "tp reduce-scatter of gradients", 2 * layers);
        if (recompute > 0) {
            add(Phase::recompute, Collective::all_gather, "tp all-gather, repeated", 2 * layers * recompute);
            add(Phase::recompute, Collective::reduce_scatter, "tp reduce-scatter, repeated", 2 * layers * recompute);
        }
        if (!training.async_tp) {
            op.overlappable = true;
            op.window = Window::gemm;
            op.exposed_floor = Constant::weight_gather_exposed;
        }
        op.note = "inputs gathered again for the weight gradients, arXiv:2205.05198 section 4.2.2";
        if (const double gathers = rank.constants[Constant::tp_weight_gathers]; gathers > 0)
            add(Phase::backward, Collective::all_gather, "tp all-gather for weight gradients", 2 * layers * gathers);
    } else {
        add(Phase::forward, Collective::all_reduce, "tp all-reduce after attention and MLP", 2 * layers);
        add(Phase::backward, Collective::all_reduce, "tp all-reduce of input gradients", 2 * layers);
        if (recompute > 0)
            add(Phase::recompute, Collective::all_reduce, "tp all-reduce, repeated", 2 * layers * recompute);
    }
    Operation sync;
    sync.kind = OperationKind::host;
    sync.part = Part::tp;
    sync.name = "tp synchronisation";
    sync.constant = Constant::tp_sync_s;
    sync.m = std::pow(rank.tp / 8, 3);
    sync.in_layer = false;
    const auto add_sync = [&](Phase phase, double repeat) {
        sync.phase = phase;
        sync.repeat = repeat;
        list.push_back(sync);
    };
    add_sync(Phase::forward, 2 * layers);
    add_sync(Phase::backward, 2 * layers * (1 + recompute));
}

// Casts to fp8 with their transposed copies: the inputs of a layer's products forward, their output gradients backward
// (Micikevicius et al., arXiv:2209.05433; delayed or per-tensor scaling).
void add_fp8_casts(std::vector<Operation>& list, const RankShape& rank, double layers, double ffn_rows,
    double ffn_width, double recompute, const Constants& constants)
{
    const double inputs = rank.tokens * (2 * rank.hidden + rank.output / rank.tp) + ffn_rows * ffn_width;
    const double gradients = rank.tokens * (rank.query / rank.tp + rank.key_local + rank.value_local + 2 * rank.hidden)
        + ffn_rows * rank.mlp_inputs * ffn_width;
    Operation op;
    op.kind = OperationKind::elementwise;
    op.name = "fp8 casts";
    op.note = "inputs of the layer's products";
    op.bytes = inputs * constants[Constant::fp8_cast_bytes];
    op.repeat = layers;
    op.phase = Phase::forward;
    list.push_back(op);
    if (recompute > 0) {
        op.phase = Phase::recompute;
        op.part = Part::recompute;
        op.repeat = layers * recompute;
        list.push_back(op);
    }
    op.name = "fp8 casts of gradients";
    op.note = "output gradients of the layer's products";
    op.phase = Phase::backward;
    op.part = Part::compute;
    op.bytes = gradients * constants[Constant::fp8_cast_bytes];
    op.repeat = layers;
    list.push_back(op);
}

} // namespace

void add_gradient_accumulation(std::vector<Operation>& list, double parameters, double repeat, const char* name,
    const Constants& constants, bool in_layer)
{
    Operation op;
    op.kind = OperationKind::elementwise;
    op.phase = Phase::weight_gradient;
    op.name = name;
    op.note = "adds a micro-batch's weight gradients to the accumulated ones";
    op.bytes = parameters * constants[Constant::gradient_accumulation_bytes];
    op.repeat = repeat;
    op.in_layer = in_layer;
    if (op.bytes > 0)
        list.push_back(op);
}

void add_passes(std::vector<Operation>& list, Operation op, double recompute)
{
    op.phase = Phase::forward;
    list.push_back(op);
    op.phase = Phase::backward;
    list.push_back(op);
    if (recompute > 0) {
        op.phase = Phase::recompute;
        op.part = Part::recompute;
        op.repeat *= recompute;
        list.push_back(op);
    }
}

void add_product(std::vector<Operation>& list, const ResolvedPlan& plan, const std::string& name, double m, double n,
    double k, double batch, double repeat, double recompute, bool fp8, bool in_layer)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    Operation op;
    op.kind = OperationKind::gemm;
    op.name = name;
    op.batch = batch;
    op.repeat = repeat;
    op.fp8 = fp8 && plan.training.precision == Precision::fp8;
    op.in_layer = in_layer;
    op.m = m;
    op.n = n;
    op.k = k;
    op.phase = Phase::forward;
    list.push_back(op);
    op.phase = Phase::backward;
    op.n = k;
    op.k = n;
    op.name = name + ", input gradient";
    list.push_back(op);
    op.phase = Phase::weight_gradient;
    op.m = n;
    op.n = k;
    op.k = m;
    op.name = name + ", weight gradient";
    list.push_back(op);
    if (recompute > 0) {
        op.phase = Phase::recompute;
        op.part = Part::recompute;
        op.m = m;
        op.n = n;
        op.k = k;
        op.repeat = repeat * recompute;
        op.name = name + ", repeated";
        list.push_back(op);
    }
}

void add_layer_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers)
{
    if (group.layers <= 0)
        return;
    const ModelShape& model = plan.model;
    const Constants& constants = rank.constants;
    const double layers = group.layers;
    const RecomputeShare again = recompute_share(plan, constants, layers, recompute_layers);
    const auto product = [&](const char* name, double n, double k) {
        add_product(list, plan, name, rank.tokens, n, k, 1, layers, again.gemm, true, true);
    };
    if (model.latent) {
        const LatentAttention& latent = *model.latent;
        if (latent.q_rank > 0) {
            product("query down projection", double(latent.q_rank), rank.hidden);
            product("query up projection", rank.query / rank.tp, double(latent.q_rank));
        } else {
            product("query projection", rank.query / rank.tp, rank.hidden);
        }
        product("key-value down projection", double(latent.kv_rank + latent.rope_head_dim), rank.hidden);
        product("key-value up projection", rank.heads * double(latent.nope_head_dim + latent.value_head_dim),
            double(latent.kv_rank));
    } else {
        product("qkv projection", rank.query / rank.tp + rank.key_local + rank.value_local, rank.hidden);
    }
    add_attention(list, plan, rank, layers, again.attention);
    if (plan.layout.cp > 1) {
        if (plan.training.cp_method == CpMethod::ring)
            add_ring(list, rank, layers, again.attention);
        else
            add_context_collectives(list, plan, rank, layers, again.attention);
    }
    product("attention output projection", rank.hidden, rank.output / rank.tp);

    double ffn_rows = rank.tokens, ffn_width = rank.ffn / rank.tp;
    double parameters = attention_parameters(model, rank);
    if (group.moe) {
        add_expert_operations(list, plan, rank, layers, again.gemm);
        ffn_rows = rank.expert_rows * rank.local_experts;
        ffn_width = rank.expert_ffn / rank.expert_tp;
        if (rank.shared_ffn > 0) {
            product("shared expert up", rank.mlp_inputs * rank.shared_ffn / rank.tp, rank.hidden);
            product("shared expert down", rank.hidden, rank.shared_ffn / rank.tp);
            ffn_rows += rank.tokens * (rank.shared_ffn / rank.tp) / ffn_width;
        }
        parameters += expert_parameters(model, rank) + shared_expert_parameters(model, rank);
    } else {
        product("mlp up", rank.mlp_inputs * rank.ffn / rank.tp, rank.hidden);
        product("mlp down", rank.hidden, rank.ffn / rank.tp);
        parameters += mlp_parameters(rank);
    }
    add_elementwise(list, plan, rank, layers, ffn_rows, ffn_width, again.elementwise);
    if (plan.training.precision == Precision::fp8)
        add_fp8_casts(list, rank, layers, ffn_rows, ffn_width, again.gemm, constants);
    if (plan.layout.tp > 1)
        add_tensor_parallel(list, plan, rank, layers, again.tp);
    add_gradient_accumulation(list, parameters, layers, "gradient accumulation", constants, true);
    if (plan.training.offload == Offload::activations)
        add_activation_offload(list, plan, rank, group, recompute_layers);
}

} // namespace fourfold
