// SPDX-License-Identifier: GPL-3.0-or-later
// The proof that no rank waits for ever: seeded faults are found and named, and a naive implementation that moves the
// ranks in random orders always comes to the same verdict.
#include "core/rehearsal/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fourfold::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Writes a rank's program.
class Writer {
public:
    Writer(int rank, std::vector<Wire> wires)
    {
        program.rank = rank;
        program.place = "pp " + std::to_string(rank);
        program.wires = std::move(wires);
    }
    int ask(WireOperation operation)
    {
        program.operations.push_back(std::move(operation));
        program.steps.push_back(int(program.operations.size()) - 1);
        return program.steps.back();
    }
    int collective(int wire, int64_t elements = 8, const std::string& kind = "all_reduce")
    {
        return ask({wire, kind, "Float", elements, kind == "all_reduce" ? "sum" : "", {}});
    }
    int message(int wire, bool sends, int peer, int64_t elements = 8)
    {
        return ask({wire, "send_receive", "Float", elements, "", {{sends, peer, elements}}});
    }
    void wait(int operation) { program.steps.push_back(~operation); }

    RankProgram program;
};

// Two stages, 1F1B over `micro_batches`; `both_ways`: activations and gradients share a communicator.
std::vector<RankProgram> pipeline(int micro_batches, bool both_ways)
{
    std::vector<Wire> wires{{"pp/0to1", {0, 1}}, {both_ways ? "pp/0to1" : "pp/1to0", {0, 1}}};
    if (both_ways)
        wires.pop_back();
    const int back = both_ways ? 0 : 1;
    Writer first(0, wires), last(1, wires);
    std::vector<int> sent;
    first.message(0, true, 1);
    for (int i = 0; i < micro_batches; ++i) {
        // The receive is asked for before the next activation is sent.
        const int gradient = first.message(back, false, 1);
        if (i + 1 < micro_batches)
            sent.push_back(first.message(0, true, 1));
        first.wait(gradient);
        last.wait(last.message(0, false, 0));
        if (i + 1 < micro_batches && both_ways)
            sent.push_back(-1);
        last.message(back, true, 0);
    }
    return {first.program, last.program};
}

