// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/fp8_operations.h"

#include "core/program/sharding_operations.h"

namespace fourfold {
namespace {

// Bytes of an element's way to a narrow operand: read once and written twice, as it is and transposed
// (fp8_cast_bytes); rows, columns and tensors whose blocks have scales of scales need their largest values first, block
// scales are written beside.
double cast_bytes(const Training& training, const Constants& constants)
{
    constexpr double kReadBefore = 2, kScales128 = 2 * 4.0 / 128, kScales32 = 2 * 1.0 / 32;
    const double both_copies = constants[Constant::fp8_cast_bytes];
    if (training.precision == Precision::nvfp4)
        return both_copies + kReadBefore - 2 * (1 - bytes_per_element(Precision::nvfp4));
    switch (training.fp8_recipe) {
    case Fp8Recipe::rowwise:
        return both_copies + kReadBefore;
    case Fp8Recipe::blockwise:
        return both_copies + kScales128;
    case Fp8Recipe::mxfp8:
        return both_copies + kScales32;
    case Fp8Recipe::tensorwise:
        break;
    }
    return both_copies;
}

} // namespace

// Casts with their transposed copies: the inputs of a layer's products forward, their output gradients backward (fp8:
// Micikevicius et al., arXiv:2209.05433; nvfp4, whose Hadamard transforms happen within them: NVIDIA,
// arXiv:2509.25149). Head, embedding, router and attention stay in bf16.
void add_casts(std::vector<Operation>& list, const RankShape& rank, double layers, double ffn_rows, double ffn_width,
    const RecomputeShare& again, const Training& training)
{
    const double bytes = cast_bytes(training, rank.constants);
    const std::string name = to_text(training.precision) + " casts";
    const double of_attention = rank.tokens * (rank.hidden + rank.output / rank.tp);
    const double of_mlp = rank.tokens * rank.hidden + ffn_rows * ffn_width, inputs = of_attention + of_mlp;
    const double repeated
        = again.every_second ? again.part / 2 * inputs : again.projections * of_attention + again.mlp * of_mlp;
    const double gradients = rank.tokens * (rank.query / rank.tp + rank.key_local + rank.value_local + 2 * rank.hidden)
        + ffn_rows * rank.mlp_inputs * ffn_width;
    const auto add = [&](Phase phase, const char* what, const char* note, double elements, double share) {
        list.push_back({.name = name + what,
            .phase = phase,
            .part = phase == Phase::recompute ? Part::recompute : Part::compute,
            .repeat = layers * share,
            .note = note,
            .work = Elementwise{.bytes = elements * bytes}});
    };
    const char* note = "inputs of the layer's products";
    add(Phase::forward, "", note, inputs, 1);
    if (repeated > 0)
        add(Phase::recompute, "", note, inputs, repeated / inputs);
    add(Phase::backward, " of gradients", "output gradients of the layer's products", gradients, 1);
}

// The largest magnitudes from which ranks that share a scale make it: of a tensor, or of rows that they hold in parts.
void add_fp8_scales(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    const RecomputeShare& again)
{
    constexpr double kNumber = 4; // bytes
    const Training& training = plan.training;
    const double times = rank.constants[Constant::fp8_scale_sums];
    const auto add = [&](GroupKind group, const char* name, Phase phase, double count, double bytes) {
        const bool shares = group == GroupKind::tp
            ? training.fp8_scale_group != Fp8ScaleGroup::rank && plan.layout.tp > 1
            : training.fp8_scale_group == Fp8ScaleGroup::micro_batch && plan.layout.dp * plan.layout.cp > 1;
        if (shares && count * times > 0)
            list.push_back({.name = name,
                .phase = phase,
                .part = group == GroupKind::tp ? Part::tp : Part::dp,
                .repeat = layers * count * times,
                .work = Collective{.kind = Collective::all_reduce, .group = group, .bytes = bytes}});
    };
    const char *of_tp = "tp fp8 scales", *of_replicas = "fp8 scales of all replicas";
    const double share = again.every_second ? again.part / 2 : (again.projections + again.mlp) / 2;
    const double scaled = gathers_fp8(training, plan.layout) ? 0 : 1; // else the scales of weights come once a step
    double matrices = 0, inputs = 0;
    std::string_view last{};
    for (const Row& row : layer_rows(plan.model, false)) {
        const auto* matrix = std::get_if<MatrixRow>(&row);
        if (matrix == nullptr)
            continue;
        matrices += matrix->share;
        inputs += matrix->product != last ? matrix->share : 0;
        last = matrix->product;
        if (training.fp8_recipe != Fp8Recipe::rowwise)
            continue;
        const bool cut = matrix->residual(); // what the forward sums over is, and what the backward does else
        for (const double side : {rank.tokens, double(cut ? matrix->out : matrix->in)}) {
            add(GroupKind::tp, of_tp, cut ? Phase::forward : Phase::backward, matrix->share, kNumber * side);
            add(GroupKind::tp, of_tp, Phase::recompute, cut ? share * matrix->share : 0, kNumber * side);
        }
        for (const double side : {rank.cut.out(*matrix), rank.cut.in(*matrix)})
            add(GroupKind::dp_cp, of_replicas, Phase::weight_gradient, matrix->share, kNumber * side);
    }
    if (training.fp8_recipe != Fp8Recipe::tensorwise)
        return;
    for (const auto& [phase, repeated] : {std::pair(Phase::forward, 1.0), std::pair(Phase::recompute, share)}) {
        add(GroupKind::tp, of_tp, phase, repeated * (inputs + scaled * matrices), kNumber);
        add(GroupKind::dp_cp, of_replicas, phase, repeated * inputs, kNumber);
    }
    add(GroupKind::tp, of_tp, Phase::backward, matrices, kNumber);
    add(GroupKind::dp_cp, of_replicas, Phase::backward, matrices, kNumber);
}

} // namespace fourfold
