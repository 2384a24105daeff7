// SPDX-License-Identifier: GPL-3.0-or-later
// What a look at the nodes finds, what it measures, and what may be cleared away on them.
#include "core/base/paths.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "runner/preflight/cluster_figures.h"
#include "runner/protocol/message.h"
#include "runner/runs/garbage.h"
#include "tests/runner/sshd.h"

#include <algorithm>
#include <fstream>

namespace fourfold::test {
namespace {

const Finding* about(const std::vector<Finding>& findings, const std::string& check)
{
    const auto at = std::find_if(
        findings.begin(), findings.end(), [&](const Finding& finding) { return finding.check == check; });
    return at == findings.end() ? nullptr : &*at;
}

Link link(const std::string& state)
{
    Link out{0, 1, state, "errno text", "eth0", "10.0.0.1", 100, 1, 1500, 1 << 20};
    return out;
}

TEST(Links, EachCauseHasItsOwnFindingAndCure)
{
    const std::vector<std::string> names{"a", "b"}, addresses{"10.0.0.1", "10.0.0.2"};
    EXPECT_TRUE(judge_links({link("ok")}, names, addresses).empty());
    std::set<std::string> messages;
    for (const char* state : {"refused", "timeout", "no route", "failed"}) {
        const auto findings = judge_links({link(state)}, names, addresses);
        ASSERT_EQ(findings.size(), 1u) << state;
        EXPECT_EQ(findings[0].level, FindingLevel::error);
        EXPECT_EQ(findings[0].host, "a");
        EXPECT_NE(findings[0].message.find("to b (10.0.0.2)"), std::string::npos);
        messages.insert(findings[0].message + findings[0].cure);
    }
    EXPECT_EQ(messages.size(), 4u);
    EXPECT_NE(judge_links({link("refused")}, names, addresses)[0].cure.find("firewall"), std::string::npos);
    const auto own = judge_links({link("refused")}, names, {"10.0.0.1", "127.0.0.1"});
    EXPECT_NE(own[0].cure.find("each node's own address"), std::string::npos) << "no firewall: " << own[0].cure;
    Link small = link("ok");
    small.largest_message = 1400;
    EXPECT_NE(judge_links({small}, names, addresses)[0].message.find("large messages are lost"), std::string::npos);
    Link other = link("ok");
    other.local_address = "192.168.1.1";
    const auto through = judge_links({other}, names, addresses);
    ASSERT_EQ(through.size(), 1u);
    EXPECT_EQ(through[0].level, FindingLevel::warning);
}

ProbedNode node(const std::string& name, const std::string& gpu, const std::string& driver)
{
    ProbedNode out;
    out.name = name;
    out.facts.arch = "x86_64";
    out.facts.glibc = "2.36";
    out.facts.driver = driver;
    if (!gpu.empty())
        out.facts.gpus = {{gpu, 80}};
    out.facts.document = {{"cpu", "CPU"}};
    return out;
}

TEST(Nodes, AreComparedWithEachOtherAndWithTheTrainer)
{
    NodeNeeds needs;
    needs.on_gpus = true;
    EXPECT_TRUE(compare_nodes({node("a", "H100", "580.1"), node("b", "H100", "580.1")}, needs).empty());
    const auto mixed = compare_nodes({node("a", "H100", "580.1"), node("b", "A100", "580.1")}, needs);
    ASSERT_TRUE(about(mixed, "GPU models"));
    EXPECT_EQ(about(mixed, "GPU models")->level, FindingLevel::error);
    needs.mixed_gpus = true;
    EXPECT_EQ(
        about(compare_nodes({node("a", "H100", "580.1"), node("b", "A100", "580.1")}, needs), "GPU models")->level,
        FindingLevel::warning);
    const auto old = compare_nodes({node("a", "H100", "535.54.03")}, needs);
    ASSERT_TRUE(about(old, "driver"));
    EXPECT_NE(about(old, "driver")->cure.find("cuda-compat"), std::string::npos);
    needs.glibc_minor = 38;
    ASSERT_TRUE(about(compare_nodes({node("a", "H100", "580.1")}, needs), "glibc"));
    needs.container = true;
    EXPECT_FALSE(about(compare_nodes({node("a", "H100", "580.1")}, needs), "glibc"));
    ProbedNode late = node("a", "", "");
    late.clock = AgentClient::ClockSkew{-3.5, 0.001};
    const auto clock = compare_nodes({late}, {});
    ASSERT_TRUE(about(clock, "clock"));
    EXPECT_NE(about(clock, "clock")->message.find("3.50 s behind"), std::string::npos);
}

TEST(Findings, OfAnAgentAreNotTrusted)
{
    const auto findings = findings_from_agent(
        Json::parse(R"([{"check":"disk","level":"error","message":"a\u001b[31m\nb"}, 7, {"level":"error"}, "x"])"),
        "h");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].message, "a\\u001b[31m b");
    const auto refused = check_findings(findings);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().line(), "h: disk: a\\u001b[31m b");
}

class Probe : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        first.start();
        second.start();
        observer.trust = true;
    }
    Target both() { return ssh_target(home, {&first, &second}); }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    Recording observer;
};

