// SPDX-License-Identifier: GPL-3.0-or-later
// Transport over c10d: Gloo on CPU, NCCL on CUDA.
#pragma once

#include "runner/trainer/comm/transport.h"

#include <memory>
#include <string>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace fourfold::trainer {

struct TransportOptions {
    std::string backend; // "gloo" or "nccl"
    std::string name; // unique per group of the job, the same on all its ranks
    int rank = 0, size = 1; // within the group
    std::string address; // numeric address of this node, for Gloo: c10d's own guess is the host name's address
    double timeout_s = 120; // of each operation
};

// Every rank of the group calls this with the same name. Throws std::exception when the group cannot be made.
std::shared_ptr<Transport> make_c10d_transport(c10d::Store* store, const TransportOptions& options);

} // namespace fourfold::trainer
