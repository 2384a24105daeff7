// SPDX-License-Identifier: GPL-3.0-or-later
// The model of the caching allocator: its documented cases, and against a naive one.
#include "core/rehearsal/caching_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace fourfold::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(CachingAllocator, SegmentsBySize)
{
    const auto reserved_by = [](uint64_t bytes) {
        CachingAllocator memory;
        memory.allocate(bytes);
        return memory.reserved();
    };
    EXPECT_EQ(reserved_by(1), 2 * kMiB);
    EXPECT_EQ(reserved_by(kMiB), 2 * kMiB);
    EXPECT_EQ(reserved_by(kMiB + 1), 20 * kMiB);
    EXPECT_EQ(reserved_by(10 * kMiB - 512), 20 * kMiB);
    EXPECT_EQ(reserved_by(10 * kMiB), 10 * kMiB);
    EXPECT_EQ(reserved_by(11 * kMiB), 12 * kMiB);
    EXPECT_EQ(reserved_by(100 * kMiB + 1), 102 * kMiB);
}

TEST(CachingAllocator, SizesAreRoundedAndCounted)
{
    CachingAllocator memory;
    const uint64_t one = memory.allocate(513), two = memory.allocate(1);
    EXPECT_EQ(memory.allocated(), 1024 + 512);
    memory.free(one);
    EXPECT_EQ(memory.allocated(), 512);
    memory.free(two);
    EXPECT_EQ(memory.allocated(), 0);
    EXPECT_EQ(memory.peak_allocated(), 1024 + 512);
    EXPECT_EQ(memory.peak_requested(), 514);
    EXPECT_EQ(memory.reserved(), 2 * kMiB) << "kept for later";
}

TEST(CachingAllocator, WhatIsFreeIsTakenAgain)
{
    CachingAllocator memory;
    const uint64_t large = memory.allocate(30 * kMiB);
    memory.free(large);
    EXPECT_EQ(memory.allocate(28 * kMiB), large);
    EXPECT_EQ(memory.reserved(), 30 * kMiB);
    memory.allocate(2 * kMiB);
    EXPECT_EQ(memory.reserved(), 30 * kMiB) << "the rest of 2 MiB, more than 1, was split off";
    memory.allocate(2 * kMiB);
    EXPECT_EQ(memory.reserved(), 50 * kMiB);
}

// As beginAllocateToPool() has it for graphs, and every stream beside the first.
TEST(CachingAllocator, PoolsShareNoMemory)
{
    CachingAllocator memory;
    const int stream = memory.new_pool(false), graphs = memory.new_pool(true);
    memory.free(memory.allocate(30 * kMiB));
    std::vector<uint64_t> addresses;
    for (const int pool : {stream, graphs, 0}) {
        memory.use_pool(pool);
        addresses.push_back(memory.allocate(30 * kMiB));
    }
    EXPECT_EQ(memory.reserved(), 90 * kMiB) << "the first pool's block was taken again, by the first pool alone";
    memory.use_pool(0);
    for (const uint64_t address : addresses) // to where it came from
        memory.free(address);
    memory.use_pool(graphs);
    EXPECT_EQ(memory.allocate(30 * kMiB), addresses[1]);
    memory.free(addresses[1]);
    memory.give_back_segments();
    EXPECT_EQ(memory.reserved(), 30 * kMiB) << "graphs keep theirs";
}

TEST(CachingAllocator, ARestOfOneMebibyteIsNotSplitOff)
{
    CachingAllocator memory;
    const uint64_t first = memory.allocate(12 * kMiB);
    memory.free(first);
    memory.allocate(11 * kMiB);
    EXPECT_EQ(memory.allocated(), 12 * kMiB) << "the whole block is in use";
}

TEST(CachingAllocator, FragmentsAreJoinedOnlyWithNeighbours)
{
    CachingAllocator memory;
    std::vector<uint64_t> blocks;
    for (int i = 0; i < 4; ++i)
        blocks.push_back(memory.allocate(5 * kMiB)); // one segment of 20 MiB
    EXPECT_EQ(memory.reserved(), 20 * kMiB);
    memory.free(blocks[0]);
    memory.free(blocks[2]);
    memory.allocate(8 * kMiB);
    EXPECT_EQ(memory.reserved(), 40 * kMiB) << "10 MiB are free, no 8 in one piece";
    memory.free(blocks[1]);
    memory.allocate(15 * kMiB);
    EXPECT_EQ(memory.reserved(), 40 * kMiB) << "three neighbours are one block now";
}

