// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/own_passes.h"

#include "core/program/sharding_operations.h"

namespace fourfold {
namespace {

// Bytes by phase, as the rows of a layer come.
struct Passes {
    double forward = 0, repeated = 0, backward = 0, weight_gradient = 0;

    void add_to(std::vector<Operation>& list, const std::string& name, double layers, const char* note) const
    {
        for (const auto& [phase, bytes] : {std::pair(Phase::forward, forward), std::pair(Phase::recompute, repeated),
                 std::pair(Phase::backward, backward), std::pair(Phase::weight_gradient, weight_gradient)})
            if (bytes > 0)
                list.push_back({.name = name,
                    .phase = phase,
                    .part = phase == Phase::recompute ? Part::recompute : Part::compute,
                    .repeat = layers,
                    .note = note,
                    .work = Elementwise{.bytes = bytes}});
    }
};

// use(matrix, its share that recomputation repeats, the rows that it multiplies, whether it is the first of a product)
// for every matrix but routers, each expert's for all experts at once.
template <typename Use>
void each_matrix(const ResolvedPlan& plan, const RankShape& rank, bool moe, const RecomputeShare& again, Use&& use)
{
    RepeatedProducts repeated(plan, rank, again, moe);
    std::string_view last{};
    const auto one = [&](const MatrixRow& matrix) {
        const double share = repeated.share_of(matrix);
        if (matrix.kind == ParameterKind::router)
            return;
        const bool expert = matrix.kind == ParameterKind::expert;
        const bool own_rows = matrix.role == Role::query_down || matrix.role == Role::kv_down;
        const double rows = expert ? rank.expert_rows * rank.local_experts
            : own_rows             ? rank.tokens / rank.sequence_split
                                   : rank.tokens;
        use(matrix, share, rows, matrix.product != last);
        last = matrix.product;
    };
    for (const Row& row : layer_rows(plan.model, moe)) {
        if (const auto* matrix = std::get_if<MatrixRow>(&row))
            one(*matrix);
        else if (const auto* experts = std::get_if<ExpertsRow>(&row))
            for (const MatrixRow& matrix : experts->each)
                one(matrix);
    }
}

// Scales that are written and read again with a number of 8 bits.
double bytes_of_scales(Fp8Recipe recipe)
{
    return recipe == Fp8Recipe::blockwise ? 2 * 4.0 / 128 : recipe == Fp8Recipe::mxfp8 ? 2 * 4.0 / 32 : 0;
}

} // namespace

void add_own_casts(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    bool moe, const RecomputeShare& again)
{
    const Fp8Recipe recipe = plan.training.fp8_recipe;
    const bool gathered = gathers_fp8(plan.training, plan.layout); // whose largest magnitudes come once a step
    const double read = rank.element_bytes, round = rank.element_bytes + 1 + bytes_of_scales(recipe);
    Passes passes;
    each_matrix(plan, rank, moe, again, [&](const MatrixRow& matrix, double repeated, double rows, bool first) {
        const bool expert = matrix.kind == ParameterKind::expert;
        const double in = rank.cut.in(matrix), out = rank.cut.out(matrix);
        const double x = matrix.share * rows * in, y = matrix.share * rows * out,
                     weight = matrix.share * in * out * (expert ? rank.local_experts : 1);
        // Experts' magnitudes are told with each use.
        const double read_again = recipe == Fp8Recipe::tensorwise && !expert ? 0 : read;
        const double forward
            = (first || expert ? x * (read + round) : 0) + weight * (round + (gathered && !expert ? 0 : read));
        passes.forward += forward;
        passes.repeated += repeated * forward;
        passes.backward += y * (read + round) + weight * (round + read_again);
        passes.weight_gradient += (x + y) * (round + read_again);
    });
    passes.add_to(list, "fp8 casts", layers, "operands of the layer's products: largest magnitudes, then rounding");
}

void add_laid_out_pieces(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    bool moe, const RecomputeShare& again)
{
    const double copy = 2 * rank.element_bytes; // read and written
    // Rows of one rank, and the own ones, are written where they belong; of two ranks, so is what is gathered.
    const double laid = rank.tp > 2 ? copy * (rank.tp - 1) / rank.tp : 0, gathered = rank.tp > 2 ? copy : 0;
    // Sums of input gradients are in pieces where weight gradients wait.
    const double cut = plan.layout.pp > 1 && traits_of(plan.training.schedule).splits_backward ? copy : 0;
    const double added = is_of_products(plan.training.precision) ? 3 * rank.element_bytes : 0; // else by the product
    Passes passes;
    each_matrix(plan, rank, moe, again, [&](const MatrixRow& matrix, double repeated, double rows, bool first) {
        if (matrix.kind == ParameterKind::expert || matrix.split == Split::none)
            return;
        const double in = matrix.share * rows * rank.cut.in(matrix), out = matrix.share * rows * rank.cut.out(matrix);
        const double forward = matrix.residual() ? copy * in : laid * out + (first ? gathered * in : 0);
        passes.forward += forward;
        passes.repeated += repeated * forward;
        passes.backward += matrix.residual() ? gathered * out + laid * in : cut * out + (first ? 0 : added * in);
    });
    passes.add_to(list, "pieces of asynchronous TP", layers, "laid out as the rows stand in the sequence");
}

Operation weights_of_fp8(double parameters, double repeat, Phase phase, const RankShape& rank)
{
    return {.name = "weights of fp8 gathers",
        .phase = phase,
        .repeat = repeat,
        .in_layer = false,
        .note = "written in the type of the weights, then scaled",
        .work = Elementwise{.bytes = parameters * (1 + 3 * rank.element_bytes)}};
}

} // namespace fourfold
