// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/muon.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace fourfold {

bool takes_muon(ParameterKind kind)
{
    return kind == ParameterKind::attention || kind == ParameterKind::mlp || kind == ParameterKind::expert;
}

int muon_parts(Role role)
{
    return role == Role::fused ? 3 : 1;
}

double muon_scale(double rows, double columns)
{
    return 0.2 * std::sqrt(std::max(rows, columns));
}

MuonDeal::MuonDeal(std::int64_t owners, double elements, double most)
    : owners(std::max<std::int64_t>(owners, 1))
    , at_once(std::max<std::int64_t>(1, std::int64_t(most / std::max(1.0, elements))))
{
}

double MuonDeal::most(double matrices) const
{
    return std::ceil(matrices / double(owners));
}

double MuonDeal::rounds(double matrices) const
{
    return std::ceil(most(matrices) / double(at_once));
}

double muon_elements(const ResolvedPlan& plan, const LayerParameters& layer)
{
    return plan.training.optimizer == Optimizer::muon ? layer.attention + layer.mlp : 0;
}

double muon_elements_of_experts(const ResolvedPlan& plan, const RankShape& rank)
{
    return plan.training.optimizer == Optimizer::muon ? rank.local_experts * rank.moe_layer.expert : 0;
}

double states_per_parameter(const ResolvedPlan& plan)
{
    const ModelShape& model = plan.model;
    double matrices = 0;
    for_each_kind(model, [&](double layers, const Rows& rows) {
        const LayerParameters layer = layer_parameters(model, rows, Cut{});
        matrices += layers * muon_elements(plan, layer);
        if (model.experts && plan.training.optimizer == Optimizer::muon)
            matrices += layers * model.experts->count * layer.expert;
    });
    return 2 - matrices / model.parameters();
}

