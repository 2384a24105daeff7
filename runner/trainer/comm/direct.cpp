// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/direct.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/maximum.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
constexpr int kFew = 8; // ranks
constexpr std::size_t kLargeBytes = 1 << 18;

// Elements [begin(p), begin(p + 1)) of a flat tensor are part p.
struct Parts {
    int64_t elements;
    int count;
    [[nodiscard]] int64_t begin(int part) const { return elements * part / count; }
    [[nodiscard]] at::Tensor of(const at::Tensor& flat, int part) const
    {
        return flat.narrow(0, begin(part), begin(part + 1) - begin(part));
    }
};

// Each rank's part goes to that rank; wait() combines what came for this one.
class ReduceParts final : public Pending {
public:
    // `whole`, `target`: flat.
    ReduceParts(Transport& transport, const at::Tensor& whole, at::Tensor target, Parts parts, Reduce reduce, int tag)
        : rank_(transport.rank())
        , size_(transport.size())
        , reduce_(reduce)
        , own_(parts.of(whole, rank_))
        , target_(std::move(target))
        , whole_(whole)
        , arrived_(size_ == 2 && !target_.is_alias_of(whole) ? target_.unsqueeze(0)
                                                             : at::empty({size_ - 1, own_.numel()}, whole.options()))
    {
        std::vector<Transfer> transfers;
        for (int peer = 0, row = 0; peer < size_; ++peer)
            if (peer != rank_) {
                if (own_.numel() > 0)
                    transfers.push_back({Transfer::Way::receive, arrived_[row], peer, tag});
                ++row;
            }
        for (int hop = 1; hop < size_; ++hop) {
            const int peer = (rank_ + hop) % size_;
            if (const at::Tensor part = parts.of(whole, peer); part.numel() > 0)
                transfers.push_back({Transfer::Way::send, part, peer, tag});
        }
        messages_ = transport.exchange(transfers);
    }

    void wait() override
    {
        if (!messages_) // it was waited for before
            return;
        messages_->wait();
        messages_.reset();
        // In the order of the ranks: the result does not depend on who adds up. `target_` may be the own part.
        at::Tensor sum = part_of(0);
        for (int peer = 1; peer < size_; ++peer) {
            at::Tensor result = peer + 1 == size_ ? target_ : peer == 1 ? arrived_[0] : sum;
            if (reduce_ == Reduce::max)
                at::maximum_out(result, sum, part_of(peer));
            else
                at::add_out(result, sum, part_of(peer));
            sum = result;
        }
    }

private:
    [[nodiscard]] at::Tensor part_of(int peer) const
    {
        return peer == rank_ ? own_ : arrived_[peer < rank_ ? peer : peer - 1];
    }

    int rank_, size_;
    Reduce reduce_;
    at::Tensor own_, target_, whole_, arrived_;
    std::unique_ptr<Pending> messages_;
};

std::unique_ptr<Pending> spread(Transport& transport, const at::Tensor& flat, Parts parts, int tag)
{
    const int rank = transport.rank(), size = transport.size();
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < size; ++peer)
        if (const at::Tensor part = parts.of(flat, peer); peer != rank && part.numel() > 0)
            transfers.push_back({Transfer::Way::receive, part, peer, tag});
    for (int hop = 1; hop < size; ++hop)
        if (const at::Tensor own = parts.of(flat, rank); own.numel() > 0)
            transfers.push_back({Transfer::Way::send, own, (rank + hop) % size, tag});
    return transport.exchange(transfers);
}

class TwoRounds final : public Pending {
public:
    TwoRounds(Transport& transport, const at::Tensor& flat, Reduce reduce, int tag)
        : transport_(transport)
        , flat_(flat)
        , parts_{flat.numel(), transport.size()}
        , tag_(tag)
        , first_(transport, flat, parts_.of(flat, transport.rank()), parts_, reduce, tag)
    {
    }
    void wait() override
    {
        first_.wait();
        spread(transport_, flat_, parts_, tag_ + 1)->wait();
    }

private:
    Transport& transport_;
    at::Tensor flat_;
    Parts parts_;
    int tag_;
    ReduceParts first_;
};

// Everybody gets everything.
class OneRound final : public Pending {
public:
    OneRound(Transport& transport, const at::Tensor& flat, Reduce reduce, int tag)
        : reduce_(reduce)
        , rank_(transport.rank())
        , target_(flat)
        , sent_(flat.clone())
        , arrived_(at::empty({transport.size(), flat.numel()}, flat.options()))
    {
        std::vector<Transfer> transfers;
        for (int peer = 0; peer < transport.size(); ++peer)
            if (peer != rank_)
                transfers.push_back({Transfer::Way::receive, arrived_[peer], peer, tag});
        for (int hop = 1; hop < transport.size(); ++hop)
            transfers.push_back({Transfer::Way::send, sent_, (rank_ + hop) % transport.size(), tag});
        messages_ = transport.exchange(transfers);
    }
    void wait() override
    {
        messages_->wait();
        arrived_[rank_].copy_(sent_);
        const at::Tensor combined = reduce_ == Reduce::max ? arrived_.amax(0) : arrived_.sum(0);
        target_.copy_(combined);
    }

private:
    Reduce reduce_;
    int rank_;
    at::Tensor target_, sent_, arrived_;
    std::unique_ptr<Pending> messages_;
};
} // namespace

// Groups in which every rank may send to every other one, and payloads for which it does.
bool all_reduces_directly(int ranks, std::size_t bytes)
{
    constexpr int kMany = 32;
    constexpr std::size_t kSmallBytes = 1 << 10;
    return bytes <= (ranks <= kFew ? kLargeBytes : ranks <= kMany ? kSmallBytes : 0);
}

bool all_gathers_directly(int ranks)
{
    return ranks <= kFew;
}

// Of two ranks a ring has one round, and takes no less memory.
bool reduce_scatters_directly(int ranks, std::size_t bytes)
{
    return ranks == 2 || (ranks <= kFew && bytes <= kLargeBytes);
}

std::unique_ptr<Pending> direct_all_gather(Transport& transport, const at::Tensor& out, const at::Tensor& in, int tag)
{
    const at::Tensor flat = out.view({-1});
    const Parts parts{flat.numel(), transport.size()};
    const at::Tensor own = parts.of(flat, transport.rank());
    if (own.data_ptr() != in.data_ptr())
        own.copy_(in.view({-1}));
    return spread(transport, flat, parts, tag);
}

std::unique_ptr<Pending> direct_reduce_scatter(
    Transport& transport, const at::Tensor& out, const at::Tensor& in, int tag)
{
    const at::Tensor whole = in.view({-1});
    return std::make_unique<ReduceParts>(
        transport, whole, out.view({-1}), Parts{whole.numel(), transport.size()}, Reduce::sum, tag);
}

std::unique_ptr<Pending> direct_all_reduce(Transport& transport, const at::Tensor& tensor, Reduce reduce, int tag)
{
    constexpr std::size_t kFewBytes = 2048;
    const at::Tensor flat = tensor.view({-1});
    if (tensor.nbytes() <= kFewBytes)
        return std::make_unique<OneRound>(transport, flat, reduce, tag);
    return std::make_unique<TwoRounds>(transport, flat, reduce, tag);
}

} // namespace fourfold::trainer
