// SPDX-License-Identifier: GPL-3.0-or-later
// One group of ranks, as the rest of the trainer sees it: collectives on tensors, each recorded with bytes and time.
#pragma once

#include "runner/trainer/comm/flight_recorder.h"
#include "runner/trainer/comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

// A collective under way; wait() before its tensor is read. Move-only.
class Handle {
public:
    Handle() = default;
    // `recorder`: null where the operation is recorded elsewhere.
    Handle(std::unique_ptr<Pending> pending, std::shared_ptr<FlightRecorder> recorder, uint64_t number);
    // Precondition: called once. A handle without operation returns at once.
    void wait();

private:
    std::unique_ptr<Pending> pending_;
    std::shared_ptr<FlightRecorder> recorder_;
    uint64_t number_ = 0;
};

class Communicator {
public:
    // A group of this rank alone: every operation is the identity.
    Communicator() = default;
    Communicator(std::string name, std::vector<int> ranks, int rank, std::shared_ptr<Transport> transport,
        std::shared_ptr<FlightRecorder> recorder);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int rank() const { return rank_; } // within the group
    [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
    [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; } // global ranks

    // In place.
    void all_reduce(const at::Tensor& tensor, Reduce reduce = Reduce::sum) const;
    [[nodiscard]] Handle start_all_reduce(const at::Tensor& tensor, Reduce reduce = Reduce::sum) const;
    // Along dimension 0: [n, ...] -> [n * size, ...] in rank order.
    [[nodiscard]] at::Tensor all_gather(const at::Tensor& tensor) const;
    void all_gather_into(const at::Tensor& out, const at::Tensor& in) const;
    [[nodiscard]] Handle start_all_gather(const at::Tensor& out, const at::Tensor& in) const;
    // Along dimension 0: [n * size, ...] -> [n, ...], this rank's part of the sum.
    [[nodiscard]] at::Tensor reduce_scatter(const at::Tensor& tensor) const;
    // `out`: this rank's own part of `in` (in place), or no part of it.
    void reduce_scatter_into(const at::Tensor& out, const at::Tensor& in) const;
    [[nodiscard]] Handle start_reduce_scatter(const at::Tensor& out, const at::Tensor& in) const;
    // Rows of dimension 0: the first sent[0] go to rank 0, the next sent[1] to rank 1 ...; received[r] come from rank
    // r.
    [[nodiscard]] at::Tensor all_to_all(
        const at::Tensor& in, const std::vector<int64_t>& sent, const std::vector<int64_t>& received) const;
    // The same, into `out`, [sum of received, ...]. At most two are under way at once.
    [[nodiscard]] Handle start_all_to_all(const at::Tensor& out, const at::Tensor& in, const std::vector<int64_t>& sent,
        const std::vector<int64_t>& received) const;
    // Point to point; peers are ranks of the group. See Transport::exchange.
    [[nodiscard]] Handle start_exchange(const std::vector<Transfer>& transfers) const;
    [[nodiscard]] Handle start_send(const at::Tensor& tensor, int peer, int tag) const;
    [[nodiscard]] Handle start_receive(const at::Tensor& tensor, int peer, int tag) const;

private:
    [[nodiscard]] uint64_t record(const std::string& operation, int64_t bytes, const std::string& peers = "") const;
    [[nodiscard]] Handle handle(std::unique_ptr<Pending> pending, uint64_t number) const;

    std::string name_;
    std::vector<int> ranks_{0};
    int rank_ = 0;
    std::string peers_;
    mutable int exchanges_ = 0; // all-to-alls so far: every rank of the group has as many
    std::shared_ptr<Transport> transport_;
    std::shared_ptr<FlightRecorder> recorder_;
};

} // namespace fourfold::trainer
