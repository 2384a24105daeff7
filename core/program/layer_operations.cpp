// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/layer_operations.h"

#include "core/plan/plan_schedule.h"
#include "core/program/block_attention.h"
#include "core/program/fp8_operations.h"
#include "core/program/own_passes.h"
#include "core/program/plain_forms.h"
#include "core/program/recompute.h"
#include "core/program/scan_operations.h"
#include "core/program/sharding_operations.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

bool fused_attention(const Training& training)
{
    return training.attention != AttentionKernel::unfused && training.attention != AttentionKernel::fused_softmax;
}

void add_attention(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    const AttentionRow& row, double layers, double recompute)
{
    if (const double by_blocks = attended_by_blocks(plan, row); by_blocks > 0) {
        if (row.windowed > 0)
            add_block_attention(list, plan, rank, row, layers * row.windowed, true, recompute);
        if (by_blocks > row.windowed)
            add_block_attention(list, plan, rank, row, layers * (1 - row.windowed), false, recompute);
        if (by_blocks == 1)
            return;
    }
    const bool fused = fused_attention(plan.training);
    const bool ring = plan.layout.cp > 1 && plan.training.cp_method != CpMethod::ulysses;
    // Windows are taken as spread evenly over the layers; kernels that keep the scores in memory compute them all.
    const double windowed = fused ? row.windowed : 0;
    Attention core{.queries = rank.seq_len / rank.cp,
        .keys = rank.seq_len,
        .head_dim = double(row.query + row.output) / (2.0 * row.heads),
        .batch = rank.sequences * row.heads / rank.tp,
        .causal = fused, // batched products compute the whole square
        .fused = fused,
        .blocks = ring ? rank.cp : 1};
    core.score_bytes = core.batch * core.queries * core.keys * rank.element_bytes;
    if (windowed > 0 && attended_by_blocks(plan, row) == 0) {
        Attention window = core;
        window.keys = plan.model.window_keys(rank.seq_len);
        window.score_bytes = 0;
        add_passes(list,
            {.name = "attention in a window",
                .repeat = layers * windowed,
                .note = "only scores inside the window are computed",
                .work = window},
            recompute);
    }
    if (windowed == 1)
        return;
    add_passes(list,
        {.name = "attention",
            .repeat = layers * (1 - windowed),
            .note = fused ? "FlashAttention-2, arXiv:2307.08691: 4 s^2 d FLOPs forward (half when causal), 2.5 times "
                            "backward"
                          : "batched products with the score matrix in memory",
            .work = core},
        recompute);
}

