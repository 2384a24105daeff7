// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/dispatch.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/device/upload.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <numeric>

namespace fourfold::trainer {

namespace {
// Row `index[i]` of x; one behind its last is zero.
at::Tensor rows_at(const at::Tensor& x, const at::Tensor& index, bool beyond)
{
    if (!beyond)
        return x.index_select(0, index);
    return at::cat({x, at::zeros({1, x.size(1)}, x.options())}).index_select(0, index);
}

// Row i of the result is row index[i] / copies of x; the gradient of a row is the sum over its copies, which stand at
// the places `back`. `beyond`: some of these are behind the last, where there is nothing.
class Moved final : public GradientFunction {
public:
    Moved(at::Tensor index, at::Tensor back, int64_t copies, bool beyond)
        : index_(std::move(index))
        , back_(std::move(back))
        , copies_(copies)
        , beyond_(beyond)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override
    {
        return {rows_at(inputs[0], copies_ > 1 ? index_.div(copies_, "trunc") : index_, beyond_)};
    }
    Tensors backward(const Tensors& gradients, const Tensors&) override
    {
        const at::Tensor copies = rows_at(gradients[0], back_, beyond_);
        return {copies_ > 1 ? copies.view({-1, copies_, copies.size(-1)}).sum(1) : copies};
    }

private:
    at::Tensor index_, back_;
    int64_t copies_;
    bool beyond_;
};

at::Tensor moved(
    const at::Tensor& x, const at::Tensor& index, const at::Tensor& back, int64_t copies, bool beyond = false)
{
    return apply(std::make_shared<Moved>(index, back, copies, beyond), {x})[0];
}

// Rows to and from every rank of the group; the gradient goes back the way they came.
class Exchanged final : public GradientFunction {
public:
    Exchanged(const Communicator& group, PassTurns* turns, std::vector<int64_t> sent, std::vector<int64_t> received)
        : group_(group)
        , turns_(turns)
        , sent_(std::move(sent))
        , received_(std::move(received))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override
    {
        return {exchanged(inputs[0].contiguous(), sent_, received_)};
    }
    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }
    Tensors backward(const Tensors& gradients, const Tensors&) override
    {
        return {exchanged(gradients[0].contiguous(), received_, sent_)};
    }

private:
    [[nodiscard]] at::Tensor exchanged(
        const at::Tensor& x, const std::vector<int64_t>& sent, const std::vector<int64_t>& received) const
    {
        auto shape = x.sizes().vec();
        shape[0] = std::accumulate(received.begin(), received.end(), int64_t(0));
        const at::Tensor out = at::empty(shape, x.options());
        Handle under_way = group_.start_all_to_all(out, x, sent, received);
        if (turns_ != nullptr)
            turns_->give();
        under_way.wait();
        return out;
    }

    const Communicator& group_;
    PassTurns* turns_;
    std::vector<int64_t> sent_, received_;
};

std::vector<int64_t> values(const at::Tensor& whole_numbers)
{
    const at::Tensor here = whole_numbers.cpu().contiguous();
    const auto* const data = here.const_data_ptr<int64_t>();
    return {data, data + here.numel()};
}

// How many copies go to each expert; those that go nowhere have the number `count`. `imbalance`: see
// KnownRouting.
at::Tensor count_copies(const at::Tensor& ids, int count, int ranks, double imbalance)
{
    if (!ids.is_meta())
        return at::zeros({count + 1}, ids.options()).scatter_add_(0, ids, at::ones_like(ids)).narrow(0, 0, count);
    const at::Tensor counts = at::empty({count}, at::kLong);
    auto* const data = counts.data_ptr<int64_t>();
    const int64_t all = ids.numel(), here = count / ranks;
    const int64_t first = ranks > 1 ? int64_t(std::lround(double(all) * (1 + imbalance) / ranks)) : all;
    const auto deal = [](int64_t copies, int64_t experts, int64_t number) {
        return copies * (number + 1) / experts - copies * number / experts;
    };
    for (int64_t expert = 0; expert < count; ++expert)
        data[expert] = imbalance == 0 ? deal(all, count, expert)
            : expert < here           ? deal(first, here, expert)
                                      : deal(all - first, count - here, expert - here);
    return counts;
}

// Row r: what rank r of the group counted.
std::vector<int64_t> gather_counts(
    const at::Tensor& counts, const at::Tensor& ids, const Communicator& ep, RoutingRecord* record)
{
    host_reads();
    if (!ids.is_meta()) {
        const std::vector<int64_t> all = values(ep.all_gather(counts.unsqueeze(0)));
        if (record != nullptr)
            record->add(all);
        return all;
    }
    (void)ep.all_gather(at::empty({1, counts.numel()}, ids.options()));
    if (record != nullptr) {
        const RoutingRecord::Counts* const recorded = record->next(std::size_t(ep.size() * counts.numel()));
        TORCH_CHECK(recorded != nullptr, "the recorded routing is not of this plan and rank");
        return *recorded;
    }
    const std::vector<int64_t> own = values(counts);
    std::vector<int64_t> all;
    for (int rank = 0; rank < ep.size(); ++rank)
        all.insert(all.end(), own.begin(), own.end());
    return all;
}
} // namespace

