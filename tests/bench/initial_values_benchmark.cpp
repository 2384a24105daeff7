// SPDX-License-Identifier: GPL-3.0-or-later
// How long one rank of Llama 3.1 8B on eight tensor-parallel ranks takes to make its eighth of the weights, in fp32:
// bench_initial_values [THREADS]. Needs 4 GiB of memory.
#include "core/base/parallel.h"
#include "core/plan/presets.h"
#include "runner/trainer/model/initial_values.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv)
{
    using namespace fourfold;
    using Clock = std::chrono::steady_clock;
    const int threads = argc > 1 ? std::atoi(argv[1]) : 0; // 0: one per core
    const auto plan = parse_plan(R"({"fourfold_plan": 1, "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8,
        "layout": {"tp": 8}, "stack": "fourfold", "training": {"global_batch": 8, "seq_len": 8192}})",
        "benchmark");
    const auto resolved = plan ? resolve(*plan, Presets()) : Expected<ResolvedPlan>(plan.error());
    if (!resolved) {
        std::fprintf(stderr, "%s\n", resolved.error().line().c_str());
        return 1;
    }
    const auto shards = trainer::shard_table(*resolved, {0}, 0, 0);
    int64_t elements = 0;
    for (const trainer::Shard& shard : shards)
        elements += shard.elements();
    std::vector<float> values(std::size_t(elements), 0.F); // touched before: the kernel's pages are not measured
    const auto begin = Clock::now();
    float* next = values.data();
    for (const trainer::Shard& shard : shards) {
        constexpr int64_t kPiece = 1 << 18;
        const std::size_t pieces = std::size_t((shard.elements() + kPiece - 1) / kPiece);
        for_each_parallel(pieces, threads, [&](std::size_t piece) {
            const int64_t from = int64_t(piece) * kPiece;
            const auto count = std::size_t(std::min(kPiece, shard.elements() - from));
            trainer::fill_initial_values<float>(shard, 1, from, {next + from, count});
        });
        next += shard.elements();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%.0f million weights in %.2f s: %.2f ns each\n", double(elements) / 1e6, seconds,
        seconds / double(elements) * 1e9);
    return 0;
}
