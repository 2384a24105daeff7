// SPDX-License-Identifier: GPL-3.0-or-later
// The model of the caching allocator: its documented cases, and against a naive one.
#include "core/rehearsal/caching_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
    CachingAllocator memory({.capacity = 60 * kMiB});
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

constexpr AllocatorSettings kExpandable{.expandable = true};

TEST(ExpandableSegments, GrowPageByPage)
{
    CachingAllocator memory(kExpandable);
    const uint64_t first = memory.allocate(30 * kMiB);
    EXPECT_EQ(memory.reserved(), 40 * kMiB) << "two pages of 20";
    const uint64_t second = memory.allocate(30 * kMiB);
    EXPECT_EQ(second, first + 30 * kMiB);
    EXPECT_EQ(memory.reserved(), 60 * kMiB) << "ten were left of the second page";
    memory.allocate(1);
    EXPECT_EQ(memory.reserved(), 62 * kMiB) << "small ones have pages of 2 of their own";
    memory.free(first);
    memory.free(second);
    EXPECT_EQ(memory.allocate(60 * kMiB), first) << "one segment: what was free behind each other is one block";
    EXPECT_EQ(memory.reserved(), 62 * kMiB);
}

TEST(ExpandableSegments, AreSplitToTheLastBlock)
{
    CachingAllocator memory(kExpandable);
    memory.allocate(20 * kMiB - 512);
    EXPECT_EQ(memory.allocated(), 20 * kMiB - 512);
    memory.allocate(20 * kMiB);
    EXPECT_EQ(memory.allocated(), 40 * kMiB - 512);
}

// The rest of the last page is the smaller one, but the segment may need it to grow.
TEST(ExpandableSegments, HolesAreTakenBeforeTheEnd)
{
    CachingAllocator memory(kExpandable);
    memory.allocate(25 * kMiB);
    const uint64_t hole = memory.allocate(25 * kMiB);
    memory.allocate(25 * kMiB);
    memory.free(hole);
    EXPECT_EQ(memory.allocate(3 * kMiB), hole);
    EXPECT_EQ(memory.reserved(), 80 * kMiB);
}

