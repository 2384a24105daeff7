// SPDX-License-Identifier: GPL-3.0-or-later
// NCCL's rules for ranks without GPUs: a transport over another one that refuses, or waits, where NCCL would. What
// passes here does not pass by the grace of Gloo, which has tags, buffers and a thread for each message.
// - A communicator runs its operations one after the other, in the order of the calls.
// - There are no tags: the n-th message that one rank sends to another meets the n-th that this one asks for.
// - A send ends only when it is received. The transfers of one call end together.
// - Operations that meet must agree on kind, element type, number of elements and reduction; here they say so.
// - Operations of different communicators share the device: some may wait for their peers at once, no more. With one
//   queue (CUDA_DEVICE_MAX_CONNECTIONS=1) an operation that cannot start yet holds up all that were asked for later.
// - Where the first message goes a way on a communicator, the host waits until its peer asks for it too: that makes the
//   connection (Transport::connect() makes it before). Those of collectives are there from the start.
// - One that does not end in time is an error that names it (NCCL's watchdog).
// Not modelled: on a GPU the host does not wait for a later message, and asks for what comes after it while the device
// waits.
#pragma once

#include "runner/trainer/comm/transport.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace fourfold::trainer {

// What the communicators of one rank share. Thread-safe.
class RuledDevice {
public:
    struct Limits {
        int at_once = 8; // operations that wait for their peers at the same time
        bool one_queue = false;
        std::chrono::milliseconds timeout{120000};
    };
    explicit RuledDevice(Limits limits)
        : limits_(limits)
    {
    }
    [[nodiscard]] const Limits& limits() const { return limits_; }

    // The number of an operation that is asked for now, in the order of the calls.
    uint64_t ask();
    // Waits for its turn. Throws std::runtime_error, which names it and what holds it up, after the time-out.
    void begin(uint64_t number, const std::string& operation);
    void end(const std::string& operation);

private:
    Limits limits_;
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ = 0;
    std::set<uint64_t> waiting_; // asked for, not begun
    std::multiset<std::string> running_;
};

// `wire`: the group's own transport, which nobody else uses. `name`: of the communicator, for messages.
std::shared_ptr<Transport> under_nccl_rules(
    std::shared_ptr<Transport> wire, std::string name, std::shared_ptr<RuledDevice> device);

} // namespace fourfold::trainer
