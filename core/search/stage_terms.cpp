// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/stage_terms.h"

#include "core/program/allocations.h"
#include "core/program/gradients_on_their_way.h"
#include "core/program/layer_operations.h"
#include "core/program/sharding_operations.h"

#include <algorithm>

namespace fourfold {
namespace {

double bytes_of(const std::vector<Allocation>& allocations, Lifetime lifetime)
{
    double bytes = 0;
    for (const Allocation& allocation : allocations)
        bytes += allocation.lifetime == lifetime ? allocation.bytes : 0;
    return bytes;
}

PassTerms terms_of(const PassTime& pass)
{
    return {
        pass.unstretched_s, pass.free_window_s, pass.fixed_s, pass.weight_products_s, pass.usage, pass.weight_usage};
}

void add(PassTerms& sum, const PassTerms& part, double times)
{
    sum.seconds += part.seconds * times;
    sum.window += part.window * times;
    sum.fixed += part.fixed * times;
    sum.weights += part.weights * times;
    sum.usage.add(part.usage, times);
    sum.weight_usage.add(part.weight_usage, times);
}

PassAdditions& of_phase(ChunkAdditions& additions, Phase phase)
{
    return phase == Phase::forward ? additions.forward : additions.backward;
}

} // namespace

ComposedPass compose(const PassTerms& pass, const PassAdditions& additions, double overlap_slowdown, double pressure)
{
    double unstretched = pass.seconds + additions.fixed, window = pass.window;
    for (const CoveredWork& work : additions.sharding)
        unstretched += work.exposed(work.hide(window), overlap_slowdown);
    ComposedPass composed{unstretched * (1 + additions.share + pressure), unstretched, pass.fixed + additions.fixed,
        pass.usage, pass.weight_usage};
    composed.usage.add(additions.usage);
    return composed;
}

StageTermTable::StageTermTable(const ResolvedPlan& base)
    : base_(base)
    , context_(base)
{
}

std::size_t StageTermTable::Hash::operator()(const Key& key) const
{
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
    for (const std::int32_t part : key) {
        hash ^= static_cast<std::uint32_t>(part);
        hash *= 0xFF51AFD7ED558CCDULL;
        hash ^= hash >> 32U;
    }
    return hash;
}

void StageTermTable::set_layout(const ResolvedPlan& plan)
{
    const Layout& mesh = plan.layout;
    const Groups groups{mesh.tp, mesh.cp, mesh.pp, mesh.dp, mesh.ep, mesh.etp, mesh.order};
    const int shard = plan.training.sharding == Sharding::hybrid ? mesh.dp_shard : 0;
    if (groups != groups_) {
        context_.set_groups(plan);
        rank_ = rank_shape(plan, context_.constants);
        overheads_.reset();
        groups_ = groups;
        shard_ = shard;
    } else if (shard != 0 && shard != shard_) {
        context_.set_shard_groups(plan);
        shard_ = shard;
    }
    const Layout& layout = plan.layout;
    const auto packed = [&](GroupKind group) { return std::int32_t(context_.span(group).key()); };
    const bool experts = plan.model.experts.has_value(), pipeline = layout.pp > 1;
    // Replicas that tell each other the magnitudes behind fp8's scales do so within a layer: which, and of what.
    const bool scales = plan.training.precision == Precision::fp8 && context_.constants[Constant::fp8_scale_sums] > 0;
    const ScheduleTraits& schedule = traits_of(plan.training.schedule);
    const Key key{layout.tp, layout.cp, layout.ep, layout.etp, packed(GroupKind::tp), packed(GroupKind::cp),
        experts ? packed(GroupKind::ep) : 0, pipeline && plan.nodes() > 1 ? 1 : 0,
        pipeline ? (schedule.splits_backward ? 1 : 0) + (schedule.in_flight == InFlight::all ? 2 : 0) : 0,
        scales ? packed(GroupKind::dp_cp) : 0, scales && gathers_fp8(plan.training, layout) ? 1 : 0,
        units_of_chunks(plan) ? 1 : 0};
    cut_ = &cuts_[key];
}

StageTermTable::Parts& StageTermTable::parts(int micro_batch)
{
    const auto known = std::find_if(
        cut_->begin(), cut_->end(), [&](const Parts& parts) { return parts.micro_batch == micro_batch; });
    if (known != cut_->end())
        return *known;
    cut_->emplace_back().micro_batch = micro_batch;
    return cut_->back();
}

ChunkShape StageTermTable::shape_of(const ChunkKind& kind) const
{
    ChunkShape shape;
    shape.layers = kind.dense + kind.moe;
    if (const auto& experts = base_.model.experts) {
        // Anywhere in the model where so many layers of each kind follow each other.
        const int last = experts->dense_layers + experts->every;
        shape.first_layer = std::max(0, experts->dense_layers - kind.dense);
        while (shape.first_layer < last && base_.model.moe_layers(shape.first_layer, shape.layers) != kind.moe)
            ++shape.first_layer;
    }
    shape.embedding = kind.embedding;
    shape.head = kind.head;
    shape.recompute_layers = shape.layers;
    shape.offload_layers = offloaded_layers(base_.training, 0, shape.layers);
    return shape;
}

RankShape StageTermTable::with_micro_batch(const ResolvedPlan& plan) const
{
    RankShape rank = rank_;
    set_micro_batch(rank, plan);
    return rank;
}

StageTermTable::ChunkTerms StageTermTable::build(const ResolvedPlan& plan, const ChunkKind& kind) const
{
    const ChunkProgram chunk = build_chunk_work(plan, with_micro_batch(plan), shape_of(kind));
    const ChunkTime time = chunk_time(chunk, context_);
    const auto bytes = [&](Lifetime lifetime) { return bytes_of(chunk.allocations, lifetime); };
    return {{terms_of(time.forward), terms_of(time.backward)},
        {bytes(Lifetime::micro_batch), bytes(Lifetime::forward), bytes(Lifetime::backward),
            bytes(Lifetime::weight_gradient)},
        bytes(Lifetime::loss)};
}

template <typename Add>
void StageTermTable::for_each_part(const ResolvedPlan& plan, const ChunkKind& kind, Add&& add)
{
    Parts& known = parts(plan.training.micro_batch);
    const auto part = [&](std::optional<ChunkTerms>& terms, const ChunkKind& of) -> const ChunkTerms& {
        if (!terms)
            terms = build(plan, of);
        return *terms;
    };
    const auto again = static_cast<std::size_t>(plan.training.recompute);
    // Layers of both kinds share their windows, prediction modules those of the layers before them; offloaded layers
    // share two buffers; units of a chunk are one after the other.
    const bool modules = kind.head && base_.model.predicted_ahead > 0;
    if (modules || (is_our_trainer(context_.constants) && units_of_chunks(plan))) {
        const auto [place, fresh] = known.whole.try_emplace({kind, plan.training.recompute});
        if (fresh)
            place->second = build(plan, kind);
        add(place->second, 1);
        return;
    }
    if ((kind.dense > 0 && kind.moe > 0) || plan.training.offload == Offload::activations) {
        const ChunkKind layers{kind.dense, kind.moe, false, false};
        const auto [place, fresh] = known.whole.try_emplace({layers, plan.training.recompute});
        if (fresh)
            place->second = build(plan, layers);
        add(place->second, 1);
    } else if (kind.dense > 0) {
        add(part(known.dense_layer[again], {1, 0, false, false}), kind.dense);
    } else if (kind.moe > 0) {
        add(part(known.moe_layer[again], {0, 1, false, false}), kind.moe);
    }
    if (kind.embedding)
        add(part(known.embedding, {0, 0, true, false}), 1);
    if (kind.head)
        add(part(known.head, {0, 0, false, true}), 1);
}

ChunkBytes StageTermTable::bytes(const ResolvedPlan& plan, const ChunkKind& kind)
{
    ChunkBytes sum;
    double in_loss = 0;
    for_each_part(plan, kind, [&](const ChunkTerms& part, int times) {
        sum.kept += part.bytes.kept * times;
        sum.kept_for_weights += part.bytes.kept_for_weights * times;
        // What lives while a pass runs lives for one layer at a time.
        sum.in_forward += part.bytes.in_forward;
        sum.in_backward += part.bytes.in_backward;
        in_loss += part.in_loss;
    });
    sum.in_backward = std::max(sum.in_backward, in_loss); // as much is kept at both
    return sum;
}

ChunkPasses StageTermTable::passes(const ResolvedPlan& plan, const ChunkKind& kind)
{
    ChunkPasses sum;
    for_each_part(plan, kind, [&](const ChunkTerms& part, int times) {
        add(sum.forward, part.passes.forward, times);
        add(sum.backward, part.passes.backward, times);
    });
    return sum;
}

double StageTermTable::hop(const ResolvedPlan& plan) const
{
    std::vector<Operation> hops;
    add_pipeline_hop(hops, with_micro_batch(plan), plan.layout);
    return price(hops.front(), context_).seconds;
}

ChunkAdditions StageTermTable::additions(const ResolvedPlan& plan, const StageParameters& chunk)
{
    if (!overheads_ || overheads_of_ != plan.layout.virtual_stages) {
        operations_.clear();
        add_job_overheads(operations_, plan);
        overheads_.emplace();
        overheads_of_ = plan.layout.virtual_stages;
        for (const Operation& operation : operations_) {
            PassAdditions& pass = of_phase(*overheads_, operation.phase);
            const bool share = std::get<HostCost>(operation.work).rule == HostRule::share;
            (share ? pass.share : pass.fixed) += seconds_in_pass(operation, context_);
        }
    }
    ChunkAdditions additions = *overheads_;
    operations_.clear();
    add_micro_batch_sharding(operations_, plan, rank_, chunk);
    for (const Operation& operation : operations_) {
        const double seconds = seconds_in_pass(operation, context_);
        if (seconds <= 0)
            continue;
        PassAdditions& pass = of_phase(additions, operation.phase);
        pass.sharding.push_back(covered(operation, seconds, context_));
        pass.usage.add(usage_of(operation, context_));
    }
    return additions;
}

StageParameters StageTermTable::parameters(const ResolvedPlan& plan, std::span<const ChunkKind> chunks) const
{
    StageParameters parameters;
    for (const ChunkKind& kind : chunks)
        add_chunk_parameters(parameters, plan, rank_, shape_of(kind));
    return parameters;
}

// Gradients that are gone before the next micro-batch, or that wait for their reduction beside activations.
bool StageTermTable::goes_by_batch(const ResolvedPlan& plan) const
{
    const bool waits = is_our_trainer(context_.constants) && fully_sharded(plan.training);
    return plan.training.optimizer_in_backward || (waits && plan.layout.pp == 1);
}

StageBytes StageTermTable::stage_bytes(const ResolvedPlan& plan, const StageParameters& parameters) const
{
    const std::vector<Allocation> allocations = state_allocations(plan, with_micro_batch(plan), parameters);
    return {bytes_of(allocations, Lifetime::step), bytes_of(allocations, Lifetime::update)};
}

std::vector<StepTerm> StageTermTable::step(const ResolvedPlan& plan, const StageParameters& parameters)
{
    operations_.clear();
    add_step_operations(operations_, plan, rank_, parameters);
    return step_terms(operations_, context_);
}

StageTermTable::Places StageTermTable::places() const
{
    Places places{};
    for (std::size_t group = 0; group < kGroupKinds; ++group)
        places[group] = context_.span(static_cast<GroupKind>(group)).key();
    return places;
}

} // namespace fourfold
