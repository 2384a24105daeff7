// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/muon.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace fourfold::trainer {

at::Tensor newton_schulz(at::Tensor x)
{
    constexpr double kAvoidsDivisionByZero = 1e-7;
    const NewtonSchulz rule;
    x.div_(at::linalg_vector_norm(x, 2, at::IntArrayRef{1, 2}, /*keepdim=*/true).clamp_min(kAvoidsDivisionByZero));
    for (int i = 0; i < rule.iterations; ++i) {
        const at::Tensor a = at::bmm(x, x.transpose(1, 2));
        x = at::baddbmm(x, at::baddbmm(a, a, a, rule.b, rule.c), x, rule.a, 1);
    }
    return x;
}

namespace {
using Pieces = std::vector<at::Tensor>; // flat
using Sizes = std::vector<int64_t>;

// `sent[r]` go to rank r of the group; what comes from each, by the sizes of its pieces.
std::vector<Pieces> exchanged(const Communicator& group, const std::vector<Pieces>& sent,
    const std::vector<Sizes>& coming, const at::TensorOptions& options)
{
    if (group.size() == 1)
        return sent;
    Pieces all;
    Sizes leaving, arriving;
    for (const Pieces& pieces : sent) {
        leaving.push_back(0);
        for (const at::Tensor& piece : pieces) {
            leaving.back() += piece.numel();
            all.push_back(piece);
        }
    }
    for (const Sizes& sizes : coming)
        arriving.push_back(std::accumulate(sizes.begin(), sizes.end(), int64_t(0)));
    const at::Tensor came = group.all_to_all(all.empty() ? at::empty({0}, options) : at::cat(all), leaving, arriving);
    std::vector<Pieces> out(coming.size());
    int64_t from = 0;
    for (std::size_t rank = 0; rank < coming.size(); ++rank)
        for (const int64_t size : coming[rank]) {
            out[rank].push_back(came.narrow(0, from, size));
            from += size;
        }
    return out;
}
} // namespace

// Matrices [first, last) of those that are alike, on their way to their owners and back.
class Muon::Round {
public:
    Round(const Muon& own, const Alike& alike, const MuonDeal& deal, std::size_t first, std::size_t last)
        : muon_(own)
        , alike_(alike)
        , deal_(deal)
        , cut_(own.mesh_[alike.cut])
        , shards_(own.mesh_[alike.groups.shard])
        , copies_(own.mesh_[alike.groups.copies])
        , options_(at::TensorOptions(own.type_).device(own.weights_.device()))
        , first_(first)
        , last_(last)
    {
    }

    void run(const std::vector<at::Tensor>& gradients, double learning_rate)
    {
        steps_.resize(alike_.matrices.size());
        gather_shards(gradients);
        gather_slices();
        iterate();
        return_slices();
        return_shards();
        tell_copies();
        for (std::size_t i = first_; i < last_; ++i)
            apply(i, learning_rate);
    }

private:
    // Who owns matrix i: the place in each of its groups.
    struct Owner {
        int cut = 0, shard = 0, copy = 0;
    };
    [[nodiscard]] Owner owner(std::size_t i) const
    {
        const auto place = int(deal_.owner(int64_t(i)));
        return {place % cut_.size(), place / cut_.size() % shards_.size(), place / cut_.size() / shards_.size()};
    }
    [[nodiscard]] const Bucket& bucket(std::size_t i) const
    {
        return muon_.weights_.buckets()[alike_.matrices[i].bucket];
    }
    [[nodiscard]] const Shard& shard(std::size_t i) const
    {
        return muon_.weights_.shards()[alike_.matrices[i].entry.shard];
    }
    // Of the slice of matrix i, what that rank of the shard group has.
    [[nodiscard]] std::pair<int64_t, int64_t> range(std::size_t i, int rank) const
    {
        if (alike_.groups.parts == 1)
            return {0, alike_.slice};
        return bucket(i).range_in(rank, alike_.matrices[i].entry, alike_.slice);
    }
    [[nodiscard]] std::pair<int64_t, int64_t> own_range(std::size_t i) const { return range(i, shards_.rank()); }
    [[nodiscard]] at::Tensor own(std::size_t i, const std::vector<at::Tensor>& buffers) const
    {
        const Matrix& matrix = alike_.matrices[i];
        const auto [begin, end] = own_range(i);
        const int64_t place = end > begin ? matrix.entry.offset + begin - bucket(i).part_begin() : 0;
        return buffers[matrix.bucket].narrow(0, place, end - begin);
    }
    // Ranks of the group that cuts matrix i which hold the same slice stand side by side; one of them tells it, and
    // its owner where all hold the whole.
    [[nodiscard]] int same(std::size_t i) const
    {
        const Parameter& parameter = shard(i).parameter;
        if (parameter.tp_dim < 0)
            return cut_.size();
        return int(cut_.size() * shard(i).length / parameter.shape[std::size_t(parameter.tp_dim)]);
    }
    [[nodiscard]] bool tells(std::size_t i, int rank) const
    {
        return shard(i).parameter.tp_dim < 0 ? rank == owner(i).cut : rank % same(i) == 0;
    }
    template <typename Use>
    void each(Use&& use) const
    {
        for (std::size_t i = first_; i < last_; ++i)
            use(i, owner(i));
    }
    [[nodiscard]] bool ours(const Owner& of) const { return of.copy == copies_.rank(); }
    [[nodiscard]] bool on_this_shard(const Owner& of) const { return ours(of) && of.shard == shards_.rank(); }

