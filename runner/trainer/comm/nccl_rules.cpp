// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/nccl_rules.h"

#include "runner/trainer/comm/worker.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

namespace fourfold::trainer {

uint64_t RuledDevice::ask()
{
    const std::scoped_lock lock(mutex_);
    waiting_.insert(next_);
    return next_++;
}

void RuledDevice::begin(uint64_t number, const std::string& operation)
{
    std::unique_lock lock(mutex_);
    const auto may_start
        = [&] { return int(running_.size()) < limits_.at_once && (!limits_.one_queue || *waiting_.begin() == number); };
    if (!changed_.wait_for(lock, limits_.timeout, may_start)) {
        std::string others;
        for (const std::string& other : running_)
            others += (others.empty() ? "" : "; ") + other;
        throw std::runtime_error(operation + " did not start: the device waits for " + others);
    }
    waiting_.erase(number);
    running_.insert(operation);
    changed_.notify_all();
}

void RuledDevice::end(const std::string& operation)
{
    const std::scoped_lock lock(mutex_);
    running_.erase(running_.find(operation));
    changed_.notify_all();
}

namespace {

enum class Kind : int64_t { all_reduce_sum, all_reduce_max, all_gather, reduce_scatter, send, receive };

std::string_view name(Kind kind)
{
    constexpr std::array<std::string_view, 6> kNames{
        "all_reduce (sum)", "all_reduce (max)", "all_gather", "reduce_scatter", "send", "receive"};
    return kNames.at(std::size_t(kind));
}

// What members tell each other of an operation before its data moves.
struct Description {
    Kind kind;
    at::ScalarType type;
    int64_t elements;

    static constexpr int64_t kFields = 3;
    [[nodiscard]] at::Tensor tensor() const
    {
        at::Tensor fields = at::empty({kFields}, at::kLong);
        auto* const values = fields.data_ptr<int64_t>();
        values[0] = int64_t(kind);
        values[1] = int64_t(type);
        values[2] = elements;
        return fields;
    }
    static Description of(const at::Tensor& fields)
    {
        const auto* const values = fields.data_ptr<int64_t>();
        return {Kind(values[0]), at::ScalarType(values[1]), values[2]};
    }
    [[nodiscard]] std::string words() const
    {
        return std::string(name(kind)) + " of " + std::to_string(elements) + " " + at::toString(type);
    }
    bool operator==(const Description&) const = default;
};

class RuledTransport final : public Transport {
public:
    RuledTransport(std::shared_ptr<Transport> wire, std::string name, std::shared_ptr<RuledDevice> device)
        : wire_(std::move(wire))
        , name_(std::move(name))
        , device_(std::move(device))
    {
    }

    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        const Description own{
            reduce == Reduce::max ? Kind::all_reduce_max : Kind::all_reduce_sum, tensor.scalar_type(), tensor.numel()};
        return collective(own, [this, tensor, reduce] { wire_->all_reduce(tensor, reduce)->wait(); });
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        return collective(
            {Kind::all_gather, in.scalar_type(), in.numel()}, [this, out, in] { wire_->all_gather(out, in)->wait(); });
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        return collective({Kind::reduce_scatter, in.scalar_type(), in.numel()},
            [this, out, in] { wire_->reduce_scatter(out, in)->wait(); });
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        std::string operation;
        for (const Transfer& transfer : transfers)
            operation += (operation.empty() ? "" : ", ") + described(transfer).words()
                + (sends(transfer) ? " to rank " : " from rank ") + std::to_string(transfer.peer);
        std::set<Direction> directions;
        for (const Transfer& transfer : transfers)
            directions.emplace(transfer.peer, transfer.way);
        connect_all(directions, operation);
        return launch(operation, [this, transfers] { transfer_all(transfers); });
    }
    void connect(Transfer::Way way, int peer) override { connect_all({{peer, way}}, "connecting"); }
    [[nodiscard]] int rank() const override { return wire_->rank(); }
    [[nodiscard]] int size() const override { return wire_->size(); }

private:
    using Direction = std::pair<int, Transfer::Way>; // a peer, and which way messages go

