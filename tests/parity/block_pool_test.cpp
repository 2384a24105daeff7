// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks that a rank's tensors lie in: none lies in another, and no more is resident than they took at once.
#include "runner/trainer/device/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

namespace fourfold::trainer {
namespace {

constexpr std::size_t kMiB = std::size_t(1) << 20;

std::size_t resident_bytes()
{
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * 4096;
}

struct Block {
    char* at = nullptr;
    std::size_t bytes = 0;
    char mark = 0;
};

Block taken(BlockPool& pool, std::size_t bytes, char mark)
{
    Block block{static_cast<char*>(pool.take(bytes)), bytes, mark};
    if (block.at != nullptr)
        std::memset(block.at, mark, bytes);
    return block;
}

bool holds_its_mark(const Block& block)
{
    return std::all_of(block.at, block.at + block.bytes, [&](char c) { return c == block.mark; });
}

// As tensors do, with sizes that no other step had.
TEST(BlockPool, BlocksNeverShareMemory)
{
    const auto pool = BlockPool::reserve(256 * kMiB);
    ASSERT_NE(pool, nullptr);
    std::mt19937 random(7);
    std::vector<Block> live;
    std::size_t bytes = 0;
    for (int turn = 0; turn < 1500; ++turn) {
        if (live.size() < 20 || random() % 2 == 0) {
            live.push_back(taken(*pool, 1 + random() % kMiB, char(turn)));
            ASSERT_NE(live.back().at, nullptr);
            EXPECT_EQ(reinterpret_cast<std::size_t>(live.back().at) % 4096, 0U);
        } else {
            const std::size_t one = random() % live.size();
            ASSERT_TRUE(holds_its_mark(live[one])) << "turn " << turn;
            ASSERT_TRUE(pool->give_back(live[one].at));
            live.erase(live.begin() + std::ptrdiff_t(one));
        }
        if (live.size() > 60) {
            for (const Block& block : live)
                ASSERT_TRUE(holds_its_mark(block)) << "turn " << turn;
            while (live.size() > 10) {
                pool->give_back(live.back().at);
                live.pop_back();
            }
            pool->release_unused();
        }
    }
    for (const Block& block : live) {
        EXPECT_TRUE(holds_its_mark(block));
        bytes += (block.bytes + 4095) / 4096 * 4096;
    }
    EXPECT_EQ(pool->taken(), bytes);
}

// Every round leaves gaps that the next one's larger blocks do not fit in: a heap would be twice as large after it.
TEST(BlockPool, NoMoreIsResidentThanBlocksTook)
{
    const auto pool = BlockPool::reserve(4096 * kMiB);
    ASSERT_NE(pool, nullptr);
    const std::size_t before = resident_bytes();
    std::size_t most_resident = 0;
    for (std::size_t round = 0; round < 6; ++round) {
        std::vector<Block> live;
        const std::size_t bytes = (8 + round) * kMiB;
        for (std::size_t total = 0; total + bytes <= 192 * kMiB; total += bytes) {
            live.push_back(taken(*pool, bytes, char(round)));
            ASSERT_NE(live.back().at, nullptr);
        }
        for (std::size_t i = 0; i < live.size(); i += 2) // every second stays, until the round ends
            pool->give_back(live[i].at);
        live.push_back(taken(*pool, 60 * kMiB, 'x'));
        most_resident = std::max(most_resident, resident_bytes() - std::min(before, resident_bytes()));
        EXPECT_LE(pool->touched(), pool->most_taken() + 3 * BlockPool::kChunk) << "round " << round;
        for (std::size_t i = 1; i < live.size(); i += 2)
            pool->give_back(live[i].at);
        pool->give_back(live.back().at);
    }
    EXPECT_LE(most_resident, pool->most_taken() + 8 * kMiB);
    EXPECT_GE(most_resident, pool->most_taken() / 2) << "nothing was touched";
}

TEST(BlockPool, WhatAStepDidNotUseGoesBackToTheSystem)
{
    const auto pool = BlockPool::reserve(512 * kMiB);
    ASSERT_NE(pool, nullptr);
    const Block stays = taken(*pool, 8 * kMiB, 's'), once = taken(*pool, 128 * kMiB, 'o');
    const std::size_t with_both = resident_bytes();
    pool->give_back(once.at);
    pool->release_unused(); // it was used in this step
    EXPECT_GT(resident_bytes() + 16 * kMiB, with_both);
    for (int step = 0; step < 2; ++step) {
        pool->give_back(taken(*pool, 4 * kMiB, 'e').at);
        pool->release_unused();
    }
    EXPECT_LT(resident_bytes() + 100 * kMiB, with_both);
    EXPECT_TRUE(holds_its_mark(stays));
    const Block again = taken(*pool, 128 * kMiB, 'a');
    EXPECT_TRUE(holds_its_mark(again) && holds_its_mark(stays));
}

TEST(BlockPool, TakesNoBlockThatIsNotItsOwn)
{
    const auto pool = BlockPool::reserve(16 * kMiB);
    ASSERT_NE(pool, nullptr);
    char other = 0;
    EXPECT_FALSE(pool->give_back(&other));
    EXPECT_FALSE(pool->give_back(nullptr));
    char* const block = static_cast<char*>(pool->take(kMiB));
    EXPECT_FALSE(pool->give_back(block + 4096)) << "within one of its own";
    EXPECT_TRUE(pool->give_back(block));
    EXPECT_FALSE(pool->give_back(block)) << "twice";
    EXPECT_EQ(pool->taken(), 0U);
}

TEST(BlockPool, SaysWhereItHasNoRoom)
{
    const auto pool = BlockPool::reserve(16 * kMiB);
    ASSERT_NE(pool, nullptr);
    void* const most = pool->take(12 * kMiB);
    EXPECT_NE(most, nullptr);
    EXPECT_EQ(pool->take(8 * kMiB), nullptr);
    EXPECT_NE(pool->take(2 * kMiB), nullptr);
    pool->give_back(most);
    EXPECT_NE(pool->take(8 * kMiB), nullptr);
    EXPECT_EQ(BlockPool::reserve(std::size_t(1) << 62), nullptr) << "more than there are addresses";
}

TEST(BlockPool, ServesSeveralThreads)
{
    const auto pool = BlockPool::reserve(512 * kMiB);
    ASSERT_NE(pool, nullptr);
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (std::size_t own = 0; own < wrong.size(); ++own)
        threads.emplace_back([&, own] {
            for (std::size_t turn = 0; turn < 300; ++turn) {
                const Block block = taken(*pool, (1 + (turn * 7 + own) % 9) * 100'000, char('a' + own));
                wrong[own] += block.at == nullptr || !holds_its_mark(block) || !pool->give_back(block.at) ? 1 : 0;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
    EXPECT_EQ(pool->taken(), 0U);
}

} // namespace
} // namespace fourfold::trainer