namespace {

// Tensors that are dealt together: with the same sides, the shorter first, of each matrix in them, and equally large on
// a rank of the group that cuts them.
struct Alike {
    double rows = 0, columns = 0, parts = 1, slice = 0;
    auto operator<=>(const Alike&) const = default;
    [[nodiscard]] double elements() const { return rows * columns * parts; }
};
struct Counts {
    double all = 0, cut = 0; // `cut`: not whole on every rank of that group
};
using Matrices = std::map<Alike, Counts>;

// The ranks that share a set of matrices: `cut` ranks hold other slices, `shards` other parts of those or, whole, the
// same, `copies` the same parts.
struct Owners {
    GroupKind cut_group, shard_group, copies_group;
    double cut = 1, shards = 1, copies = 1;
    bool whole = false;
    [[nodiscard]] double all() const { return cut * shards * copies; }
};

Owners owners_of(const ResolvedPlan& plan, bool experts)
{
    const double replicas = experts ? expert_copies(plan) : double(plan.layout.dp) * plan.layout.cp;
    const bool hybrid = plan.training.sharding == Sharding::hybrid;
    const Sharded split = sharded(plan);
    Owners owners{experts ? GroupKind::etp : GroupKind::tp,
        experts ? (hybrid ? GroupKind::expert_shard : GroupKind::expert_dp)
                : (hybrid ? GroupKind::dp_shard : GroupKind::dp_cp),
        experts ? GroupKind::expert_replicate : GroupKind::dp_replicate};
    owners.cut = experts ? plan.layout.etp : plan.layout.tp;
    owners.whole = plan.training.sharding == Sharding::none;
    owners.shards = owners.whole ? replicas : experts ? split.expert_states : split.states;
    owners.copies = replicas / owners.shards;
    return owners;
}

void count(Matrices& matrices, const MatrixRow& row, const Cut& cut, double times)
{
    if (!takes_muon(row.kind))
        return;
    const double parts = muon_parts(row.role), out = double(row.out) / parts, in = double(row.in);
    Counts& counts = matrices[{std::min(out, in), std::max(out, in), parts, cut.out(row) * cut.in(row)}];
    counts.all += times * row.share;
    counts.cut += row.split == Split::none ? 0 : times * row.share;
}

Matrices matrices_of(
    const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters, bool of_experts)
{
    Matrices matrices;
    for (const bool moe : {false, true}) {
        const double layers = moe ? parameters.moe_layers : parameters.dense_layers;
        if (layers <= 0)
            continue;
        for (const Row& row : layer_rows(plan.model, moe)) {
            if (const auto* matrix = std::get_if<MatrixRow>(&row); matrix != nullptr && !of_experts)
                count(matrices, *matrix, rank.cut, layers);
            const auto* experts = std::get_if<ExpertsRow>(&row);
            if (experts != nullptr && of_experts)
                for (const MatrixRow& each : experts->each)
                    count(matrices, each, rank.cut, layers * rank.local_experts);
        }
    }
    return matrices;
}

// Of the iteration's type: that of the products.
double element_bytes(const RankShape& rank)
{
    return rank.element_bytes;
}

Operation of_step(const char* name, double repeat, std::string_view note, Work work)
{
    return {.name = name,
        .phase = Phase::step,
        .part = Part::optimizer,
        .repeat = repeat,
        .in_layer = false,
        .note = note,
        .work = std::move(work)};
}

constexpr const char* kSource = "Muon: https://kellerjordan.github.io/posts/muon";
constexpr const char* kOwners = "every matrix whole on one of the ranks that hold parts of it, arXiv:2502.16982";

void add_exchanges(std::vector<Operation>& list, const Matrices& matrices, const Owners& owners, double element)
{
    double whole = 0, cut = 0, slices = 0, padded = 0, rounds = 0;
    for (const auto& [alike, counts] : matrices) {
        const MuonDeal deal(std::int64_t(owners.all()), alike.elements());
        whole += counts.all * alike.elements() * element;
        cut += counts.cut * alike.elements() * element;
        slices += counts.all * alike.slice * element;
        padded += deal.most(counts.all) * alike.slice * element;
        rounds += deal.rounds(counts.all);
    }
    const auto add = [&](const char* name, GroupKind group, double ranks, CollectiveKind kind, double bytes) {
        if (ranks > 1 && bytes > 0)
            list.push_back(
                of_step(name, rounds, kOwners, Collective{.kind = kind, .group = group, .bytes = bytes / rounds}));
    };
    if (!owners.whole)
        add("muon gather of shards", owners.shard_group, owners.shards, Collective::all_to_all, whole / owners.all());
    add("muon gather of slices", owners.cut_group, owners.cut, Collective::all_to_all, cut / owners.all());
    const double back = slices / (owners.copies * owners.shards);
    add("muon slices back", owners.cut_group, owners.cut, Collective::all_to_all, back);
    if (owners.whole)
        add("muon steps to the replicas", owners.shard_group, owners.shards, Collective::all_gather,
            owners.shards * owners.cut * padded);
    else
        add("muon shards back", owners.shard_group, owners.shards, Collective::all_to_all, back);
    add("muon shards to the copies", owners.copies_group, owners.copies, Collective::all_to_all,
        slices / owners.shards);
}

// Of the owner with the most matrices, for which the others wait.
void add_iterations(std::vector<Operation>& list, const Matrices& matrices, const Owners& owners, double element)
{
    const NewtonSchulz rule;
    for (const auto& [alike, counts] : matrices) {
        const MuonDeal deal(std::int64_t(owners.all()), alike.elements());
        const double most = deal.most(counts.all), together = std::min(most, double(deal.at_once));
        const double batch = together * alike.parts, times = most / together * rule.iterations;
        const auto add = [&](const char* name, double n, double k) {
            list.push_back(of_step(name, times, kSource, Gemm{.m = alike.rows, .n = n, .k = k, .batch = batch}));
        };
        add("muon X X^T", alike.rows, alike.columns);
        add("muon (X X^T)^2", alike.rows, alike.rows);
        add("muon step of X", alike.columns, alike.rows);
        constexpr double kPasses = 3; // reads it for its norm, reads it and writes it divided by that
        list.push_back(of_step("muon norms", most / together, kSource,
            Elementwise{.bytes = kPasses * together * alike.elements() * element}));
    }
}

} // namespace

void add_muon_operations(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    if (plan.training.optimizer != Optimizer::muon)
        return;
    for (const bool experts : {false, true}) {
        const Owners owners = owners_of(plan, experts);
        const Matrices matrices = matrices_of(plan, rank, parameters, experts);
        add_exchanges(list, matrices, owners, element_bytes(rank));
        add_iterations(list, matrices, owners, element_bytes(rank));
    }
}

double muon_workspace(const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    double most = 0;
    if (plan.training.optimizer != Optimizer::muon)
        return most;
    for (const bool experts : {false, true}) {
        const Owners owners = owners_of(plan, experts);
        for (const auto& [alike, counts] : matrices_of(plan, rank, parameters, experts)) {
            const MuonDeal deal(std::int64_t(owners.all()), alike.elements());
            const double together = std::min(deal.most(counts.all), double(deal.at_once));
            // X before and after a step of the iteration, A and the polynomial in it.
            const double owned = together * alike.parts * 2 * (alike.rows * alike.columns + alike.rows * alike.rows);
            // As much of a round as its owners of the other slices have, together with them.
            const double round = together * owners.cut * alike.slice;
            // Replicas tell each other all steps of a round, beside its own and the message. Parts come together before
            // the iteration: the message that came and what is made of it; the parts that went and their message, of
            // matrices that lie unevenly in the parts of their buckets, up to twice as many here as on the mean rank.
            constexpr double kUneven = 2;
            const double exchanged = owners.shards <= 1 ? 0
                : owners.whole                          ? (2 + owners.shards) * round
                                                        : (2 + 2 * kUneven) * round;
            most = std::max(most, std::max(owned, exchanged) * element_bytes(rank));
        }
    }
    return most;
}

} // namespace fourfold
