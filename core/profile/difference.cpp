// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/difference.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fourfold {

namespace {

constexpr std::size_t kKinds = kWords<KernelKind>.size();

std::optional<KernelKind> kind_of(const Operation& operation)
{
    if (operation.is<Gemm>())
        return KernelKind::product;
    if (operation.is<Attention>())
        return KernelKind::attention;
    if (operation.is<OptimizerUpdate>())
        return KernelKind::optimizer;
    if (operation.is<Elementwise>())
        return KernelKind::other;
    return {}; // communication is priced with what hides it; the host runs no kernel
}

bool is_communication(Part part)
{
    return part == Part::tp || part == Part::cp || part == Part::pp || part == Part::dp || part == Part::ep;
}

} // namespace

KernelTimes kernel_times(const StepProfile& step)
{
    // Between two moments at which a kernel begins or ends, the same kinds run.
    struct Moment {
        double time_s;
        std::size_t kind;
        int change;
    };
    std::vector<Moment> moments;
    for (const Kernel& kernel : step.kernels) {
        moments.push_back({kernel.start_s, static_cast<std::size_t>(kernel.kind), 1});
        moments.push_back({kernel.end_s, static_cast<std::size_t>(kernel.kind), -1});
    }
    std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.time_s < b.time_s; });
    KernelTimes times;
    std::array<int, kKinds> running{};
    double before = 0;
    const auto pass = [&](double until) {
        const double length = until - before;
        before = until;
        bool computes = false;
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
            if (running[kind] == 0)
                continue;
            times.busy[kind] += length;
            computes |= kind < static_cast<std::size_t>(KernelKind::communication);
        }
        if (computes)
            return;
        if (running[static_cast<std::size_t>(KernelKind::communication)] > 0)
            times.exposed_communication += length;
        else if (running[static_cast<std::size_t>(KernelKind::copy)] > 0)
            times.exposed_copies += length;
        else
            times.idle += length;
    };
    for (const Moment& moment : moments) {
        pass(moment.time_s);
        running[moment.kind] += moment.change;
    }
    pass(step.length_s);
    return times;
}

std::vector<PartDifference> part_differences(const Prediction& prediction, const StepProfile& step)
{
    const KernelTimes measured = kernel_times(step);
    std::array<double, kKinds> predicted{};
    const double micro_batches = prediction.plan.training.micro_batches;
    for (const PricedOperation& priced : prediction.operations) {
        const double times = priced.operation.repeat * (priced.operation.phase == Phase::step ? 1 : micro_batches);
        if (const auto kind = kind_of(priced.operation))
            predicted[static_cast<std::size_t>(*kind)] += priced.seconds * times;
    }
    double exposed = 0, whole = 0;
    for (int i = 0; i < kParts; ++i) {
        const auto part = static_cast<Part>(i);
        if (!is_communication(part))
            continue;
        exposed += prediction.time_by_part[part];
        whole += prediction.time_by_part[part] + prediction.time_hidden[part];
    }
    std::array<std::int64_t, kKinds> count{};
    for (const Kernel& kernel : step.kernels)
        ++count[static_cast<std::size_t>(kernel.kind)];

    std::vector<PartDifference> rows;
    for (std::size_t i = 0; i < kKinds; ++i) {
        const auto kind = static_cast<KernelKind>(i);
        PartDifference row{std::string(name(kind)), predicted[i], measured[kind], count[i]};
        if (kind == KernelKind::communication)
            row.predicted_s = whole;
        if (kind == KernelKind::copy)
            row.predicted_s.reset();
        if (row.predicted_s.value_or(0) > 0 || row.measured_s > 0)
            rows.push_back(std::move(row));
        if (kind == KernelKind::communication && (exposed > 0 || measured.exposed_communication > 0))
            rows.push_back({"communication, not hidden", exposed, measured.exposed_communication, 0});
    }
    rows.push_back({"idle", prediction.time_by_part[Part::bubble] + prediction.time_by_part[Part::other],
        measured.idle + measured.exposed_copies, 0});
    rows.push_back({"step", prediction.step_time_s, step.length_s, static_cast<std::int64_t>(step.kernels.size())});
    return rows;
}

std::vector<CollectiveUse> collective_uses(const StepProfile& step)
{
    std::map<std::tuple<std::string, std::string, int>, CollectiveUse> uses;
    for (const Kernel& kernel : step.kernels) {
        if (kernel.kind != KernelKind::communication)
            continue;
        CollectiveUse& use = uses[{kernel.collective, kernel.group, kernel.ranks}];
        use.collective = kernel.collective;
        use.group = kernel.group;
        use.ranks = kernel.ranks;
        ++use.count;
        use.bytes += kernel.bytes;
        use.busy_s += kernel.end_s - kernel.start_s;
    }
    std::vector<CollectiveUse> list;
    for (auto& [key, use] : uses)
        list.push_back(std::move(use));
    std::stable_sort(
        list.begin(), list.end(), [](const CollectiveUse& a, const CollectiveUse& b) { return a.busy_s > b.busy_s; });
    return list;
}

} // namespace fourfold
