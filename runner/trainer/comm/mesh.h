// SPDX-License-Identifier: GPL-3.0-or-later
// The 4D grid of ranks and its groups. Which rank stands where is the planner's Layout, nothing else.
#pragma once

#include "core/layout/layout.h"
#include "runner/trainer/comm/communicator.h"

#include <functional>

namespace fourfold::trainer {

struct Mesh {
    Layout layout;
    Coordinates at; // of this rank
    Communicator world;
    Communicator tp;
    Communicator cp; // ring exchanges and gathers of keys and values
    Communicator replicas; // dp x cp: ranks with the same weights, over which gradients are reduced
    // HSDP cuts the replicas: a shard group holds one copy of the weights between its dp_shard ranks, and a copies
    // group holds the ranks of the other shard groups with the same part. Without HSDP a shard group is all replicas.
    Communicator shard, copies;
    Communicator kv; // tp ranks that hold the same key/value heads (tp > kv_heads)
    // Pipeline messages, apart from all collectives; rank p of these groups is pipeline rank p. Activations and their
    // gradients travel apart, so that neither waits for the other where order is the only tag (NCCL).
    Communicator activations, activation_gradients;
    // For messages against the usual way (activations to a lower rank, gradients to a higher one), as between the
    // chunks of an interleaved schedule. Of two pipeline ranks each is the other's neighbour both ways: a wire of its
    // own.
    Communicator wrapped_activations, wrapped_gradients;
    Communicator ends; // first and last pipeline rank, which both hold a tied embedding; this rank alone in between
    std::shared_ptr<FlightRecorder> recorder;

    [[nodiscard]] int tp_rank() const { return at.tp; }
    // "tp 0, cp 0, pp 0, dp 1"
    [[nodiscard]] std::string words() const;
};

// Makes a group's wire; tests wrap it.
using TransportFactory = std::function<std::shared_ptr<Transport>(const std::string& name, int rank, int size)>;

// Creates every group of `rank`, each once and in the same order on all ranks. `kv_heads` decides the kv groups. Throws
// std::exception when a group cannot be made. Groups with the same members share one wire where their operations follow
// one order anyway (replicas and shard).
Mesh make_mesh(const Layout& layout, int rank, int kv_heads, const TransportFactory& make_transport);

} // namespace fourfold::trainer