TEST(ExpandableSegments, GiveBackPagesBeforeMemoryRunsOut)
{
    CachingAllocator memory({.capacity = 100 * kMiB, .expandable = true});
    memory.allocate(30 * kMiB);
    const uint64_t middle = memory.allocate(30 * kMiB);
    memory.allocate(30 * kMiB);
    EXPECT_EQ(memory.reserved(), 100 * kMiB);
    memory.free(middle);
    memory.allocate(1);
    EXPECT_FALSE(memory.ran_out());
    EXPECT_EQ(memory.reserved(), 82 * kMiB) << "of the free 30 MiB one page is whole";
    EXPECT_EQ(memory.allocate(10 * kMiB), middle) << "what is left of it before the page";
    EXPECT_EQ(memory.reserved(), 82 * kMiB);
    memory.allocate(18 * kMiB);
    EXPECT_TRUE(memory.ran_out()) << "it takes a page, and there is room for 18";
    EXPECT_EQ(memory.reserved(), 102 * kMiB) << "the same addresses have memory again";
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

// Two ranges of addresses whose blocks of 512 bytes each are used, free or without memory.
class NaiveExpandable {
public:
    explicit NaiveExpandable(uint64_t capacity)
        : capacity_(capacity)
    {
    }
    uint64_t allocate(uint64_t bytes)
    {
        const std::size_t size = (bytes + 511) / 512;
        Range& range = ranges_[size * 512 <= kMiB ? 0 : 1];
        range.units.resize(range.units.size() + size + range.page, kNone);
        std::size_t at = fit(range, size);
        if (at == kNowhere) {
            at = lowest(range, size);
            if (reserved + needed(range, at, size) > capacity_) {
                give_back();
                at = lowest(range, size);
                ran_out |= reserved + needed(range, at, size) > capacity_;
            }
            reserved += needed(range, at, size);
            for (std::size_t i = at / range.page * range.page; i < at + size || i % range.page != 0; ++i)
                range.units[i] = range.units[i] == kNone ? kFree : range.units[i];
        }
        std::fill_n(range.units.begin() + long(at), size, kUsed);
        held_[++last_] = {&range, at, size};
        allocated += size * 512;
        return last_;
    }
    void free(uint64_t id)
    {
        const auto [range, at, size] = held_.at(id);
        std::fill_n(range->units.begin() + long(at), size, kFree);
        allocated -= size * 512;
        held_.erase(id);
    }
    uint64_t allocated = 0, reserved = 0;
    bool ran_out = false;

private:
    enum Unit : char { kNone, kFree, kUsed };
    static constexpr std::size_t kNowhere = std::size_t(-1);
    struct Range {
        std::size_t page; // units
        std::vector<Unit> units = {};
    };
    struct Held {
        Range* range;
        std::size_t at, size;
    };
    // End of the run from `at` on of which each unit `is` so.
    template <typename Is>
    static std::size_t end_of(const Range& range, std::size_t at, Is&& is)
    {
        while (at < range.units.size() && is(range.units[at]))
            ++at;
        return at;
    }
    static std::size_t fit(const Range& range, std::size_t size)
    {
        const auto free = [](Unit unit) { return unit == kFree; };
        const auto none = [](Unit unit) { return unit == kNone; };
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> runs; // bytes and place: with what it can become
        for (std::size_t at = 0; at < range.units.size();) {
            const std::size_t end = end_of(range, at, free);
            if (end - at >= size) {
                const std::size_t room = end_of(range, end, none);
                runs[{end - at, at}] = (room == range.units.size() && room > end ? room + (1u << 30) : room) - at;
            }
            at = end + 1;
        }
        if (runs.empty())
            return kNowhere;
        auto best = runs.begin();
        for (auto next = std::next(best); next != runs.end() && next->second < best->second; ++next)
            best = next;
        return best->first.second;
    }
    static std::size_t lowest(const Range& range, std::size_t size)
    {
        for (std::size_t at = 0;; ++at) {
            const std::size_t end = end_of(range, at, [](Unit unit) { return unit != kUsed; });
            if (end - at >= size
                && std::find(range.units.begin() + long(at), range.units.begin() + long(end), kNone)
                    != range.units.begin() + long(end))
                return at;
            at = end;
        }
    }
    static uint64_t needed(const Range& range, std::size_t at, std::size_t size)
    {
        uint64_t bytes = 0;
        for (std::size_t page = at / range.page; page * range.page < at + size; ++page)
            bytes += range.units[page * range.page] == kNone ? range.page * 512 : 0;
        return bytes;
    }
    void give_back()
    {
        for (Range& range : ranges_)
            for (std::size_t at = 0; at + range.page <= range.units.size(); at += range.page)
                if (end_of(range, at, [](Unit unit) { return unit == kFree; }) >= at + range.page) {
                    std::fill_n(range.units.begin() + long(at), range.page, kNone);
                    reserved -= range.page * 512;
                }
    }
    uint64_t capacity_;
    std::array<Range, 2> ranges_{Range{2 * kMiB / 512}, Range{20 * kMiB / 512}};
    std::map<uint64_t, Held> held_;
    uint64_t last_ = 0;
};

TEST(ExpandableSegments, AgreeWithNaiveOnes)
{
    std::mt19937_64 random(5);
    for (const uint64_t capacity : {uint64_t(1) << 40, 90 * kMiB, 60 * kMiB}) {
        CachingAllocator memory({.capacity = capacity, .expandable = true});
        NaiveExpandable naive(capacity);
        std::vector<std::pair<uint64_t, uint64_t>> held;
        for (int i = 0; i < 300; ++i) {
            if (!held.empty() && (held.size() > 25 || random() % 5 < 2)) {
                const std::size_t at = random() % held.size();
                memory.free(held[at].first);
                naive.free(held[at].second);
                held.erase(held.begin() + long(at));
            } else {
                const uint64_t bytes = 1 + random() % (uint64_t(1) << (9 + random() % 15));
                held.emplace_back(memory.allocate(bytes), naive.allocate(bytes));
            }
            ASSERT_EQ(memory.allocated(), naive.allocated) << capacity << " " << i;
            ASSERT_EQ(memory.reserved(), naive.reserved) << capacity << " " << i;
            ASSERT_EQ(memory.ran_out(), naive.ran_out) << capacity << " " << i;
        }
    }
}

} // namespace
} // namespace fourfold::test