// Ring attention (arXiv:2310.01889): cp - 1 exchanges of keys and values, hidden behind the attention of the blocks.
void add_ring(std::vector<Operation>& list, const RankShape& rank, double layers, double recompute)
{
    // `factor`: of the keys and values of a forward.
    const auto add = [&](Phase phase, double factor, double share) {
        const double repeat = layers * (rank.cp - 1) * share;
        list.push_back({.name = "cp exchange of keys and values",
            .phase = phase,
            .part = Part::cp,
            .repeat = repeat,
            .window = Window::attention,
            .note = "Ring Attention, arXiv:2310.01889; hides behind (cp - 1) / cp of the attention",
            .work = PointToPoint{.group = GroupKind::cp,
                .bytes = rank.tokens * (rank.key_local + rank.value_local) * rank.element_bytes * factor,
                .latency = Constant::zero}});
        list.push_back({.name = "cp ring step",
            .phase = phase,
            .part = Part::cp,
            .repeat = repeat,
            .work = HostCost{.constant = Constant::cp_step_s, .times = factor}});
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
    const auto add
        = [&](Phase phase, CollectiveKind kind, const char* name, double bytes, const char* note, double share) {
              list.push_back({.name = name,
                  .phase = phase,
                  .part = Part::cp,
                  .repeat = layers * share,
                  .note = note,
                  .work = Collective{.kind = kind, .group = GroupKind::cp, .bytes = bytes}});
          };
    const auto add_passes = [&](CollectiveKind kind, const char* name, double bytes, const char* note) {
        add(Phase::forward, kind, name, bytes, note, 1);
        add(Phase::backward, kind, name, bytes, note, 1);
        if (recompute > 0)
            add(Phase::recompute, kind, name, bytes, note, recompute);
    };
    if (plan.training.cp_method == CpMethod::ulysses) {
        add_passes(Collective::all_to_all, "cp all-to-all of queries, keys, values and outputs",
            rank.tokens * ((rank.query + rank.output) / rank.tp + rank.key_local + rank.value_local)
                * rank.element_bytes,
            "DeepSpeed Ulysses, arXiv:2309.14509");
        return;
    }
    const double bytes = rank.tokens * rank.cp * (rank.key_local + rank.value_local) * rank.element_bytes;
    const char* note = "Llama 3, arXiv:2407.21783, section 3.3.2";
    add_passes(Collective::all_gather, "cp all-gather of keys and values", bytes, note);
    add(Phase::backward, Collective::reduce_scatter, "cp reduce-scatter of key and value gradients", bytes, note, 1);
}

// Norms and residuals work on hidden-size tensors, which sequence parallelism splits; the rest on TP-split tensors.
void add_elementwise(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double ffn_rows, double ffn_width, double more_norms, double branches, const RecomputeShare& again)
{
    const double scale = rank.element_bytes / 2;
    const ModelShape& model = plan.model;
    const bool gated = model.gated(), biased = model.activation == Activation::gelu;
    struct Item {
        const char* name;
        double bytes;
        const char* note;
        double again;
        const PlainForm* plain = nullptr; // null: there is one form
        double elements = 0; // that it is of
    };
    const bool plain = has_plain_forms(plan, rank);
    const PlainForm* const norm = plain && model.norm == Norm::rms ? &plain_forms::kNorm : nullptr;
    const PlainForm* const gate = !plain                 ? nullptr
        : model.activation == Activation::swiglu         ? &plain_forms::kGate
        : model.activation == Activation::clamped_swiglu ? &plain_forms::kClampedGate
                                                         : nullptr;
    const double turned = (rank.query / rank.tp + rank.key_local) * rank.tokens;
    const Item items[] = {
        {"norms and residuals", 12 * branches * rank.hidden * rank.tokens / rank.sequence_split * scale,
            "a norm and a residual addition of each branch: 12 h bytes per token", again.norms, norm,
            branches * rank.hidden * rank.tokens / rank.sequence_split},
        {"more norms", 4 * more_norms * rank.tokens * scale,
            "of queries, keys or a block's output: 4 bytes an element and token", again.positions, norm,
            more_norms * rank.tokens},
        {"positions and head layout", 4 * turned * scale, "4 (q + kv) bytes per token", again.positions,
            plain && model.positions == Positions::rope ? &plain_forms::kRotation : nullptr, turned},
        {gated ? "gated activation" : "activation",
            (gated           ? 6
                    : biased ? 8
                             : 4)
                * ffn_width * ffn_rows * scale,
            gated        ? "reads gate and up, writes the product: 6 f bytes per token"
                : biased ? "bias and GELU: 8 f bytes per token"
                         : "reads and writes each element: 4 f bytes per token",
            again.activation, gate, ffn_width * ffn_rows},
    };
    for (const Item& item : items) {
        if (item.bytes <= 0)
            continue;
        const auto add = [&](Phase phase, double passes, double share) {
            double bytes = passes * item.bytes, launches = 1;
            if (item.plain != nullptr) { // counted
                const PlainForm::Of& of = item.plain->of(rank.element_bytes);
                const bool back = phase == Phase::backward;
                bytes += item.elements * (back ? of.backward : of.forward);
                launches += back ? of.backward_launches : of.launches;
            }
            list.push_back({.name = item.name,
                .phase = phase,
                .part = phase == Phase::recompute ? Part::recompute : Part::compute,
                .repeat = layers * share * launches,
                .note = item.plain != nullptr ? "not compiled: an operation for each term of the formula" : item.note,
                .work = Elementwise{.bytes = bytes / launches, .efficiency = elementwise_rate(plan, rank)}});
        };
        add(Phase::forward, 1, 1);
        add(Phase::backward, 2, 1);
        if (item.again > 0)
            add(Phase::recompute, 1, item.again);
    }
}

// Megatron-LM TP: two all-reduces a pass (arXiv:1909.08053 section 3), with sequence parallelism an all-gather and a
// reduce-scatter each (arXiv:2205.05198 section 4.2.2), whose gathered inputs the weight gradients need once more.
void add_tensor_parallel(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    const RecomputeShare& again)
{
    const Training& training = plan.training;
    Operation op{.part = Part::tp};
    // The libraries cut collectives into pieces over memory that the GPUs of one NVLink domain share (Transformer
    // Engine's user buffers): a group that leaves it waits for all of its traffic.
    const Layout& layout = plan.layout;
    const bool inside = layout.stride(Dimension::tp) * layout.tp <= plan.cluster.gpus_per_node;
    const bool pieces = training.sequence_parallel && inside && rank.constants[Constant::tp_exposed] < 1;
    if (training.async_tp || pieces) {
        op.window = Window::gemm;
        op.exposed_floor = training.async_tp ? Constant::async_tp_exposed : Constant::tp_exposed;
        op.note = "cut into pieces that hide behind the products";
    }
    const auto add = [&](Phase phase, CollectiveKind kind, const char* name, double repeat) {
        op.phase = phase;
        op.name = name;
        op.repeat = repeat;
        op.work
            = Collective{.kind = kind, .group = GroupKind::tp, .bytes = rank.tokens * rank.hidden * rank.element_bytes};
        add_beside(list, plan, tensor_parallel_beside(plan), op);
    };
    if (training.sequence_parallel) {
        add(Phase::forward, Collective::all_gather, "tp all-gather before attention and MLP", 2 * layers);
        add(Phase::forward, Collective::reduce_scatter, "tp reduce-scatter after attention and MLP", 2 * layers);
        add(Phase::backward, Collective::all_gather, "tp all-gather of gradients", 2 * layers);
        add(Phase::backward, Collective::reduce_scatter, "tp reduce-scatter of gradients", 2 * layers);
        if (again.gathers > 0)
            add(Phase::recompute, Collective::all_gather, "tp all-gather, repeated", 2 * layers * again.gathers);
        if (again.reductions > 0)
            add(Phase::recompute, Collective::reduce_scatter, "tp reduce-scatter, repeated",
                2 * layers * again.reductions);
        if (!training.async_tp) {
            op.window = Window::gemm;
            op.exposed_floor = Constant::weight_gather_exposed;
        }
        op.note = "inputs gathered again for the weight gradients, arXiv:2205.05198 section 4.2.2";
        if (const double gathers = rank.constants[Constant::tp_weight_gathers]; gathers > 0)
            add(Phase::backward, Collective::all_gather, "tp all-gather for weight gradients",
                2 * layers * gathers * (1 - again.kept_gathers));
    } else {
        add(Phase::forward, Collective::all_reduce, "tp all-reduce after attention and MLP", 2 * layers);
        add(Phase::backward, Collective::all_reduce, "tp all-reduce of input gradients", 2 * layers);
        if (again.reductions > 0)
            add(Phase::recompute, Collective::all_reduce, "tp all-reduce, repeated", 2 * layers * again.reductions);
    }
    const auto add_sync = [&](Phase phase, double repeat) {
        list.push_back({.name = "tp synchronisation",
            .phase = phase,
            .part = Part::tp,
            .repeat = repeat,
            .in_layer = false,
            .work = HostCost{.constant = Constant::tp_sync_s, .times = std::pow(rank.tp / 8, 3)}});
    };
    add_sync(Phase::forward, 2 * layers);
    add_sync(Phase::backward, 2 * layers * (1 + std::max(again.gathers, again.reductions)));
}

// What the rows of a layer compute.
struct RowOperations {
    std::vector<Operation>& list;
    const ResolvedPlan& plan;
    const RankShape& rank;
    double layers;
    const RecomputeShare& again;
    RepeatedProducts repeated;
    // Of all activations together: tokens that pass, at the width of the first.
    double activation_rows = 0, activation_width = 0;
    double more_norms = 0; // elements of a token on this rank
    std::string_view open{}; // the product that goes on
    bool routes = false, of_expert = false, of_own_rows = false;
    double n = 0, k = 0, repeated_n = 0, share = 1;

    void operator()(const NormRow& norm) { more_norms += norm.share * normed_elements(norm, rank); }
    void operator()(const VectorRow&) { }
    void operator()(const MatrixRow& matrix)
    {
        if (matrix.product != open || matrix.share != share)
            end_product();
        open = matrix.product;
        share = matrix.share;
        routes = matrix.kind == ParameterKind::router;
        of_own_rows = routes || matrix.role == Role::query_down || matrix.role == Role::kv_down;
        of_expert = matrix.kind == ParameterKind::expert;
        n += rank.cut.out(matrix);
        repeated_n += rank.cut.out(matrix) * repeated.share_of(matrix);
        k = rank.cut.in(matrix);
    }
    void operator()(const AttentionRow& row)
    {
        end_product();
        const double attending = layers * row.share;
        add_attention(list, plan, rank, row, attending, again.attention);
        if (plan.layout.cp == 1)
            return;
        if (plan.training.cp_method == CpMethod::ring)
            add_ring(list, rank, attending, again.attention);
        else
            add_context_collectives(list, plan, rank, attending, again.attention);
    }
    void operator()(const ScanRow& row)
    {
        end_product();
        add_scan_operations(list, plan, rank, row, layers * row.share, again.projections);
    }
    void operator()(const ActivationRow& activation)
    {
        pass(rank.tokens * activation.share, double(activation.width) / rank.cut.tp);
    }
    void operator()(const ExpertsRow& experts)
    {
        for (const MatrixRow& matrix : experts.each)
            (*this)(matrix);
        end_product();
        pass(rank.expert_rows * rank.local_experts * experts.share, double(experts.activation.width) / rank.cut.etp);
        add_token_exchange(list, plan, rank, layers * experts.share, again.exchange);
    }
    // Rows that multiply the same input are one product.
    void end_product()
    {
        const double rows = of_own_rows ? rank.tokens / rank.sequence_split
            : of_expert                 ? rank.expert_rows
                                        : rank.tokens;
        const std::size_t before = list.size();
        add_product(list, plan, std::string(open), rows, n, k, of_expert ? rank.local_experts : 1, layers * share,
            n > 0 ? repeated_n / n : 0, !routes, true);
        for (std::size_t i = before; of_expert && i < list.size(); ++i)
            of_experts(list[i]);
        open = {};
        n = repeated_n = 0;
    }
    static void of_experts(Operation& product)
    {
        product.scale = Constant::expert_product_scale;
        std::get<Gemm>(product.work).narrow_share = Constant::expert_fp8_share;
    }
    void pass(double rows, double width)
    {
        if (activation_width == 0)
            activation_width = width;
        activation_rows += activation_rows == 0 ? rows : rows * width / activation_width;
    }
};

} // namespace