    // The momentum, looked ahead.
    [[nodiscard]] at::Tensor ascent(std::size_t i, const std::vector<at::Tensor>& gradients) const
    {
        const at::ScalarType exact = muon_.weights_.masters()[0].scalar_type();
        const auto ahead = [&] {
            const at::Tensor momentum = own(i, muon_.momenta_).to(exact);
            return own(i, gradients).to(exact).lerp(momentum, muon_.settings_.momentum);
        };
        if (!muon_.lane_)
            return ahead().to(muon_.type_);
        const at::Tensor there = muon_.lane_->host_room(own(i, gradients), muon_.type_);
        {
            const OnHost host;
            there.copy_(ahead());
        }
        return copied(there, at::empty({there.numel()}, options_));
    }

    // Between device and host; through when it returns.
    [[nodiscard]] at::Tensor copied(const at::Tensor& from, const at::Tensor& to) const
    {
        if (from.numel() > 0) {
            muon_.lane_->follow();
            muon_.lane_->copy(from, to);
            muon_.lane_->host_waits(muon_.lane_->mark());
        }
        return to;
    }

    void gather_shards(const std::vector<at::Tensor>& gradients)
    {
        if (alike_.groups.parts == 1) { // the owner has it
            each([&](std::size_t i, const Owner& of) {
                if (on_this_shard(of) && tells(i, cut_.rank()))
                    steps_[i] = ascent(i, gradients);
            });
            return;
        }
        std::vector<Pieces> sent{std::size_t(shards_.size())};
        std::vector<Sizes> coming{std::size_t(shards_.size())};
        each([&](std::size_t i, const Owner& of) {
            if (!ours(of) || !tells(i, cut_.rank()))
                return;
            sent[std::size_t(of.shard)].push_back(ascent(i, gradients));
            for (int rank = 0; on_this_shard(of) && rank < shards_.size(); ++rank)
                coming[std::size_t(rank)].push_back(range(i, rank).second - range(i, rank).first);
        });
        const auto came = exchanged(shards_, sent, coming, options_);
        std::size_t next = 0;
        each([&](std::size_t i, const Owner& of) {
            if (!on_this_shard(of) || !tells(i, cut_.rank()))
                return;
            Pieces parts;
            for (const Pieces& from : came)
                parts.push_back(from[next]);
            steps_[i] = parts.size() == 1 ? parts[0] : at::cat(parts);
            ++next;
        });
    }

    [[nodiscard]] std::vector<int64_t> shape_of_slice(std::size_t i) const { return shard(i).shape(); }

    void gather_slices()
    {
        std::vector<Pieces> sent{std::size_t(cut_.size())};
        std::vector<Sizes> coming{std::size_t(cut_.size())};
        const auto travels = [&](std::size_t i) { return shard(i).parameter.tp_dim >= 0; };
        each([&](std::size_t i, const Owner& of) {
            if (!on_this_shard(of) || !travels(i))
                return;
            if (tells(i, cut_.rank()))
                sent[std::size_t(of.cut)].push_back(steps_[i]);
            for (int rank = 0; of.cut == cut_.rank() && rank < cut_.size(); rank += same(i))
                coming[std::size_t(rank)].push_back(alike_.slice);
        });
        const auto came = exchanged(cut_, sent, coming, options_);
        std::vector<std::size_t> next(came.size(), 0);
        each([&](std::size_t i, const Owner& of) {
            if (!on_this_shard(of))
                return;
            const at::Tensor own = std::exchange(steps_[i], {});
            if (of.cut != cut_.rank())
                return;
            if (!travels(i)) {
                whole_.push_back(own.view(shard(i).parameter.shape));
                return;
            }
            Pieces slices;
            for (std::size_t rank = 0; rank < came.size(); rank += std::size_t(same(i)))
                slices.push_back(came[rank][next[rank]++].view(shape_of_slice(i)));
            whole_.push_back(slices.size() == 1 ? slices[0] : at::cat(slices, shard(i).parameter.tp_dim));
        });
    }

