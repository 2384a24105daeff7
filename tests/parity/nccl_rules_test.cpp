// SPDX-License-Identifier: GPL-3.0-or-later
// NCCL's rules, one by one: what Gloo forgives is an error here, and what NCCL allows works. Ranks are threads.
#include "runner/trainer/comm/nccl_rules.h"

#include "runner/trainer/comm/c10d_transport.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace fourfold::trainer {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kLong = 60s; // what must happen happens well before
constexpr auto kShort = 2s; // for what must not

Transfer send(const at::Tensor& tensor, int peer, int tag = 0)
{
    return {Transfer::Way::send, tensor, peer, tag};
}
Transfer receive(const at::Tensor& tensor, int peer, int tag = 0)
{
    return {Transfer::Way::receive, tensor, peer, tag};
}
at::Tensor of(double value, int64_t elements = 4)
{
    return at::full({elements}, value, at::kDouble);
}

// Two ranks with some communicators between them.
class TwoRanks : public ::testing::Test {
protected:
    using Groups = std::vector<std::shared_ptr<Transport>>;
    using Rank = std::function<void(const Groups&)>;

    // What each rank threw, empty where nothing. `connected`: for messages both ways.
    std::pair<std::string, std::string> run(
        RuledDevice::Limits limits, const Rank& first, const Rank& second, int communicators = 1, bool connected = true)
    {
        const auto store = c10::make_intrusive<c10d::HashStore>();
        const auto as_rank = [&](int rank, const Rank& work) {
            return std::async(std::launch::async, [&, rank] {
                Groups groups;
                const auto device = std::make_shared<RuledDevice>(limits);
                for (int i = 0; i < communicators; ++i) {
                    const std::string name = "group" + std::to_string(i);
                    auto wire = make_c10d_transport(store.get(),
                        {"gloo", name, rank, 2, "127.0.0.1", std::chrono::duration<double>(limits.timeout).count()});
                    groups.push_back(under_nccl_rules(std::move(wire), name, device));
                    for (const int sender : {0, 1})
                        if (connected)
                            groups.back()->connect(
                                sender == rank ? Transfer::Way::send : Transfer::Way::receive, 1 - rank);
                }
                try {
                    work(groups);
                } catch (const std::exception& error) {
                    return std::string(error.what());
                }
                return std::string();
            });
        };
        auto one = as_rank(0, first), two = as_rank(1, second);
        std::string said = one.get();
        return {std::move(said), two.get()};
    }
    static RuledDevice::Limits limits(
        int at_once = 8, bool one_queue = false, std::chrono::milliseconds timeout = kLong)
    {
        return {at_once, one_queue, timeout};
    }
};

const std::pair<std::string, std::string> kNothing;

TEST_F(TwoRanks, CollectivesAreThoseOfTheWire)
{
    const auto work = [](const TwoRanks::Groups& groups) {
        const double own = groups[0]->rank() + 1;
        const at::Tensor sum = of(own), most = of(own), gathered = at::empty({8}, at::kDouble), part = of(0, 2);
        groups[0]->all_reduce(sum, Reduce::sum)->wait();
        groups[0]->all_reduce(most, Reduce::max)->wait();
        groups[0]->all_gather(gathered, of(own))->wait();
        groups[0]->reduce_scatter(part, at::arange(4, at::kDouble).mul(own))->wait();
        EXPECT_TRUE(sum.equal(of(3)));
        EXPECT_TRUE(most.equal(of(2)));
        EXPECT_TRUE(gathered.narrow(0, 0, 4).equal(of(1)) && gathered.narrow(0, 4, 4).equal(of(2)));
        EXPECT_TRUE(part.equal(at::arange(2, at::kDouble).add(2 * groups[0]->rank()).mul(3)));
    };
    EXPECT_EQ(run(limits(1, true), work, work), kNothing);
}

