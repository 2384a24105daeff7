// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/communicator.h"

#include "core/base/seconds.h"

#include <ATen/ops/empty.h>

#include <chrono>
#include <numeric>

namespace fourfold::trainer {

Handle::Handle(std::unique_ptr<Pending> pending, std::shared_ptr<FlightRecorder> recorder, uint64_t number)
    : pending_(std::move(pending))
    , recorder_(std::move(recorder))
    , number_(number)
{
}

void Handle::wait()
{
    if (!pending_)
        return;
    const auto begin = std::chrono::steady_clock::now();
    pending_->wait();
    pending_.reset();
    if (recorder_)
        recorder_->end(number_, seconds_since(begin));
}

Communicator::Communicator(std::string name, std::vector<int> ranks, int rank, std::shared_ptr<Transport> transport,
    std::shared_ptr<FlightRecorder> recorder)
    : name_(std::move(name))
    , ranks_(std::move(ranks))
    , rank_(rank)
    , peers_("ranks")
    , transport_(std::move(transport))
    , recorder_(std::move(recorder))
{
    for (const int peer : ranks_)
        peers_ += " " + std::to_string(peer);
}

uint64_t Communicator::record(const std::string& operation, int64_t bytes, const std::string& peers) const
{
    return recorder_->begin(name_, operation, peers.empty() ? peers_ : peers, bytes);
}

Handle Communicator::handle(std::unique_ptr<Pending> pending, uint64_t number) const
{
    return {std::move(pending), recorder_, number};
}

Handle Communicator::start_all_reduce(const at::Tensor& tensor, Reduce reduce) const
{
    if (size() == 1)
        return {};
    const auto number = record("all_reduce", int64_t(tensor.nbytes()));
    return handle(transport_->all_reduce(tensor, reduce), number);
}

void Communicator::all_reduce(const at::Tensor& tensor, Reduce reduce) const
{
    start_all_reduce(tensor, reduce).wait();
}

Handle Communicator::start_all_gather(const at::Tensor& out, const at::Tensor& in) const
{
    if (size() == 1) {
        if (!out.is_same(in) && out.data_ptr() != in.data_ptr())
            out.copy_(in);
        return {};
    }
    const auto number = record("all_gather", int64_t(out.nbytes()));
    return handle(transport_->all_gather(out, in), number);
}

void Communicator::all_gather_into(const at::Tensor& out, const at::Tensor& in) const
{
    start_all_gather(out, in).wait();
}

at::Tensor Communicator::all_gather(const at::Tensor& tensor) const
{
    if (size() == 1)
        return tensor;
    auto shape = tensor.sizes().vec();
    shape[0] *= size();
    const at::Tensor out = at::empty(shape, tensor.options());
    all_gather_into(out, tensor.contiguous());
    return out;
}

Handle Communicator::start_reduce_scatter(const at::Tensor& out, const at::Tensor& in) const
{
    if (size() == 1) {
        out.copy_(in);
        return {};
    }
    const auto number = record("reduce_scatter", int64_t(in.nbytes()));
    return handle(transport_->reduce_scatter(out, in), number);
}

void Communicator::reduce_scatter_into(const at::Tensor& out, const at::Tensor& in) const
{
    start_reduce_scatter(out, in).wait();
}

at::Tensor Communicator::reduce_scatter(const at::Tensor& tensor) const
{
    if (size() == 1)
        return tensor;
    auto shape = tensor.sizes().vec();
    shape[0] /= size();
    const at::Tensor out = at::empty(shape, tensor.options());
    reduce_scatter_into(out, tensor.contiguous());
    return out;
}

// As messages: NCCL has no other way, and Gloo none with unequal parts. The payload is what this rank sends, its own
// part included.
at::Tensor Communicator::all_to_all(
    const at::Tensor& in, const std::vector<int64_t>& sent, const std::vector<int64_t>& received) const
{
    if (size() == 1)
        return in;
    auto shape = in.sizes().vec();
    shape[0] = std::accumulate(received.begin(), received.end(), int64_t(0));
    const at::Tensor out = at::empty(shape, in.options());
    start_all_to_all(out, in, sent, received).wait();
    return out;
}

Handle Communicator::start_all_to_all(const at::Tensor& out, const at::Tensor& in, const std::vector<int64_t>& sent,
    const std::vector<int64_t>& received) const
{
    const int tag = exchanges_++ % 2;
    std::vector<Transfer> transfers;
    int64_t from = 0, to = 0, own_bytes = 0;
    for (int peer = 0; peer < size(); ++peer) {
        const int64_t leaving = sent[std::size_t(peer)], arriving = received[std::size_t(peer)];
        const at::Tensor source = in.narrow(0, from, leaving), target = out.narrow(0, to, arriving);
        from += leaving;
        to += arriving;
        if (peer == rank_) {
            target.copy_(source);
            own_bytes = int64_t(source.nbytes());
            continue;
        }
        if (leaving > 0)
            transfers.push_back({Transfer::Way::send, source, peer, tag});
        if (arriving > 0)
            transfers.push_back({Transfer::Way::receive, target, peer, tag});
    }
    if (transfers.empty())
        return {};
    const auto number = record("all_to_all", int64_t(in.nbytes()));
    return handle(transport_->all_to_all(transfers, own_bytes), number);
}

// Its payload is what this rank sends: what it receives is another rank's payload.
Handle Communicator::start_exchange(const std::vector<Transfer>& transfers) const
{
    int64_t sent = 0;
    std::string peers;
    for (const Transfer& transfer : transfers) {
        const bool sends = transfer.way == Transfer::Way::send;
        peers += (peers.empty() ? "" : ", ") + std::string(sends ? "to" : "from") + " rank "
            + std::to_string(ranks_.at(std::size_t(transfer.peer)));
        sent += sends ? int64_t(transfer.tensor.nbytes()) : 0;
    }
    const auto number = record("send_receive", sent, peers);
    return handle(transport_->exchange(transfers), number);
}

Handle Communicator::start_send(const at::Tensor& tensor, int peer, int tag) const
{
    return start_exchange({{Transfer::Way::send, tensor, peer, tag}});
}

Handle Communicator::start_receive(const at::Tensor& tensor, int peer, int tag) const
{
    return start_exchange({{Transfer::Way::receive, tensor, peer, tag}});
}

} // namespace fourfold::trainer
