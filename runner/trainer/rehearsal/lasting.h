// SPDX-License-Identifier: GPL-3.0-or-later
// What the trainer's own code tells a rehearsal; without one it costs a function call.
#pragma once

#include "core/rehearsal/ledger.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace at {
class Tensor;
}

namespace fourfold::trainer {

// Makes a change to what outlives the pass over a micro-batch: counters, buffers, reductions under way. A rehearsal
// plays passes that are known to be equal without computing them (pass_player.h), and makes these changes each time.
// Everything that such a change needs must be in `change`, and tensors of the pass must not be.
void lasting(LastingKey key, std::function<void()> change);

// A kernel without an operator of LibTorch's was launched, which moves so many bytes.
void launched(double bytes);
// The same of one that reads and writes these tensors, once each; none of them may be under way on a wire.
void launched(const std::vector<at::Tensor>& reads, const std::vector<at::Tensor>& writes);

// While one lives on this thread, what is computed is computed by the host, in its memory.
class OnHost {
public:
    OnHost();
    ~OnHost();
    OnHost(const OnHost&) = delete;
    OnHost& operator=(const OnHost&) = delete;
};

// Copies between device and host that a rehearsal makes beside the computation, one way at a time, one after the other;
// they take as long as the link between the two does. Lasting state of a rank.
class RehearsedCopies {
public:
    // What one of these tensors has is copied into the other; one of them was made while an OnHost lived.
    void copy(const at::Tensor& from, const at::Tensor& to);
    int64_t mark(); // behind all copies so far
    void wait(int64_t mark); // from here on they are through

private:
    std::deque<std::vector<int>> under_way_{{}}; // operations that nobody waited for yet, up to each mark, oldest first
    int64_t marks_ = 0;
};

// The host updated so many parameters, whose states it has.
void updated_on_host(int64_t parameters);

// The host waits here until the device has done what it was asked.
void host_waits();
// The same for some numbers of the device's, which it copies.
void host_reads();

} // namespace fourfold::trainer