TEST(CachingAllocator, GivesBackWholeSegmentsBeforeItRunsOut)
{
    CachingAllocator memory(60 * kMiB);
    const uint64_t first = memory.allocate(30 * kMiB), second = memory.allocate(20 * kMiB);
    EXPECT_EQ(memory.reserved(), 50 * kMiB);
    memory.free(first);
    memory.allocate(40 * kMiB);
    EXPECT_FALSE(memory.ran_out());
    EXPECT_EQ(memory.reserved(), 60 * kMiB) << "30 MiB were given back";
    EXPECT_EQ(memory.peak_reserved(), 60 * kMiB);
    memory.free(second);
    const uint64_t part = memory.allocate(8 * kMiB); // of the 20
    memory.allocate(21 * kMiB);
    EXPECT_TRUE(memory.ran_out()) << "the segment of 20 MiB is in use in part";
    memory.free(part);
}

// Every byte of every segment has an owner or is free; the smallest block that fits is found by looking at all.
class NaiveAllocator {
public:
    uint64_t allocate(uint64_t bytes)
    {
        const uint64_t size = (bytes + 511) / 512 * 512;
        const bool small = size <= kMiB;
        Piece* best = nullptr;
        for (auto& segment : segments_)
            for (Piece& piece : segment.pieces)
                if (segment.small == small && !piece.used && piece.bytes >= size
                    && (!best || piece.bytes < best->bytes))
                    best = &piece;
        if (!best) {
            const uint64_t whole = small ? 2 * kMiB
                : size < 10 * kMiB       ? 20 * kMiB
                                         : (size + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
            segments_.push_back({small, {{whole, false, 0}}});
            best = &segments_.back().pieces.back();
            reserved += whole;
        }
        for (auto& segment : segments_)
            for (std::size_t i = 0; i < segment.pieces.size(); ++i)
                if (&segment.pieces[i] == best) {
                    const uint64_t left = best->bytes - size;
                    const bool splits = small ? left >= 512 : left > kMiB;
                    segment.pieces[i] = {splits ? size : best->bytes, true, ++last_};
                    allocated += segment.pieces[i].bytes;
                    if (splits)
                        segment.pieces.insert(segment.pieces.begin() + long(i) + 1, {left, false, 0});
                    return last_;
                }
        return 0;
    }
    void free(uint64_t id)
    {
        for (auto& segment : segments_)
            for (std::size_t i = 0; i < segment.pieces.size(); ++i)
                if (segment.pieces[i].id == id) {
                    segment.pieces[i].used = false;
                    segment.pieces[i].id = 0;
                    allocated -= segment.pieces[i].bytes;
                    for (std::size_t j = segment.pieces.size(); j-- > 1;)
                        if (!segment.pieces[j].used && !segment.pieces[j - 1].used) {
                            segment.pieces[j - 1].bytes += segment.pieces[j].bytes;
                            segment.pieces.erase(segment.pieces.begin() + long(j));
                        }
                    return;
                }
    }
    uint64_t allocated = 0, reserved = 0;

private:
    struct Piece {
        uint64_t bytes;
        bool used;
        uint64_t id;
    };
    struct Segment {
        bool small;
        std::vector<Piece> pieces;
    };
    std::vector<Segment> segments_;
    uint64_t last_ = 0;
};

TEST(CachingAllocator, AgreesWithANaiveOne)
{
    std::mt19937_64 random(3);
    for (int round = 0; round < 20; ++round) {
        CachingAllocator memory;
        NaiveAllocator naive;
        std::vector<std::pair<uint64_t, uint64_t>> held;
        for (int i = 0; i < 400; ++i) {
            if (!held.empty() && random() % 5 < 2) {
                const std::size_t at = random() % held.size();
                memory.free(held[at].first);
                naive.free(held[at].second);
                held.erase(held.begin() + long(at));
            } else {
                const uint64_t bytes = 1 + random() % (uint64_t(1) << (9 + random() % 17));
                held.emplace_back(memory.allocate(bytes), naive.allocate(bytes));
            }
            ASSERT_EQ(memory.allocated(), naive.allocated) << round << " " << i;
            ASSERT_EQ(memory.reserved(), naive.reserved) << round << " " << i;
        }
    }
}

} // namespace
} // namespace fourfold::test
