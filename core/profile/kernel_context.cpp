// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/kernel_context.h"

#include <algorithm>

namespace fourfold {

double flops_of_operator(const std::string& name, const std::vector<std::vector<double>>& shapes)
{
    const bool adds = name == "aten::addmm" || name == "aten::baddbmm"; // a bias is before the two
    if (!adds && name != "aten::mm" && name != "aten::bmm" && name != "aten::_scaled_mm")
        return 0;
    const std::size_t first = adds ? 1 : 0;
    if (shapes.size() < first + 2)
        return 0;
    const std::vector<double>&a = shapes[first], &b = shapes[first + 1];
    if (a.size() < 2 || a.size() > 3 || b.size() != a.size() || a.back() != b[b.size() - 2])
        return 0;
    const double batch = a.size() == 3 ? a.front() : 1;
    const double flops = 2 * batch * a[a.size() - 2] * a.back() * b.back();
    return flops > 0 && flops < 1e21 ? flops : 0;
}

void KernelContext::take_range(const std::string& name, std::int64_t thread, double start_s, double end_s, bool on_gpu)
{
    if (const auto layer = layer_of_range(name))
        (on_gpu ? on_gpu_ : on_host_).add(thread, start_s, end_s, *layer);
}

void KernelContext::take_launch(std::int64_t correlation, std::int64_t thread, double start_s)
{
    launches_.emplace(correlation, Launch{thread, start_s});
}

void KernelContext::take_operator(
    const std::string& name, std::int64_t external_id, const std::vector<std::vector<double>>& shapes)
{
    if (const double flops = flops_of_operator(name, shapes); flops > 0)
        flops_.emplace(external_id, flops);
}

void KernelContext::fill(std::vector<Kernel>& kernels)
{
    on_gpu_.sort();
    on_host_.sort();
    for (std::size_t i = 0; i < std::min(kernels.size(), links_.size()); ++i) {
        Kernel& kernel = kernels[i];
        kernel.layer = on_gpu_.layer_at(kernel.stream, (kernel.start_s + kernel.end_s) / 2);
        if (kernel.layer < 0 && !on_host_.empty()) {
            const auto launch = launches_.find(links_[i].correlation);
            if (links_[i].correlation != 0 && launch != launches_.end())
                kernel.layer = on_host_.layer_at(launch->second.thread, launch->second.start_s);
        }
        const auto flops = links_[i].external_id != 0 ? flops_.find(links_[i].external_id) : flops_.end();
        if (kernel.kind == KernelKind::product && flops != flops_.end())
            kernel.flops = flops->second;
    }
}

} // namespace fourfold
