// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/device_graph.h"

#include "runner/trainer/rehearsal/rehearsed_device.h"

#include <ATen/core/Tensor.h>

#include <utility>

namespace fourfold::trainer {

namespace {
// What the device computes for one call, in memory that the recording took.
class RehearsedGraph final : public DeviceGraph {
public:
    RehearsedGraph(const KernelWork& recorded, const std::vector<at::Tensor>& results)
        : work_(recorded)
    {
        work_.launches = 1;
        for (const at::Tensor& result : results)
            writes_.push_back(bytes_of(result));
    }
    void replay() override
    {
        Ledger& ledger = *rehearsed_ledger();
        if (ledger.has_under_way())
            for (const auto& [begin, end] : writes_)
                ledger.touches(begin, end, true);
        ledger.compute(work_);
    }

private:
    KernelWork work_;
    std::vector<std::pair<uint64_t, uint64_t>> writes_;
};

class RehearsedGraphRecorder final : public GraphRecorder {
public:
    void warm_up(const Work& work) override
    {
        (void)apart(stream_, work);
        ledger_.give_back_segments();
    }
    void begin_pool() override { pool_ = ledger_.new_pool(true); }
    Recorded record(Work work) override
    {
        auto [results, recorded] = apart(pool_, work);
        auto graph = std::make_unique<RehearsedGraph>(recorded, results);
        return {std::move(graph), std::move(results)};
    }

private:
    std::pair<std::vector<at::Tensor>, KernelWork> apart(int pool, const Work& work)
    {
        ledger_.begin_apart(pool);
        std::vector<at::Tensor> results = work();
        return {std::move(results), ledger_.end_apart()};
    }

    Ledger& ledger_ = *rehearsed_ledger();
    int stream_ = ledger_.new_pool(false), pool_ = 0; // what the recordings' stream takes for itself; of the graphs
};
} // namespace

std::unique_ptr<GraphRecorder> rehearsed_graphs()
{
    return std::make_unique<RehearsedGraphRecorder>();
}

} // namespace fourfold::trainer
