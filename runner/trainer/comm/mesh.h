// SPDX-License-Identifier: GPL-3.0-or-later
// The 4D grid of ranks and its groups. Which rank stands where is the planner's Layout, nothing else.
#pragma once

#include "core/plan/layout.h"
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/comm/rendezvous.h"

#include <functional>

namespace fourfold::trainer {

struct Mesh {
    Layout layout;
    Coordinates at; // of this rank
    Communicator world;
    Communicator tp;
    Communicator replicas; // dp x cp: ranks with the same weights, over which gradients are reduced
    Communicator kv; // tp ranks that hold the same key/value heads (tp > kv_heads)
    std::shared_ptr<FlightRecorder> recorder;

    [[nodiscard]] int tp_rank() const { return at.tp; }
    // "tp 0, cp 0, pp 0, dp 1"
    [[nodiscard]] std::string words() const;
};

// Makes a group's wire; tests wrap it.
using TransportFactory = std::function<std::shared_ptr<Transport>(const std::string& name, int rank, int size)>;

// Creates every group of `rank`, each once and in the same order on all ranks. `kv_heads` decides the kv groups. Throws
// std::exception when a group cannot be made.
Mesh make_mesh(const Layout& layout, int rank, int kv_heads, const TransportFactory& make_transport);

} // namespace fourfold::trainer