TEST_F(TwoRanks, MessagesMatchInOrderWhateverTheirTags)
{
    const auto said = run(
        limits(),
        [](const TwoRanks::Groups& groups) {
            auto one = groups[0]->exchange({send(of(1), 1, 5)}), two = groups[0]->exchange({send(of(2), 1, 9)});
            one->wait();
            two->wait();
        },
        [](const TwoRanks::Groups& groups) {
            const at::Tensor a = of(0), b = of(0);
            auto one = groups[0]->exchange({receive(a, 0, 9)}), two = groups[0]->exchange({receive(b, 0, 5)});
            one->wait();
            two->wait();
            EXPECT_TRUE(a.equal(of(1)));
            EXPECT_TRUE(b.equal(of(2)));
        });
    EXPECT_EQ(said, kNothing);
}

TEST_F(TwoRanks, ASendEndsOnlyWhenItIsReceived)
{
    std::promise<void> asked;
    std::atomic<bool> received = false;
    const auto said = run(
        limits(),
        [&](const TwoRanks::Groups& groups) {
            auto sending = groups[0]->exchange({send(of(1), 1)});
            auto waiting = std::async(std::launch::async, [&] {
                sending->wait();
                return received.load();
            });
            EXPECT_EQ(waiting.wait_for(200ms), std::future_status::timeout);
            received = true; // from here the other rank may ask
            asked.set_value();
            EXPECT_TRUE(waiting.get());
        },
        [&](const TwoRanks::Groups& groups) {
            asked.get_future().wait();
            groups[0]->exchange({receive(of(0), 0)})->wait();
        });
    EXPECT_EQ(said, kNothing);
}

// What Gloo does without a word.
TEST_F(TwoRanks, SendingToEachOtherInCallsOfTheirOwnNeverEnds)
{
    const auto one_by_one = [](const TwoRanks::Groups& groups) {
        const int peer = 1 - groups[0]->rank();
        auto sending = groups[0]->exchange({send(of(1), peer)});
        auto receiving = groups[0]->exchange({receive(of(0), peer)});
        sending->wait();
        receiving->wait();
    };
    const auto [first, second] = run(limits(8, false, kShort), one_by_one, one_by_one);
    EXPECT_THAT(first, HasSubstr("group0: send of 4 Double to rank 1: "));
    EXPECT_THAT(second, HasSubstr("group0: send of 4 Double to rank 0: "));
    const auto together = [](const TwoRanks::Groups& groups) {
        const int peer = 1 - groups[0]->rank();
        const at::Tensor arrived = of(0);
        groups[0]->exchange({send(of(7), peer), receive(arrived, peer)})->wait();
        EXPECT_TRUE(arrived.equal(of(7)));
    };
    EXPECT_EQ(run(limits(), together, together), kNothing);
}

TEST_F(TwoRanks, DisagreementIsNamed)
{
    const auto reduce = [](const at::Tensor& tensor, Reduce reduction = Reduce::sum) {
        return [=](const TwoRanks::Groups& groups) { groups[0]->all_reduce(tensor, reduction)->wait(); };
    };
    const auto sized = run(limits(), reduce(of(1, 4)), reduce(of(1, 5)));
    EXPECT_EQ(
        sized.first, "group0: all_reduce (sum) of 4 Double: rank 1 of the group is at all_reduce (sum) of 5 Double");
    EXPECT_EQ(
        sized.second, "group0: all_reduce (sum) of 5 Double: rank 0 of the group is at all_reduce (sum) of 4 Double");
    const auto typed = run(limits(), reduce(of(1)), reduce(of(1).to(at::kFloat)));
    EXPECT_THAT(typed.first, HasSubstr("rank 1 of the group is at all_reduce (sum) of 4 Float"));
    const auto reduced = run(limits(), reduce(of(1)), reduce(of(1), Reduce::max));
    EXPECT_THAT(reduced.first, HasSubstr("rank 1 of the group is at all_reduce (max) of 4 Double"));
    const auto other = run(limits(), reduce(of(1)),
        [](const TwoRanks::Groups& groups) { groups[0]->all_gather(of(0, 8), of(1))->wait(); });
    EXPECT_THAT(other.first, HasSubstr("rank 1 of the group is at all_gather of 4 Double"));
    const auto message = run(
        limits(), [](const TwoRanks::Groups& groups) { groups[0]->exchange({send(of(1, 3), 1)})->wait(); },
        [](const TwoRanks::Groups& groups) { groups[0]->exchange({receive(of(0, 4), 0)})->wait(); });
    EXPECT_EQ(message.first, "group0: send of 3 Double to rank 1: rank 1 of the group is at receive of 4 Double");
    EXPECT_EQ(message.second, "group0: receive of 4 Double from rank 0: rank 0 of the group is at send of 3 Double");
}

