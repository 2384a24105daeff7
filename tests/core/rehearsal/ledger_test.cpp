// SPDX-License-Identifier: GPL-3.0-or-later
// A pass that is played from its tape leaves the ledger as the pass itself would have; what cannot be played is
// noticed.
#include "core/rehearsal/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold::test {
namespace {

using testing::HasSubstr;

constexpr Action forward(int micro_batch)
{
    return {ActionKind::forward, micro_batch, 0};
}
constexpr Action backward(int micro_batch)
{
    return {ActionKind::backward, micro_batch, 0};
}

// A chunk that keeps an activation from its forward to its backward, sums something over a group, and adds to a
// counter.
struct Chunk {
    Ledger ledger;
    std::vector<uint64_t> kept, given;
    int counted = 0;

    Chunk() { ledger.program.wires = {{"tp/0", {0, 1}}}; }
    void run_forward(int micro_batch)
    {
        ledger.compute({.flops = 10, .seconds = 1, .launches = 1});
        const uint64_t workspace = ledger.allocate(1000);
        kept.resize(std::max(kept.size(), std::size_t(micro_batch) + 1));
        kept[std::size_t(micro_batch)] = ledger.allocate(5000);
        WireOperation sum;
        sum.kind = "all_reduce";
        sum.elements = 8;
        const int asked = ledger.ask(sum);
        ledger.compute({.seconds = 2});
        ledger.wait(asked);
        ledger.free(workspace);
        ledger.lasting({"count", 0}, [this] { ++counted; });
        given.push_back(ledger.allocate(300));
        ledger.compute({.seconds = 4});
    }
    void run_backward(int micro_batch)
    {
        const uint64_t gradient = ledger.allocate(7000);
        ledger.free(kept[std::size_t(micro_batch)]);
        ledger.free(gradient);
        ledger.compute({.flops = 20, .seconds = 8, .launches = 2});
    }
    Tape take_forward(int micro_batch)
    {
        ledger.begin_pass(forward(micro_batch));
        ledger.record();
        run_forward(micro_batch);
        Tape tape = ledger.recorded(given.back());
        ledger.end_pass();
        return tape;
    }
    Tape take_backward(int micro_batch)
    {
        ledger.begin_pass(backward(micro_batch));
        ledger.record();
        run_backward(micro_batch);
        Tape tape = ledger.recorded(0);
        ledger.end_pass();
        return tape;
    }
};

TEST(Ledger, APlayedPassDoesWhatThePassDoes)
{
    Chunk whole, folded;
    std::optional<Tape> forwards, backwards;
    for (int i = 0; i < 5; ++i) {
        const Tape tape = whole.take_forward(i);
        EXPECT_TRUE(tape.repeats);
        EXPECT_TRUE(!forwards || tape.same(*forwards)) << i;
        forwards = tape;
    }
    for (int i = 0; i < 5; ++i)
        (void)whole.take_backward(i);

    const Tape first = folded.take_forward(0);
    for (int i = 1; i < 5; ++i) {
        folded.ledger.begin_pass(forward(i));
        folded.given.push_back(folded.ledger.play(first));
        folded.ledger.end_pass();
    }
    const Tape back = folded.take_backward(0);
    for (int i = 1; i < 5; ++i) {
        folded.ledger.begin_pass(backward(i));
        EXPECT_EQ(folded.ledger.play(back), 0U);
        folded.ledger.end_pass();
    }
    for (Chunk* chunk : {&whole, &folded})
        for (const uint64_t given : chunk->given)
            chunk->ledger.free(given);
    EXPECT_EQ(folded.counted, 5);
    EXPECT_EQ(folded.ledger.program.steps, whole.ledger.program.steps);
    EXPECT_EQ(folded.ledger.program.work_s, whole.ledger.program.work_s);
    EXPECT_EQ(folded.ledger.program.operations, whole.ledger.program.operations);
    EXPECT_EQ(folded.ledger.program.passes, whole.ledger.program.passes);
    EXPECT_EQ(folded.ledger.program.last_work_s, whole.ledger.program.last_work_s);
    EXPECT_EQ(folded.ledger.total(), whole.ledger.total());
    EXPECT_EQ(folded.ledger.memory().peak_requested(), whole.ledger.memory().peak_requested());
    EXPECT_EQ(folded.ledger.memory().peak_reserved(), whole.ledger.memory().peak_reserved());
    EXPECT_EQ(folded.ledger.memory().allocated(), 0U);
    EXPECT_FALSE(folded.ledger.lost_track());
}

TEST(Ledger, TapesDifferWhereAnyThingDoes)
{
    const auto tape = [](const std::function<void(Ledger&)>& more) {
        Chunk chunk;
        chunk.ledger.begin_pass(forward(0));
        chunk.ledger.record();
        chunk.run_forward(0);
        more(chunk.ledger);
        return chunk.ledger.recorded(chunk.given.back());
    };
    const Tape plain = tape([](Ledger&) {});
    EXPECT_TRUE(plain.same(tape([](Ledger&) {})));
    EXPECT_FALSE(plain.same(tape([](Ledger& ledger) { ledger.compute({.seconds = 0.5}); })));
    EXPECT_FALSE(plain.same(tape([](Ledger& ledger) { (void)ledger.allocate(1); })));
    EXPECT_FALSE(plain.same(tape([](Ledger& ledger) { ledger.lasting({"count", 1}, [] {}); })));
    EXPECT_FALSE(plain.same(tape([](Ledger& ledger) { (void)ledger.ask({}); })));
}

TEST(Ledger, WhatOtherPassesLeftCannotBePlayed)
{
    Chunk chunk;
    const uint64_t before = chunk.ledger.allocate(64);
    (void)chunk.take_forward(0);
    (void)chunk.take_forward(1);
    chunk.ledger.begin_pass(backward(1));
    chunk.ledger.record();
    chunk.ledger.free(chunk.kept[0]); // of another micro-batch
    EXPECT_FALSE(chunk.ledger.recorded(0).repeats);
    chunk.ledger.record();
    chunk.ledger.free(before); // of no pass
    EXPECT_FALSE(chunk.ledger.recorded(0).repeats);
    chunk.ledger.end_pass();
    EXPECT_FALSE(chunk.ledger.lost_track());
    chunk.ledger.free(chunk.kept[1]); // nobody's backward
    EXPECT_TRUE(chunk.ledger.lost_track());
}

// What the first pass takes for all is on no tape: the second is like it, and plays it.
TEST(Ledger, MemoryForGoodIsOnNoTape)
{
    Chunk chunk;
    const auto taken = [&](int micro_batch) {
        chunk.ledger.begin_pass(forward(micro_batch));
        chunk.ledger.record();
        if (micro_batch == 0)
            chunk.ledger.allocate_for_good(2048);
        chunk.run_forward(micro_batch);
        Tape tape = chunk.ledger.recorded(chunk.given.back());
        chunk.ledger.end_pass();
        return tape;
    };
    const Tape first = taken(0);
    const uint64_t before = chunk.ledger.memory().allocated();
    EXPECT_TRUE(taken(1).same(first));
    const uint64_t one = chunk.ledger.memory().allocated() - before;
    EXPECT_EQ(before, one + 2048);
    EXPECT_FALSE(chunk.ledger.lost_track());
}

TEST(Ledger, MemoryRunsOutInANamedPass)
{
    Ledger ledger({.capacity = uint64_t(30) << 20});
    (void)ledger.allocate(uint64_t(20) << 20);
    EXPECT_EQ(ledger.ran_out(), "");
    ledger.begin_pass({ActionKind::forward, 3, 1});
    (void)ledger.allocate(uint64_t(12) << 20);
    ledger.end_pass();
    EXPECT_THAT(ledger.ran_out(), HasSubstr("in the forward of micro-batch 3, chunk 1"));
}

// Memory of an operation under way: what it reads may be read, what it writes is nobody's until it is waited for.
TEST(Ledger, MemoryUnderWayIsLeftAlone)
{
    const auto found = [](const std::function<void(Ledger&, int operation, uint64_t address)>& use, bool writes) {
        Ledger ledger;
        ledger.program.wires = {{"dp/0", {0, 1}}};
        const uint64_t address = ledger.allocate(4096);
        const int operation = ledger.ask({.kind = "all_gather", .elements = 1024});
        ledger.keeps(operation, address, address + 2048, writes);
        use(ledger, operation, address);
        return ledger.misused();
    };
    const auto reads
        = [](Ledger& ledger, int, uint64_t address) { ledger.touches(address + 100, address + 104, false); };
    const auto writes = [](Ledger& ledger, int, uint64_t address) { ledger.touches(address, address + 4, true); };
    const auto beside
        = [](Ledger& ledger, int, uint64_t address) { ledger.touches(address + 2048, address + 4096, true); };
    const auto gives = [](Ledger& ledger, int, uint64_t address) {
        ledger.keeps(ledger.ask({.kind = "all_reduce", .elements = 8}), address + 2000, address + 3000, true);
    };
    const auto frees = [](Ledger& ledger, int, uint64_t address) { ledger.free(address); };
    const auto waits = [](Ledger& ledger, int operation, uint64_t address) {
        ledger.wait(operation);
        ledger.touches(address, address + 4096, true);
        ledger.free(address);
    };
    EXPECT_EQ(found(reads, false), "");
    EXPECT_EQ(found(reads, true), "memory of operation 1: all_gather on dp/0 is read before it was waited for");
    EXPECT_THAT(found(writes, false), HasSubstr("is written before it was waited for"));
    EXPECT_THAT(found(gives, false), HasSubstr("is given to operation 2: all_reduce on dp/0"));
    EXPECT_THAT(found(frees, false), HasSubstr("is freed before it was waited for"));
    EXPECT_EQ(found(beside, true), "");
    EXPECT_EQ(found(waits, true), "");
}

// What is recorded is not done yet: it counts where it is asked for.
TEST(Ledger, CountsApart)
{
    Ledger ledger;
    ledger.compute({.seconds = 1, .launches = 1});
    ledger.begin_apart(ledger.new_pool(true));
    EXPECT_TRUE(ledger.apart());
    ledger.compute({.flops = 8, .seconds = 2, .launches = 3});
    const uint64_t recorded = ledger.allocate(1 << 20);
    EXPECT_EQ(ledger.end_apart(), (KernelWork{.flops = 8, .seconds = 2, .launches = 3}));
    EXPECT_FALSE(ledger.apart());
    EXPECT_EQ(ledger.total(), (KernelWork{.seconds = 1, .launches = 1}));
    EXPECT_NE(ledger.allocate(1 << 20), recorded);
    EXPECT_EQ(ledger.memory().reserved(), 4u << 20);
}

} // namespace
} // namespace fourfold::test
