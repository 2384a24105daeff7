// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cluster/ssh_cluster.h"

#include "core/base/json.h"

#include <algorithm>
#include <numeric>

namespace fourfold::test {

std::string why_no_ssh_cluster()
{
    const std::string why = why_no_sshd();
    return why.empty() ? why_no_namespaces() : why;
}

void SshCluster::SetUp()
{
    if (const std::string why = why_no_ssh_cluster(); !why.empty())
        GTEST_SKIP() << why;
    observer.trust = true;
}

void SshCluster::TearDown()
{
    nodes.clear();
    net.reset();
}

void SshCluster::make(int count, const std::function<void(int, SshdPlace&)>& adapt)
{
    net = std::make_unique<Namespaces>(count);
    ASSERT_TRUE(net->good()) << "the namespaces could not be set up";
    for (int i = 1; i <= count; ++i) {
        SshdPlace place{net->address(i), 22, net->node(i)};
        if (adapt)
            adapt(i, place);
        nodes.push_back(std::make_unique<Sshd>(home, "node" + std::to_string(i), place));
        nodes.back()->start();
    }
}

Target SshCluster::target() const
{
    std::vector<const Sshd*> all;
    for (const auto& node : nodes)
        all.push_back(node.get());
    return ssh_target(home, all);
}

RunRequest SshCluster::asked(int ranks, const std::map<std::string, std::string>& environment) const
{
    RunRequest out = request(home, ranks, environment);
    out.target = target();
    return out;
}

bool SshCluster::had_link(const std::string& state, int node) const
{
    return std::any_of(observer.links.begin(), observer.links.end(), [&](const std::string& link) {
        return link.starts_with(state) && link.find(net->address(node)) != std::string::npos;
    });
}

void SshCluster::expect_same(const RunResult& result, const std::string& stored, const std::string& node) const
{
    const auto here = read_text_file(result.folder / stored, 1u << 30);
    const auto there = read_text_file(home.path() / "node/runs" / result.id / node, 1u << 30);
    ASSERT_TRUE(here && there);
    EXPECT_TRUE(*here == *there) << stored << " differs from the node's";
}

void SshCluster::expect_all_steps(const RunResult& result, int count) const
{
    EXPECT_EQ(result.state, RunState::ok) << (result.problem ? result.problem->line() : "");
    const auto events = read_events(result.folder / "events.jsonl");
    expect_whole(events, "ok");
    std::vector<int> expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(steps_of(events), expected);
    expect_same(result, "events.jsonl", "events.jsonl");
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        const std::string node = "node" + std::to_string(i);
        expect_same(result, "events." + node + ".jsonl", node + "/events.jsonl");
    }
    EXPECT_EQ(processes_of(result.id), 0);
}

} // namespace fourfold::test