// As an aborted communicator: what was asked for after it does not run with other ranks' data.
TEST_F(TwoRanks, NothingRunsBehindAFailure)
{
    const auto work = [](const TwoRanks::Groups& groups) {
        auto wrong = groups[0]->all_reduce(of(1, 4 + groups[0]->rank()), Reduce::sum);
        auto after = groups[0]->all_reduce(of(1), Reduce::sum);
        EXPECT_THROW(wrong->wait(), std::runtime_error);
        after->wait();
    };
    const auto [first, second] = run(limits(), work, work);
    EXPECT_THAT(first, HasSubstr("an operation before it failed"));
    EXPECT_THAT(second, HasSubstr("an operation before it failed"));
}

// Two communicators whose operations the ranks ask for in different orders: fine while both fit the device.
TEST_F(TwoRanks, OrderAcrossCommunicatorsMattersWhereTheDeviceHoldsOne)
{
    const auto in_order = [](int first) {
        return [first](const TwoRanks::Groups& groups) {
            auto one = groups[std::size_t(first)]->all_reduce(of(1), Reduce::sum);
            auto two = groups[std::size_t(1 - first)]->all_reduce(of(1), Reduce::sum);
            one->wait();
            two->wait();
        };
    };
    EXPECT_EQ(run(limits(2), in_order(0), in_order(1), 2), kNothing);
    EXPECT_EQ(run(limits(1, true), in_order(0), in_order(0), 2), kNothing);
    const auto [first, second] = run(limits(1, true, kShort), in_order(0), in_order(1), 2);
    EXPECT_THAT(first + second,
        AllOf(HasSubstr("group0: all_reduce (sum) of 4 Double"), HasSubstr("group1: all_reduce (sum) of 4 Double")));
}

// The first rank asks for an answer before it sends the question.
TEST_F(TwoRanks, TheFirstMessageHoldsUpTheHost)
{
    const auto first = [](const TwoRanks::Groups& groups) {
        auto answer = groups[1]->exchange({receive(of(0), 1)}), question = groups[0]->exchange({send(of(1), 1)});
        question->wait();
        answer->wait();
    };
    const auto second = [](const TwoRanks::Groups& groups) {
        groups[0]->exchange({receive(of(0), 0)})->wait();
        groups[1]->exchange({send(of(2), 0)})->wait();
    };
    EXPECT_EQ(run(limits(), first, second, 2), kNothing);
    const auto said = run(limits(8, false, kShort), first, second, 2, false);
    EXPECT_THAT(said.first, HasSubstr("group1: the host waits for the peer of its first message (receive of 4 Double"));
    EXPECT_THAT(
        said.second, HasSubstr("group0: the host waits for the peer of its first message (receive of 4 Double"));
}

// The first rank's second message on group 0 cannot start before its first ends; with one queue, what it asked for on
// group 1 stays behind it.
TEST_F(TwoRanks, OneQueueHoldsUpWhatComesLater)
{
    const auto first = [](const TwoRanks::Groups& groups) {
        auto one = groups[0]->exchange({send(of(1), 1)}), two = groups[0]->exchange({send(of(2), 1)});
        auto beside = groups[1]->exchange({send(of(3), 1)});
        one->wait();
        two->wait();
        beside->wait();
    };
    const auto second = [](const TwoRanks::Groups& groups) {
        groups[1]->exchange({receive(of(0), 0)})->wait();
        groups[0]->exchange({receive(of(0), 0)})->wait();
        groups[0]->exchange({receive(of(0), 0)})->wait();
    };
    EXPECT_EQ(run(limits(8), first, second, 2), kNothing);
    const auto said = run(limits(8, true, kShort), first, second, 2);
    EXPECT_THAT(said.second, HasSubstr("group1: receive of 4 Double from rank 0: "));
}

} // namespace
} // namespace fourfold::trainer