    // The host waits until the peers of all new connections are here as well.
    void connect_all(const std::set<Direction>& directions, const std::string& operation)
    {
        std::vector<Transfer> meeting;
        for (const auto& direction : directions)
            if (const auto [peer, way] = direction; connected_.insert(direction).second) {
                const int tag = way == Transfer::Way::send ? 0 : 1;
                meeting.push_back({Transfer::Way::send, at::zeros({1}, at::kByte), peer, kMeeting + tag});
                meeting.push_back({Transfer::Way::receive, at::zeros({1}, at::kByte), peer, kMeeting + 1 - tag});
            }
        if (meeting.empty())
            return;
        try {
            wire_->exchange(meeting)->wait();
        } catch (const std::exception& error) {
            throw std::runtime_error(
                name_ + ": the host waits for the peer of its first message (" + operation + "): " + error.what());
        }
    }
    static bool sends(const Transfer& transfer) { return transfer.way == Transfer::Way::send; }
    static Description described(const Transfer& transfer)
    {
        return {sends(transfer) ? Kind::send : Kind::receive, transfer.tensor.scalar_type(), transfer.tensor.numel()};
    }

    // In the order of the calls, behind what this communicator was asked for before.
    std::unique_ptr<Pending> launch(const std::string& what, std::function<void()> operation)
    {
        const uint64_t number = device_->ask();
        return worker_.run([this, number, label = name_ + ": " + what, operation = std::move(operation)] {
            if (failed_) // as an aborted communicator
                throw std::runtime_error(label + ": an operation before it failed");
            failed_ = true;
            device_->begin(number, label);
            try {
                operation();
            } catch (const std::exception& error) {
                device_->end(label);
                throw std::runtime_error(label + ": " + error.what());
            }
            device_->end(label);
            failed_ = false;
        });
    }

    std::unique_ptr<Pending> collective(const Description& own, std::function<void()> operation)
    {
        return launch(own.words(), [this, own, operation = std::move(operation)] {
            const at::Tensor all = at::zeros({size(), Description::kFields}, at::kLong);
            wire_->all_gather(all, own.tensor().view({1, -1}))->wait();
            for (int member = 0; member < size(); ++member)
                if (const auto theirs = Description::of(all[member]); theirs != own)
                    throw std::runtime_error(
                        "rank " + std::to_string(member) + " of the group is at " + theirs.words());
            operation();
        });
    }

    // Both sides describe the message first: a send goes no further before its receive is there.
    void transfer_all(const std::vector<Transfer>& transfers)
    {
        struct Part {
            Transfer data;
            at::Tensor theirs; // Description
        };
        std::vector<Part> parts;
        std::vector<Transfer> descriptions;
        for (const Transfer& transfer : transfers) {
            int& number = numbers_[{transfer.peer, transfer.way}];
            const int tag = kTags * (number++ % kWrap);
            Part part{transfer, at::empty({Description::kFields}, at::kLong)};
            part.data.tag = tag + kData;
            // The sender's description and the receiver's cross.
            descriptions.push_back({Transfer::Way::send, described(transfer).tensor(), transfer.peer,
                tag + (sends(transfer) ? kOfSender : kOfReceiver)});
            descriptions.push_back({Transfer::Way::receive, part.theirs, transfer.peer,
                tag + (sends(transfer) ? kOfReceiver : kOfSender)});
            parts.push_back(std::move(part));
        }
        wire_->exchange(descriptions)->wait();
        std::vector<Transfer> data;
        for (const Part& part : parts) {
            Description wanted = described(part.data);
            wanted.kind = sends(part.data) ? Kind::receive : Kind::send;
            if (const auto theirs = Description::of(part.theirs); theirs != wanted)
                throw std::runtime_error(
                    "rank " + std::to_string(part.data.peer) + " of the group is at " + theirs.words());
            data.push_back(part.data);
        }
        wire_->exchange(data)->wait();
    }

    // Of each message; apart from the tags of collectives that are made of messages.
    static constexpr int kOfSender = 0, kOfReceiver = 1, kData = 2, kTags = 3, kWrap = 1 << 16, kMeeting = 1 << 18;

    std::shared_ptr<Transport> wire_;
    std::string name_;
    std::shared_ptr<RuledDevice> device_;
    std::set<Direction> connected_; // only the host's thread uses it
    std::map<Direction, int> numbers_; // messages so far; only the worker's thread uses it
    bool failed_ = false; // the same
    Worker worker_; // last member: it ends before what its tasks use
};

} // namespace

std::shared_ptr<Transport> under_nccl_rules(
    std::shared_ptr<Transport> wire, std::string name, std::shared_ptr<RuledDevice> device)
{
    return std::make_shared<RuledTransport>(std::move(wire), std::move(name), std::move(device));
}

} // namespace fourfold::trainer