void add_gradient_accumulation(std::vector<Operation>& list, double parameters, double repeat, const char* name,
    const Constants& constants, bool in_layer)
{
    const double bytes = parameters * constants[Constant::gradient_accumulation_bytes];
    if (bytes > 0)
        list.push_back({.name = name,
            .phase = Phase::weight_gradient,
            .repeat = repeat,
            .in_layer = in_layer,
            .note = "adds a micro-batch's weight gradients to the accumulated ones",
            .work = Elementwise{.bytes = bytes}});
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
    double k, double batch, double repeat, double recompute, bool narrow, bool in_layer)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    const bool at_narrow = narrow && is_of_products(plan.training.precision);
    const auto add = [&](Phase phase, const char* what, const Gemm& product, double share) {
        list.push_back({.name = name + what,
            .phase = phase,
            .part = phase == Phase::recompute ? Part::recompute : Part::compute,
            .repeat = repeat * share,
            .in_layer = in_layer,
            .work = product});
    };
    const Gemm forward{.m = m, .n = n, .k = k, .batch = batch, .narrow = at_narrow};
    add(Phase::forward, "", forward, 1);
    add(Phase::backward, ", input gradient", {.m = m, .n = k, .k = n, .batch = batch, .narrow = at_narrow}, 1);
    add(Phase::weight_gradient, ", weight gradient", {.m = n, .n = k, .k = m, .batch = batch, .narrow = at_narrow}, 1);
    if (recompute > 0)
        add(Phase::recompute, ", repeated", forward, recompute);
}

