// SPDX-License-Identifier: GPL-3.0-or-later
// Work of the device that is recorded once and then asked for with one call, however many kernels it has (CUDA graphs).
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace at {
class Tensor;
}

namespace fourfold::trainer {

class DeviceGraph {
public:
    virtual ~DeviceGraph() = default;
    // Asks the device for all of it: what was recorded, with what its memory holds now.
    virtual void replay() = 0;
};

class GraphRecorder {
public:
    // Asks the device for kernels, and returns what they make. It must do the same each time: the host's part of it
    // counts only while it is recorded. What it needs of former work must outlive the graph.
    using Work = std::function<std::vector<at::Tensor>()>;
    struct Recorded {
        std::unique_ptr<DeviceGraph> graph;
        std::vector<at::Tensor> results; // where each replay puts them; without values before the first
    };

    virtual ~GraphRecorder() = default;
    // Does the work in a recording's surroundings: what kernels and libraries make for their first time is there then.
    virtual void warm_up(const Work& work) = 0;
    // What is recorded from here on shares memory, which lives as long as these graphs. They are replayed in the order
    // of their recording; each may find anything where no result of an earlier one is held.
    virtual void begin_pool() = 0;
    // Throws where the device cannot record the work, and leaves it usable.
    virtual Recorded record(Work work) = 0;
};

// Of the current GPU. Throws in the CPU trainer.
std::unique_ptr<GraphRecorder> gpu_graphs();
// Of the rehearsed device (rehearsal/rehearsed_device.h).
std::unique_ptr<GraphRecorder> rehearsed_graphs();

} // namespace fourfold::trainer