    // Between the tensor and its matrices side by side, [parts, rows, columns]: fused projections stand head by head.
    [[nodiscard]] at::Tensor apart(const at::Tensor& tensor) const
    {
        const int64_t columns = tensor.size(1);
        const at::Tensor matrices = alike_.parts == 1 ? tensor.unsqueeze(0)
                                                      : tensor.view({muon_.heads_, alike_.parts, -1, columns})
                                                            .transpose(0, 1)
                                                            .reshape({alike_.parts, -1, columns});
        return matrices.size(1) > matrices.size(2) ? matrices.transpose(1, 2) : matrices;
    }
    [[nodiscard]] at::Tensor together(const at::Tensor& matrices, const std::vector<int64_t>& shape) const
    {
        const bool upright = shape[0] / alike_.parts > shape[1];
        const at::Tensor steps = upright ? matrices.transpose(1, 2) : matrices;
        if (alike_.parts == 1)
            return steps[0];
        return steps.reshape({alike_.parts, muon_.heads_, -1, shape[1]}).transpose(0, 1).reshape(shape);
    }

    void iterate()
    {
        if (whole_.empty())
            return;
        std::vector<std::vector<int64_t>> shapes;
        for (at::Tensor& tensor : whole_) {
            shapes.push_back(tensor.sizes().vec());
            tensor = apart(tensor);
        }
        at::Tensor batch = at::cat(whole_);
        whole_.clear();
        const at::Tensor steps = newton_schulz(std::move(batch));
        for (const auto& shape : shapes)
            whole_.push_back(together(steps.narrow(0, int64_t(whole_.size()) * alike_.parts, alike_.parts), shape));
    }

    void return_slices()
    {
        std::vector<Pieces> sent{std::size_t(cut_.size())};
        std::vector<Sizes> coming{std::size_t(cut_.size())};
        std::size_t next = 0;
        each([&](std::size_t i, const Owner& of) {
            if (!on_this_shard(of))
                return;
            coming[std::size_t(of.cut)].push_back(alike_.slice);
            if (of.cut != cut_.rank())
                return;
            const at::Tensor& whole = whole_[next++];
            const int dimension = shard(i).parameter.tp_dim;
            for (int rank = 0; rank < cut_.size(); ++rank)
                sent[std::size_t(rank)].push_back(
                    (dimension < 0 ? whole : whole.narrow(dimension, rank / same(i) * shard(i).length, shard(i).length))
                        .reshape(-1));
        });
        const auto came = exchanged(cut_, sent, coming, options_);
        whole_.clear();
        std::vector<std::size_t> taken(came.size(), 0);
        each([&](std::size_t i, const Owner& of) {
            if (on_this_shard(of))
                steps_[i] = came[std::size_t(of.cut)][taken[std::size_t(of.cut)]++];
        });
    }

    void return_shards()
    {
        if (shards_.size() == 1)
            return;
        if (alike_.groups.parts == 1) {
            tell_replicas();
            return;
        }
        std::vector<Pieces> sent{std::size_t(shards_.size())};
        std::vector<Sizes> coming{std::size_t(shards_.size())};
        each([&](std::size_t i, const Owner& of) {
            if (!ours(of))
                return;
            const auto [begin, end] = own_range(i);
            coming[std::size_t(of.shard)].push_back(end - begin);
            for (int rank = 0; on_this_shard(of) && rank < shards_.size(); ++rank) {
                const auto [from, to] = range(i, rank);
                sent[std::size_t(rank)].push_back(steps_[i].narrow(0, to > from ? from : 0, to - from));
            }
        });
        const auto came = exchanged(shards_, sent, coming, options_);
        std::vector<std::size_t> taken(came.size(), 0);
        each([&](std::size_t i, const Owner& of) {
            if (ours(of))
                steps_[i] = came[std::size_t(of.shard)][taken[std::size_t(of.shard)]++];
        });
    }

    // Every replica holds whole slices: as many of each rank, though some may be empty.
    void tell_replicas()
    {
        const auto owners = std::size_t(deal_.owners);
        const std::size_t each_has = (last_ - first_ + owners - 1) / owners * std::size_t(cut_.size());
        const at::Tensor own = at::zeros({int64_t(each_has), alike_.slice}, options_);
        std::vector<int64_t> place(std::size_t(shards_.size()), 0);
        std::vector<std::pair<std::size_t, int64_t>> rows; // of what comes: matrix, row
        each([&](std::size_t i, const Owner& of) {
            const int64_t row = place[std::size_t(of.shard)]++;
            rows.emplace_back(i, of.shard * int64_t(each_has) + row);
            if (on_this_shard(of))
                own[row].copy_(steps_[i]);
        });
        const at::Tensor all = shards_.all_gather(own);
        for (const auto& [i, row] : rows)
            steps_[i] = all[row];
    }

