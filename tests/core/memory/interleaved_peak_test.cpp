// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/interleaved_peak.h"
#include "core/memory/replay.h"

#include <gtest/gtest.h>

#include <random>

namespace fourfold {
namespace {

// The rank's list replayed with these bytes.
double replayed(const std::vector<ChunkBytes>& chunks, const std::vector<Action>& actions, int stage, int pp)
{
    StageProgram program;
    for (std::size_t row = 0; row < chunks.size(); ++row) {
        ChunkProgram chunk;
        chunk.chunk = int(row) * pp + stage;
        chunk.allocations = {{MemoryKind::activations, Lifetime::micro_batch, chunks[row].kept, "", ""},
            {MemoryKind::activations, Lifetime::forward, chunks[row].in_forward, "", ""},
            {MemoryKind::activations, Lifetime::backward, chunks[row].in_backward, "", ""}};
        program.chunks.push_back(std::move(chunk));
    }
    return replay_memory(program, actions).total();
}

TEST(InterleavedPeak, EqualsTheReplayOfTheActionList)
{
    std::mt19937 random(5);
    const auto bytes = [&](double most) { return std::uniform_real_distribution(0.0, most)(random); };
    for (int round = 0; round < 1500; ++round) {
        const int pp = 2 + int(random() % 7), rows = 2 + int(random() % 6),
                  micro_batches = pp * (1 + int(random() % 5));
        // Chunks are alike, or like those of a model (embedding, head, one layer more), or arbitrary.
        std::vector<ChunkBytes> chunks(std::size_t(rows), {100 + bytes(50), bytes(20), bytes(80)});
        if (round % 3 == 1) {
            chunks.front().kept += 30;
            chunks.back().in_backward += bytes(400);
        }
        for (ChunkBytes& chunk : chunks) {
            if (round % 3 == 2)
                chunk = {bytes(100), bytes(100), bytes(100)};
        }
        const auto lists = make_schedule(Schedule::interleaved, pp, rows, micro_batches);
        ASSERT_TRUE(lists);
        double before = 0;
        for (int stage = pp - 1; stage >= 0; --stage) {
            const double peak = interleaved_peak(chunks, stage, pp, micro_batches);
            const double expected = replayed(chunks, (*lists)[std::size_t(stage)], stage, pp);
            ASSERT_NEAR(peak, expected, 1e-9 * expected)
                << "round " << round << ", stage " << stage << " of " << pp << ", " << rows << " chunks, "
                << micro_batches << " micro-batches";
            ASSERT_GE(peak, before * (1 - 1e-12)) << "an earlier stage keeps no less";
            before = peak;
        }
    }
}

} // namespace
} // namespace fourfold
