// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace tells of a kernel elsewhere than in the kernel's own event: which launch it came from, in which named
// range, and which operator with which shapes asked for it.
#pragma once

#include "core/profile/kineto.h"
#include "core/profile/layer_ranges.h"

#include <unordered_map>

namespace fourfold {

class KernelContext {
public:
    // A range that a program named, on a thread of the host or (`on_gpu`) a stream.
    void take_range(const std::string& name, std::int64_t thread, double start_s, double end_s, bool on_gpu);
    void take_launch(std::int64_t correlation, std::int64_t thread, double start_s);
    void take_operator(
        const std::string& name, std::int64_t external_id, const std::vector<std::vector<double>>& shapes);
    // Of the kernel that comes next in the profile.
    void take_kernel(std::int64_t correlation, std::int64_t external_id)
    {
        links_.push_back({correlation, external_id});
    }
    // Gives all kernels, in the order of take_kernel(), their layers and FLOPs.
    void fill(std::vector<Kernel>& kernels);

private:
    struct Launch {
        std::int64_t thread;
        double start_s;
    };
    struct Link {
        std::int64_t correlation, external_id; // 0: none
    };
    LayerRanges on_gpu_, on_host_;
    std::unordered_map<std::int64_t, Launch> launches_;
    std::unordered_map<std::int64_t, double> flops_;
    std::vector<Link> links_;
};

// FLOPs of an operator of matrix products by the shapes of its inputs; 0 where it is none, or they are not those.
double flops_of_operator(const std::string& name, const std::vector<std::vector<double>>& shapes);

} // namespace fourfold
