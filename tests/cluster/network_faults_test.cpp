// SPDX-License-Identifier: GPL-3.0-or-later
// Networks that are not what both ends believe: the client gets another address, connections of which one end knows
// nothing any more, lines that swallow large packets or do not lead from node to node.
#include "runner/preflight/probe.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <signal.h>

#include <chrono>
#include <thread>

namespace fourfold::test {
namespace {

class NetworkFaults : public SshCluster {
protected:
    void SetUp() override
    {
        SshCluster::SetUp();
        if (!IsSkipped())
            make(2);
    }
    [[nodiscard]] Target both() const
    {
        Target out = target();
        out.connect_timeout_s = 2;
        return out;
    }
    [[nodiscard]] RunRequest asked(const std::map<std::string, std::string>& environment) const
    {
        RunRequest out = SshCluster::asked(4, environment);
        out.target = both();
        return out;
    }
    // The findings of that name about the first node, as a probe with packets of every size makes them.
    std::vector<Finding> found(const std::string& check)
    {
        const auto report = probe_target(both(), observer, {}, LookFor::trouble, agent_program());
        EXPECT_TRUE(report) << report.error().line();
        std::vector<Finding> out;
        for (const Finding& finding : report ? report->findings : std::vector<Finding>{}) {
            if (finding.check == check && finding.host.find(net->address(1)) != std::string::npos)
                out.push_back(finding);
        }
        return out;
    }
    // Connections that nobody acknowledges are forgotten after one more attempt.
    static bool forget_soon(const std::string& space)
    {
        return run_program({"ip", "netns", "exec", space, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/tcp_orphan_retries"})
            == 0;
    }
};

// A laptop that moves to another network: its connections cannot go on, and no end ever says so to the other.
TEST_F(NetworkFaults, TheClientsAddressChanges)
{
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20) {
            EXPECT_TRUE(net->move_client(101));
        }
    };
    const auto result = launch(asked({{"FAKE_STEPS", "300"}, {"FAKE_STEP_MS", "40"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    expect_all_steps(*result, 300);
    for (int i = 1; i <= 2; ++i) {
        EXPECT_TRUE(had_link("reconnecting", i)) << i;
        const auto log = read_text_file(home.path() / ("node" + std::to_string(i)) / "sshd.log");
        ASSERT_TRUE(log);
        EXPECT_NE(log->find("from 10.231.77.101 "), std::string::npos) << "it never came from its new address";
    }
}

// The node has forgotten the connection, and the word of it was lost: the client alone believes in it.
TEST_F(NetworkFaults, AConnectionThatOnlyTheClientBelievesIn)
{
    ASSERT_TRUE(forget_soon(net->node(1)));
    std::jthread healer;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        net->cut(1);
        EXPECT_GT(nodes[0]->cut_connections(), 0);
        healer = std::jthread([this] {
            std::this_thread::sleep_for(std::chrono::seconds(3));
            net->heal(1);
        });
    };
    const auto result = launch(asked({{"FAKE_STEPS", "300"}, {"FAKE_STEP_MS", "40"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    expect_all_steps(*result, 300);
    EXPECT_TRUE(had_link("reconnecting", 1));
    EXPECT_FALSE(had_link("reconnecting", 2)) << "the other node's link was not touched";
}

// The client's computer is switched off: the nodes alone believe in its connections. The run goes on, and a second
// client has all of it.
TEST_F(NetworkFaults, ConnectionsThatOnlyTheNodesBelieveIn)
{
    ClientProcess client(
        asked({{"FAKE_STEPS", "200"}, {"FAKE_STEP_MS", "30"}}), [](Recording& mine) { mine.trust = true; });
    ASSERT_FALSE(client.id().empty());
    const auto events = home.path() / "node/runs" / client.id() / "events.jsonl";
    ASSERT_TRUE(wait_until([&] {
        const auto text = read_text_file(events);
        return text && text->find("\"step\":20,") != std::string::npos;
    }));
    for (int i = 1; i <= 2; ++i)
        net->cut(i);
    client.end(SIGKILL);
    ASSERT_TRUE(net->move_client(102)) << "its last words have no way any more";
    for (int i = 1; i <= 2; ++i)
        net->heal(i);
    const auto result = attach(client.id(), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    expect_all_steps(*result, 200);
}

// The hosts send packets of 9000 bytes, the switch between them takes 1500 and says nothing.
TEST_F(NetworkFaults, ASwitchThatSwallowsLargePackets)
{
    for (int i = 1; i <= 2; ++i)
        ASSERT_TRUE(net->set_mtu(i, 9000, 1500));
    const auto findings = found("reach");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].level, FindingLevel::error);
    EXPECT_NE(findings[0].message.find("to " + both().hosts[1].user + "@" + net->address(2)), std::string::npos)
        << findings[0].message;
    EXPECT_NE(findings[0].message.find("large messages are lost"), std::string::npos) << findings[0].message;
    EXPECT_EQ(findings[0].evidence, "messages of 1400 bytes come back, larger ones do not; MTU 9000");
    EXPECT_NE(findings[0].cure.find("one MTU"), std::string::npos) << findings[0].cure;
    const auto refused = launch(asked({{"FAKE_STEPS", "1"}}), observer, {});
    ASSERT_FALSE(refused) << "such a run would hang in its first collective";
    EXPECT_NE(refused.error().line().find("large messages are lost"), std::string::npos) << refused.error().line();
}

TEST_F(NetworkFaults, HostsWithDifferentPacketSizes)
{
    for (int i = 1; i <= 2; ++i)
        ASSERT_TRUE(net->set_mtu(i, 9000, 9000));
    EXPECT_TRUE(found("reach").empty());
    EXPECT_TRUE(found("MTU").empty());
    ASSERT_TRUE(net->set_mtu(2, 1500, 9000));
    const auto findings = found("MTU");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].level, FindingLevel::warning);
    EXPECT_NE(findings[0].message.find(net->address(2)), std::string::npos) << findings[0].message;
    EXPECT_EQ(findings[0].evidence, "9000 through eth0 here, 1500 through eth0 there");
    EXPECT_NE(findings[0].cure.find("one MTU"), std::string::npos) << findings[0].cure;
}

// Both hosts are reached from here, but not the second one from the first.
TEST_F(NetworkFaults, NoWayFromNodeToNode)
{
    const auto of_first = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"ip", "-n", net->node(1)});
        return run_program(words) == 0;
    };
    ASSERT_TRUE(of_first({"route", "add", "unreachable", net->address(2) + "/32"}));
    const auto none = found("reach");
    ASSERT_EQ(none.size(), 1u);
    EXPECT_NE(none[0].message.find("no route"), std::string::npos) << none[0].message;
    EXPECT_EQ(none[0].evidence, "No route to host");
    EXPECT_NE(none[0].cure.find("node_address"), std::string::npos) << none[0].cure;
    ASSERT_TRUE(of_first({"route", "del", "unreachable", net->address(2) + "/32"}));
    // To a card that nobody has: packets leave and no answer comes, as behind a firewall that drops them.
    ASSERT_TRUE(of_first(
        {"neigh", "replace", net->address(2), "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent"}));
    const auto silent = found("reach");
    ASSERT_EQ(silent.size(), 1u);
    EXPECT_NE(silent[0].message.find("no answer"), std::string::npos) << silent[0].message;
    EXPECT_EQ(silent[0].evidence, "Connection timed out");
    EXPECT_NE(silent[0].cure.find("firewall"), std::string::npos) << silent[0].cure;
}

} // namespace
} // namespace fourfold::test