TEST_F(Probe, LooksAtHostsAndTheNetworkBetweenThem)
{
    const auto report = probe_target(both(), observer, {}, LookFor::speeds, agent_program());
    ASSERT_TRUE(report) << report.error().line();
    EXPECT_TRUE(report->good()) << probe_text(*report);
    ASSERT_EQ(report->hosts.size(), 2u);
    EXPECT_GT(number_field(report->hosts[0].speed, "memory_bandwidth_gb_s"), 0) << "however slow the computer is";
    EXPECT_GT(number_field(report->hosts[1].speed, "gemm_tflops_fp32"), 0);
    ASSERT_EQ(report->network.links.size(), 3u) << "both directions, and the first host to itself";
    for (const Link& one : report->network.links) {
        EXPECT_EQ(one.state, "ok") << one.error;
        EXPECT_GT(one.latency_us, 0);
        EXPECT_GT(one.bandwidth_gb_s, 0);
    }
    for (const char* check : {"disk", "/dev/shm", "load"})
        EXPECT_TRUE(about(report->findings, check)) << check;
    const Json json = to_json(*report);
    EXPECT_TRUE(flag_field(json, "good"));
    EXPECT_EQ(array_field(json, "links").size(), 3u);
    EXPECT_NE(probe_text(*report).find("ready for a run"), std::string::npos);

    // The measured figures are a cluster that a plan can name.
    const auto file = save_cluster(*report, "probed");
    ASSERT_TRUE(file) << file.error().line();
    const auto cluster = Presets().cluster("probed");
    ASSERT_TRUE(cluster) << cluster.error().line();
    ASSERT_TRUE(save_cluster(*report, "probed")) << "a probe may replace a probe's file";
    const auto plan = with_assignment(
        *plan_from_json(Json::parse(R"({"model":"llama-3.1-8b","cluster":"probed","gpus":1})"), "p"), "gpus=1");
    const auto resolved = resolve(*plan, Presets());
    ASSERT_TRUE(resolved) << resolved.error().line();
    EXPECT_TRUE(resolved->cluster.gpu.is_cpu());
    EXPECT_TRUE(predict(*resolved).step_time_s);
    EXPECT_FALSE(save_cluster(*report, "../up"));
    std::ofstream(config_folder() / "presets/clusters/mine.json") << R"({"id":"mine","source":{}})";
    EXPECT_FALSE(save_cluster(*report, "mine")) << "somebody's own file stays";
}

// What the others have is not the cluster, nor are links within one node those between two.
TEST(ClusterFigures, OfAPartOfTheHostsAreNotSaved)
{
    ProbeReport report;
    report.hosts.push_back({"a", {}, {}, {}, {}});
    report.findings.push_back({FindingLevel::error, "b", "connection", "the connection broke", "", ""});
    const auto preset = cluster_preset(report, "part");
    ASSERT_FALSE(preset);
    EXPECT_NE(preset.error().line().find("not every host answered the probe: b: connection"), std::string::npos)
        << preset.error().line();
}

TEST_F(Probe, AHostThatDoesNotAnswerIsAFinding)
{
    second.stop();
    const auto report = probe_target(both(), observer, {}, LookFor::trouble, agent_program());
    ASSERT_TRUE(report) << report.error().line();
    EXPECT_FALSE(report->good());
    ASSERT_TRUE(about(report->findings, "port")) << probe_text(*report);
    EXPECT_EQ(report->hosts.size(), 1u);
}

TEST_F(Probe, ClearsOnlyWhatNobodyNeeds)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "2"}});
    asked.target = ssh_target(home, {&first});
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    const auto base = home.path() / "node";
    // A run that ended without anybody following it to its end.
    std::filesystem::create_directories(base / "runs/ABANDONED");
    std::ofstream(base / "runs/ABANDONED/spec.json") << "{}";
    std::ofstream(base / "runs/ABANDONED/status.json") << R"({"state":"ended","status":"ok"})";
    std::ofstream(base / "runs/ABANDONED/events.jsonl") << R"({"seq":0,"event":"end","status":"ok"})"
                                                        << "\n";
    std::ofstream(base / "store" / std::string(64, 'a')) << "old";
    const auto young = clear_target(asked.target, {86400, false, false}, observer, {}, agent_program());
    ASSERT_TRUE(young) << young.error().line();
    EXPECT_EQ(integer_field((*young)[0], "runs"), 0) << "nothing is old enough";
    const auto dry = clear_target(asked.target, {0, true, false}, observer, {}, agent_program());
    ASSERT_TRUE(dry);
    EXPECT_EQ(integer_field((*dry)[0], "runs"), 1);
    EXPECT_TRUE(std::filesystem::exists(base / "runs" / result->id));
    const auto cleared = clear_target(asked.target, {0, false, false}, observer, {}, agent_program());
    ASSERT_TRUE(cleared);
    EXPECT_EQ(integer_field((*cleared)[0], "kept_runs"), 1);
    EXPECT_GT(integer_field((*cleared)[0], "bytes"), 0);
    EXPECT_FALSE(std::filesystem::exists(base / "runs" / result->id));
    EXPECT_TRUE(std::filesystem::exists(base / "runs/ABANDONED"));
    EXPECT_FALSE(std::filesystem::exists(base / "store" / std::string(64, 'a')));
    const auto again = launch(asked, observer, {});
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(again->state, RunState::ok) << "what is missing is sent again";
    // A host that is down does not keep the others from being cleared.
    Target two = asked.target;
    two.hosts.insert(two.hosts.begin(), two.hosts.front());
    two.hosts.front().port = 1;
    const auto part = clear_target(two, {0, false, false}, observer, {}, agent_program());
    ASSERT_TRUE(part) << part.error().line();
    EXPECT_NE(text_field((*part)[0], "problem").find("refused"), std::string::npos) << part->dump();
    EXPECT_EQ(integer_field((*part)[1], "runs"), 1) << part->dump();
}

} // namespace
} // namespace fourfold::test