void add_layer_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers)
{
    if (group.layers <= 0)
        return;
    const Constants& constants = rank.constants;
    const double layers = group.layers;
    const RecomputeShare again = recompute_share(plan, constants, group.moe, layers, recompute_layers);
    RowOperations rows{list, plan, rank, layers, again, RepeatedProducts(plan, rank, again, group.moe)};
    for (const Row& row : layer_rows(plan.model, group.moe))
        std::visit(rows, row);
    rows.end_product();
    const double ffn_rows = rows.activation_rows, ffn_width = rows.activation_width;
    const double written = branches(plan.model, group.moe);
    add_elementwise(list, plan, rank, layers, ffn_rows, ffn_width, rows.more_norms, written, again);
    const bool own = is_our_trainer(constants);
    if (plan.training.precision == Precision::fp8 && own)
        add_own_casts(list, plan, rank, layers, group.moe, again);
    else if (is_of_products(plan.training.precision))
        add_casts(list, rank, layers, ffn_rows, ffn_width, again, plan.training);
    if (plan.training.precision == Precision::fp8)
        add_fp8_scales(list, plan, rank, layers, again);
    if (own && in_pieces(plan))
        add_laid_out_pieces(list, plan, rank, layers, group.moe, again);
    if (plan.layout.tp > 1)
        add_tensor_parallel(list, plan, rank, layers * written / 2, again);
    add_gradient_accumulation(list, rank.matrices(group.moe), layers, "gradient accumulation", constants, true);
}

} // namespace fourfold