Dispatch::Dispatch(const at::Tensor& experts, int expert_count, const Communicator& ep, PassTurns* turns,
    const at::Tensor& part_of, int parts, const KnownRouting& known)
    : ep_(ep)
    , turns_(turns)
    , tokens_(experts.size(0))
    , active_(experts.size(1))
{
    // Each part of an expert's tokens is sorted and counted as an expert of its own.
    const int count = expert_count * parts;
    const at::Tensor ids
        = parts == 1 ? experts.flatten() : experts.mul(parts).add(part_of.unsqueeze(1)).flatten().clamp_max(count);
    sorted_ = at::argsort(ids, /*stable=*/true, /*dim=*/0, /*descending=*/false);
    place_ = at::empty_like(sorted_);
    place_.scatter_(0, sorted_, at::arange(ids.numel(), ids.options()));

    const std::vector<int64_t> counts
        = gather_counts(count_copies(ids, count, ep.size(), known.imbalance).contiguous(), ids, ep, known.record);
    const int ranks = ep.size(), here = count / ranks;
    const auto of = [&](int rank, int expert) { return counts[std::size_t(rank * count + expert)]; };
    int64_t going = 0;
    for (int expert = 0; expert < count; ++expert)
        going += of(ep.rank(), expert);
    if (going < sorted_.numel()) { // what goes nowhere is sorted behind the rest
        dropped_ = true;
        sorted_ = sorted_.narrow(0, 0, going);
        place_ = place_.clamp_max(going);
    }
    rows_.assign(std::size_t(here / parts), 0);
    // What came from rank r for expert e begins where everything before it ends.
    std::vector<std::vector<int64_t>> begins(std::size_t(here), std::vector<int64_t>(std::size_t(ranks), 0));
    int64_t begin = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        int64_t sent = 0, received = 0;
        for (int expert = 0; expert < here; ++expert) {
            sent += of(ep.rank(), rank * here + expert);
            begins[std::size_t(expert)][std::size_t(rank)] = begin + received;
            const int64_t arrives = of(rank, ep.rank() * here + expert);
            received += arrives;
            rows_[std::size_t(expert / parts)] += arrives;
        }
        sent_.push_back(sent);
        received_.push_back(received);
        begin += received;
    }
    for (int expert = 0; parts > 1 && expert < here; ++expert)
        for (int rank = 0; rank < ranks; ++rank)
            runs_.push_back(of(rank, ep.rank() * here + expert));
    if (ranks == 1 || here == 1)
        return;
    std::vector<int64_t> from(std::size_t(begin), 0), to(std::size_t(begin), 0);
    std::size_t next = 0;
    for (int expert = 0; expert < here; ++expert)
        for (int rank = 0; rank < ranks; ++rank)
            for (int64_t i = 0; i < of(rank, ep.rank() * here + expert); ++i, ++next) {
                from[next] = begins[std::size_t(expert)][std::size_t(rank)] + i;
                to[std::size_t(from[next])] = int64_t(next);
            }
    arranged_ = on_device(from, ids.device());
    arrived_ = on_device(to, ids.device());
}

at::Tensor Dispatch::to_experts(const at::Tensor& x) const
{
    const at::Tensor copies = moved(x, sorted_, place_, active_, dropped_);
    if (ep_.size() == 1)
        return copies;
    const at::Tensor here = apply(std::make_shared<Exchanged>(ep_, turns_, sent_, received_), {copies})[0];
    return arranged_.defined() ? moved(here, arranged_, arrived_, 1) : here;
}

at::Tensor Dispatch::to_tokens(const at::Tensor& y, const at::Tensor& weights) const
{
    at::Tensor back = y;
    if (ep_.size() > 1) {
        if (arranged_.defined())
            back = moved(back, arrived_, arranged_, 1);
        back = apply(std::make_shared<Exchanged>(ep_, turns_, received_, sent_), {back})[0];
    }
    const at::Tensor copies = moved(back, place_, sorted_, 1, dropped_).view({tokens_, active_, -1});
    return copies.mul(weights.unsqueeze(-1)).sum(1).to(y.scalar_type());
}

} // namespace fourfold::trainer