    void tell_copies()
    {
        if (copies_.size() == 1)
            return;
        std::vector<Pieces> sent{std::size_t(copies_.size())};
        std::vector<Sizes> coming{std::size_t(copies_.size())};
        each([&](std::size_t i, const Owner& of) {
            const auto [begin, end] = own_range(i);
            coming[std::size_t(of.copy)].push_back(end - begin);
            for (std::size_t rank = 0; ours(of) && rank < sent.size(); ++rank)
                sent[rank].push_back(steps_[i]);
        });
        const auto came = exchanged(copies_, sent, coming, options_);
        std::vector<std::size_t> taken(came.size(), 0);
        each([&](std::size_t i, const Owner& of) {
            steps_[i] = came[std::size_t(of.copy)][taken[std::size_t(of.copy)]++];
        });
    }

    // Weight decay apart from the gradient, as AdamW's.
    void apply(std::size_t i, double learning_rate)
    {
        const at::Tensor masters = own(i, muon_.weights_.masters());
        std::optional<OnHost> host;
        if (muon_.lane_) {
            steps_[i] = copied(steps_[i].contiguous(), muon_.lane_->host_room(masters, muon_.type_));
            host.emplace();
        }
        if (masters.numel() > 0) {
            masters.mul_(1 - learning_rate * muon_.settings_.weight_decay);
            masters.add_(steps_[i].to(masters.scalar_type()),
                -learning_rate * muon_scale(double(alike_.rows), double(alike_.columns)));
        }
        steps_[i].reset();
    }

    const Muon& muon_;
    const Alike& alike_;
    const MuonDeal& deal_;
    const Communicator &cut_, &shards_, &copies_;
    at::TensorOptions options_;
    std::size_t first_, last_;
    Pieces whole_; // of this owner, in the order of the matrices
    Pieces steps_; // by matrix: on the way there the momentum, on the way back the step; what this rank has of it
};

Muon::Muon(const Weights& weights, const Mesh& mesh, const RunSettings& settings, int64_t heads,
    const std::vector<at::Tensor>& momenta, at::ScalarType type, double at_once)
    : weights_(weights)
    , mesh_(mesh)
    , settings_(settings)
    , heads_(heads)
    , momenta_(momenta)
    , type_(type)
    , at_once_(at_once)
{
    if (weights.masters_away())
        lane_.emplace(weights.device());
    for (std::size_t b = 0; b < weights.buckets().size(); ++b) {
        const Bucket& bucket = weights.buckets()[b];
        for (const BucketEntry& entry : bucket.entries) {
            const Shard& shard = weights.shards()[entry.shard];
            if (!shard.muon)
                continue;
            const Parameter& parameter = shard.parameter;
            const int64_t parts = muon_parts(parameter.role), out = parameter.shape[0] / parts, in = parameter.shape[1];
            Alike kind{parameter.expert >= 0 ? GroupKind::etp : GroupKind::tp, bucket.groups, std::min(out, in),
                std::max(out, in), parts, shard.elements(), {}};
            auto found = std::ranges::find_if(alike_, [&](const Alike& known) {
                return known.cut == kind.cut && known.groups.shard == kind.groups.shard && known.rows == kind.rows
                    && known.columns == kind.columns && known.parts == kind.parts && known.slice == kind.slice;
            });
            if (found == alike_.end())
                found = alike_.insert(alike_.end(), std::move(kind));
            found->matrices.push_back({b, entry});
        }
    }
}

void Muon::step(const std::vector<at::Tensor>& gradients, double learning_rate) const
{
    const at::NoGradGuard no_graph;
    std::optional<OnHost> host;
    if (lane_)
        host.emplace();
    for (std::size_t b = 0; b < momenta_.size(); ++b)
        for (const BucketSegment& segment : weights_.buckets()[b].own_segments()) {
            if (!segment.muon)
                continue;
            const at::Tensor momentum = momenta_[b].narrow(0, segment.begin, segment.end - segment.begin);
            const at::Tensor gradient = gradients[b].narrow(0, segment.begin, segment.end - segment.begin);
            const at::ScalarType exact = weights_.masters()[b].scalar_type();
            const at::Tensor moved = momentum.to(exact).lerp_(gradient.to(exact), 1 - settings_.momentum);
            if (!moved.is_same(momentum))
                momentum.copy_(moved);
        }
    host.reset();
    for (const Alike& alike : alike_) {
        const int64_t owners
            = int64_t(mesh_[alike.cut].size()) * mesh_[alike.groups.shard].size() * mesh_[alike.groups.copies].size();
        const MuonDeal deal(owners, double(alike.rows * alike.columns * alike.parts), at_once_);
        const std::size_t all = alike.matrices.size(), round = std::size_t(deal.owners * deal.at_once);
        for (std::size_t first = 0; first < all; first += round)
            Round(*this, alike, deal, first, std::min(all, first + round)).run(gradients, learning_rate);
    }
}

} // namespace fourfold::trainer