// The rules as written, tried in random orders.
class Naive {
public:
    Naive(const std::vector<RankProgram>& programs, DeviceRules rules, unsigned seed)
        : programs_(programs)
        , rules_(rules)
        , random_(seed)
        , states_(programs.size())
    {
        for (std::size_t i = 0; i < programs.size(); ++i) {
            states_[i].begun.resize(programs[i].operations.size());
            states_[i].ended.resize(programs[i].operations.size());
        }
    }
    // Whether all come to their end.
    bool run()
    {
        std::vector<std::size_t> order(programs_.size());
        std::iota(order.begin(), order.end(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            std::shuffle(order.begin(), order.end(), random_);
            for (const std::size_t rank : order)
                moved = move(rank) || moved;
        }
        for (std::size_t i = 0; i < programs_.size(); ++i)
            if (states_[i].step < programs_[i].steps.size()
                || !std::all_of(states_[i].ended.begin(), states_[i].ended.end(), [](bool ended) { return ended; }))
                return false;
        return true;
    }

private:
    struct State {
        std::size_t step = 0;
        std::vector<int> asked;
        std::vector<bool> begun, ended;
    };
    bool move(std::size_t at)
    {
        State& state = states_[at];
        const RankProgram& program = programs_[at];
        for (const int operation : state.asked)
            if (!state.begun[std::size_t(operation)] && may_begin(at, operation)) {
                state.begun[std::size_t(operation)] = true;
                return true;
            }
        for (const int operation : state.asked)
            if (state.begun[std::size_t(operation)] && !state.ended[std::size_t(operation)] && is_met(at, operation)) {
                state.ended[std::size_t(operation)] = true;
                return true;
            }
        if (state.step == program.steps.size())
            return false;
        const int step = program.steps[state.step];
        if (step < 0 && !state.ended[std::size_t(~step)])
            return false;
        if (step >= 0)
            state.asked.push_back(step);
        ++state.step;
        return true;
    }
    bool may_begin(std::size_t at, int operation)
    {
        const State& state = states_[at];
        const auto& all = programs_[at].operations;
        int running = 0;
        for (const int other : state.asked)
            running += state.begun[std::size_t(other)] && !state.ended[std::size_t(other)];
        if (running >= rules_.at_once)
            return false;
        for (const int earlier : state.asked) {
            if (earlier == operation)
                return true;
            if (all[std::size_t(earlier)].wire == all[std::size_t(operation)].wire
                && !state.ended[std::size_t(earlier)])
                return false;
            if (rules_.one_queue && !state.begun[std::size_t(earlier)])
                return false;
        }
        return true;
    }
    // The place of an operation among those of its kind on its wire: what it meets has the same.
    bool is_met(std::size_t at, int operation)
    {
        const RankProgram& own = programs_[at];
        const WireOperation& asked = own.operations[std::size_t(operation)];
        const std::string& wire = own.wires[std::size_t(asked.wire)].name;
        for (std::size_t other = 0; other < programs_.size(); ++other) {
            if (other == at)
                continue;
            const RankProgram& peer = programs_[other];
            const auto& members = own.wires[std::size_t(asked.wire)].members;
            if (asked.messages.empty()) {
                if (std::find(members.begin(), members.end(), peer.rank) == members.end())
                    continue;
                const int place = place_of(own, operation, [&](const WireOperation& o, const RankProgram& p) {
                    return o.messages.empty() && p.wires[std::size_t(o.wire)].name == wire;
                });
                if (!has_begun(other, place, [&](const WireOperation& o, const RankProgram& p) {
                        return o.messages.empty() && p.wires[std::size_t(o.wire)].name == wire;
                    }))
                    return false;
                continue;
            }
            for (const WireMessage& message : asked.messages) {
                if (message.peer != peer.rank)
                    continue;
                const auto side = [&](bool sends, int whom) {
                    return [&wire, sends, whom](const WireOperation& o, const RankProgram& p) {
                        return p.wires[std::size_t(o.wire)].name == wire
                            && std::any_of(o.messages.begin(), o.messages.end(),
                                [&](const WireMessage& m) { return m.sends == sends && m.peer == whom; });
                    };
                };
                const int place = place_of(own, operation, side(message.sends, peer.rank));
                if (!has_begun(other, place, side(!message.sends, own.rank)))
                    return false;
            }
        }
        return true;
    }
    template <typename Counts>
    static int place_of(const RankProgram& program, int operation, Counts counts)
    {
        int place = 0;
        for (int i = 0; i < operation; ++i)
            place += counts(program.operations[std::size_t(i)], program);
        return place;
    }
    template <typename Counts>
    bool has_begun(std::size_t at, int place, Counts counts)
    {
        const RankProgram& program = programs_[at];
        for (std::size_t i = 0; i < program.operations.size(); ++i)
            if (counts(program.operations[i], program) && place-- == 0)
                return states_[at].begun[i];
        return false;
    }

    const std::vector<RankProgram>& programs_;
    DeviceRules rules_;
    std::mt19937 random_;
    std::vector<State> states_;
};

std::string verdict(const std::vector<RankProgram>& programs, DeviceRules rules = {})
{
    const auto matched = match_programs(programs, rules);
    return matched ? "" : matched.error().message;
}

TEST(Match, APipelineWithAWireForEachWayEnds)
{
    for (const int micro_batches : {1, 2, 7}) {
        EXPECT_EQ(verdict(pipeline(micro_batches, false)), "");
        EXPECT_EQ(verdict(pipeline(micro_batches, false), {2, true}), "");
    }
}

TEST(Match, OneWireForBothWaysDeadlocks)
{
    // The first stage asks for its gradient before it sends what the last stage needs to make the next one.
    auto programs = pipeline(2, true);
    EXPECT_EQ(verdict(programs), "") << "each gradient follows from an activation that was sent before";
    // As with interleaved stages: the receive comes before the send that it depends on.
    Writer first(0, {{"pp/0to1", {0, 1}}}), last(1, {{"pp/0to1", {0, 1}}});
    const int gradient = first.message(0, false, 1);
    first.message(0, true, 1);
    first.wait(gradient);
    last.wait(last.message(0, false, 0));
    last.message(0, true, 0);
    EXPECT_THAT(verdict({first.program, last.program}),
        AllOf(HasSubstr("the ranks wait for each other"),
            HasSubstr("rank 0 (pp 0) in operation 1: a receive from rank 1, on pp/0to1"),
            HasSubstr("rank 1 (pp 1) in operation 1: a receive from rank 0, on pp/0to1")));
    EXPECT_EQ(verdict({first.program, last.program}).find("rank 2"), std::string::npos);
}

TEST(Match, OneQueueHoldsUpWhatCameLater)
{
    // Two communicators in opposite orders: the device runs both at once, one queue does not.
    const std::vector<Wire> wires{{"tp/0", {0, 1}}, {"dp/0", {0, 1}}};
    Writer one(0, wires), other(1, wires);
    one.wait((one.collective(0), one.collective(1)));
    one.wait(0);
    other.wait((other.collective(1), other.collective(0)));
    other.wait(0);
    EXPECT_EQ(verdict({one.program, other.program}, {2, false}), "");
    EXPECT_THAT(verdict({one.program, other.program}, {1, false}), HasSubstr("the ranks wait for each other"));
    EXPECT_THAT(verdict({one.program, other.program}, {1, true}), HasSubstr("the ranks wait for each other"));
}

TEST(Match, AMemberThatIsMissingIsNamed)
{
    const std::vector<Wire> wires{{"tp/0", {0, 1, 2}}};
    std::vector<Writer> ranks;
    for (int rank = 0; rank < 3; ++rank)
        ranks.emplace_back(rank, wires);
    for (int rank : {0, 2})
        ranks[std::size_t(rank)].wait(ranks[std::size_t(rank)].collective(0));
    EXPECT_THAT(verdict({ranks[0].program, ranks[1].program, ranks[2].program}),
        HasSubstr("rank 0 (pp 0) in operation 1: all_reduce on tp/0, where rank 1 is missing"));
    EXPECT_EQ(verdict({ranks[0].program, ranks[2].program}), "") << "who has no program does what its place asks";
}

TEST(Match, MembersThatDisagreeAreNamed)
{
    const std::vector<Wire> wires{{"tp/0", {0, 1}}};
    const auto of = [&](const WireOperation& one, const WireOperation& other) {
        Writer first(0, wires), second(1, wires);
        first.wait(first.ask(one));
        second.wait(second.ask(other));
        return verdict({first.program, second.program});
    };
    const WireOperation sum{0, "all_reduce", "Float", 8, "sum", {}};
    WireOperation other = sum;
    EXPECT_EQ(of(sum, other), "");
    other.elements = 9;
    EXPECT_THAT(of(sum, other),
        AllOf(HasSubstr("members of tp/0 disagree"), HasSubstr("all_reduce (sum) of 8 Float"),
            HasSubstr("all_reduce (sum) of 9 Float")));
    other = sum;
    other.type = "BFloat16";
    EXPECT_THAT(of(sum, other), HasSubstr("8 BFloat16"));
    other = sum;
    other.reduction = "max";
    EXPECT_THAT(of(sum, other), HasSubstr("all_reduce (max)"));
    other = {0, "all_gather", "Float", 8, "", {}};
    EXPECT_THAT(of(sum, other), HasSubstr("all_gather of 8 Float"));
    const WireOperation send{0, "send_receive", "Float", 8, "", {{true, 1, 8}}},
        receive{0, "send_receive", "Float", 6, "", {{false, 0, 6}}};
    EXPECT_THAT(of(send, receive), HasSubstr("rank 0 and rank 1 disagree on a message of tp/0"));
    EXPECT_THAT(of(send, sum), HasSubstr("the ranks wait for each other"));
}

TEST(Match, AMessageThatNobodyTakesIsNamed)
{
    const std::vector<Wire> wires{{"pp/0to1", {0, 1}}};
    Writer first(0, wires), last(1, wires);
    first.message(0, true, 1);
    EXPECT_THAT(verdict({first.program, last.program}),
        HasSubstr("rank 0 (pp 0): operation 1: a send to rank 1, on pp/0to1 never meets its other side"));
}

// Programs that fit each other, and then something is changed in most of them.
std::vector<RankProgram> random_programs(std::mt19937& random)
{
    const auto below = [&](int limit) { return int(random() % unsigned(limit)); };
    const int ranks = 2 + below(3);
    std::vector<int> everybody(static_cast<std::size_t>(ranks));
    std::iota(everybody.begin(), everybody.end(), 0);
    const std::vector<Wire> wires{{"world/0", everybody}, {"dp/0", everybody}, {"pp/0", everybody}};
    std::vector<Writer> writers;
    for (int rank = 0; rank < ranks; ++rank)
        writers.emplace_back(rank, wires);
    for (int i = 0, count = 2 + below(8); i < count; ++i) {
        if (below(2) == 0) {
            for (Writer& writer : writers)
                writer.collective(i % 2);
        } else {
            const int from = below(ranks), to = (from + 1 + below(ranks - 1)) % ranks;
            writers[std::size_t(from)].message(2, true, to);
            writers[std::size_t(to)].message(2, false, from);
        }
        for (Writer& writer : writers)
            if (below(2) == 0 && !writer.program.operations.empty())
                writer.wait(below(int(writer.program.operations.size())));
    }
    std::vector<RankProgram> programs;
    for (Writer& writer : writers) {
        auto& steps = writer.program.steps;
        // A wait never stands before what it waits for.
        if (steps.size() > 1 && below(3) == 0) {
            const auto at = std::size_t(below(int(steps.size()) - 1));
            const bool legal = steps[at + 1] >= 0 || ~steps[at + 1] != steps[at];
            if (legal)
                std::swap(steps[at], steps[at + 1]);
        }
        const int newest = int(writer.program.operations.size()) - 1;
        if (!steps.empty() && below(4) == 0 && steps.back() >= 0 && steps.back() == newest) {
            steps.pop_back();
            writer.program.operations.pop_back();
        }
        // Operations are numbered in the order in which they are asked for.
        std::vector<WireOperation> ordered;
        std::vector<int> number(writer.program.operations.size());
        for (int& step : steps)
            if (step >= 0) {
                number[std::size_t(step)] = int(ordered.size());
                ordered.push_back(writer.program.operations[std::size_t(step)]);
                step = int(ordered.size()) - 1;
            } else {
                step = ~number[std::size_t(~step)];
            }
        writer.program.operations = std::move(ordered);
        programs.push_back(writer.program);
    }
    return programs;
}

TEST(Match, MembersOfACommunicatorMeanTheSameRanks)
{
    Writer first(0, {{"tp/0", {0, 1}}}), second(1, {{"tp/0", {1, 0}}});
    for (Writer* writer : {&first, &second})
        writer->wait(writer->collective(0));
    EXPECT_THAT(verdict({first.program, second.program}, {8, false}),
        AllOf(HasSubstr("members of tp/0 disagree on who they are: rank 0 (pp 0) takes ranks 0, 1"),
            HasSubstr("rank 1 (pp 1) ranks 1, 0")));
}

TEST(Match, BothSidesMeanTheSameMessage)
{
    auto programs = pipeline(2, false);
    EXPECT_TRUE(match_programs(programs, {8, false}));
    int tag = 0;
    for (RankProgram& program : programs)
        for (WireOperation& operation : program.operations)
            operation.messages[0].tag = tag++;
    EXPECT_THAT(verdict(programs, {8, false}), AllOf(HasSubstr("mean different messages"), HasSubstr("rank 1 (pp 1)")));
}

TEST(Match, AgreesWithANaiveOneInRandomOrders)
{
    std::mt19937 random(7);
    int ended = 0, stuck = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto programs = random_programs(random);
        const DeviceRules rules{1 + int(random() % 3), random() % 2 == 0};
        const bool passes = match_programs(programs, rules).operator bool();
        for (unsigned seed = 0; seed < 3; ++seed)
            ASSERT_EQ(Naive(programs, rules, seed).run(), passes)
                << "programs " << i << ": " << verdict(programs, rules) << ", at once " << rules.at_once
                << ", one queue " << rules.one_queue;
        (passes ? ended : stuck)++;
    }
    EXPECT_GT(ended, 300);
    EXPECT_GT(stuck, 300);
}

} // namespace
} // namespace fourfold::test
