// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's communicators. Which ranks form which group is the planner's DeviceMesh, nothing else.
#pragma once

#include "core/layout/mesh.h"
#include "runner/trainer/comm/communicator.h"

#include <functional>
#include <map>

namespace fourfold::trainer {

struct Mesh {
    Layout layout;
    Coordinates at; // of this rank
    std::map<GroupKind, Communicator> groups;
    // Pipeline messages, apart from all collectives; rank p of these groups is pipeline rank p. Activations and their
    // gradients travel apart, so that neither waits for the other where order is the only tag (NCCL). `wrapped`: for
    // messages against the usual way (activations to a lower rank, gradients to a higher one), as between the chunks of
    // an interleaved schedule. Of two pipeline ranks each is the other's neighbour both ways: a wire of its own.
    struct Wires {
        Communicator usual, wrapped;
    };
    Wires activations, activation_gradients;
    Communicator ends; // first and last pipeline rank, which both hold a tied embedding; this rank alone in between
    std::shared_ptr<FlightRecorder> recorder;

    // Precondition: one of the groups that make_mesh() makes; std::out_of_range otherwise.
    const Communicator& operator[](GroupKind group) const { return groups.at(group); }
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
