// SPDX-License-Identifier: GPL-3.0-or-later
// From one name to a target and a cluster: what is read off hosts and Slurm, which preset it is, what is written.
#include "core/base/paths.h"
#include "core/plan/plan.h"
#include "core/predict/prediction.h"
#include "runner/preflight/cluster_match.h"
#include "runner/protocol/message.h"
#include "tests/fake_slurm.h"
#include "tests/runner/sshd.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

FindQuestions asked(const std::string& name, const std::string& base_folder = {}, const std::string& jumps = {})
{
    return {name, jumps, base_folder, {}};
}

Json adapters(int count, double gb_s, const char* kind = "InfiniBand")
{
    Json out = Json::array();
    for (int i = 0; i < count; ++i)
        out.push_back({{"name", "mlx5_" + std::to_string(i)}, {"kind", kind}, {"gb_s", gb_s}});
    return out;
}

ProbeReport::Host gpu_host(const std::string& name, const std::string& gpu, double memory_gib, int gpus, Json links)
{
    ProbeReport::Host host;
    host.name = name;
    host.facts.cores = 64;
    host.facts.gpus.assign(static_cast<std::size_t>(gpus), {gpu, memory_gib});
    host.links = std::move(links);
    host.slurm = Json::object();
    return host;
}

FoundCluster found_of(std::vector<ProbeReport::Host> hosts)
{
    ProbeReport report;
    report.hosts = std::move(hosts);
    return read_found(*target_to_ask(asked("alice@a,b")), std::move(report));
}

FoundCluster login_of(const Json& partitions)
{
    ProbeReport::Host host = gpu_host("login", "", 0, 0, Json::object());
    host.slurm = {{"partitions", partitions}};
    ProbeReport report;
    report.hosts = {host};
    return read_found(*target_to_ask(asked("alice@login.example.org")), std::move(report));
}

Json partition(const char* name, const char* gres, bool is_default, int usable)
{
    return {{"name", name}, {"default", is_default}, {"up", true}, {"limit", "2-00:00:00"}, {"gres", gres},
        {"features", ""}, {"nodes", usable + 1}, {"usable", usable}, {"idle", 1}, {"cores", 96}, {"memory_gib", 500.0}};
}

TEST(FindQuestions, AWordIsAHostAndAFileMayNotHoldWhatATargetMayNot)
{
    const Home home;
    const auto alias = target_to_ask(
        {"  gpu-box ", "gate,bob@inner:2222", "/scratch/me", "module load cuda\n\nulimit -l unlimited\n"});
    ASSERT_TRUE(alias) << alias.error().line();
    EXPECT_EQ(alias->kind, TargetKind::ssh);
    ASSERT_EQ(alias->hosts.size(), 1u);
    EXPECT_EQ(alias->hosts[0].address, "gpu-box");
    ASSERT_EQ(alias->hosts[0].jumps.size(), 2u);
    EXPECT_EQ(place_name(alias->hosts[0].jumps[1]), "bob@inner:2222");
    EXPECT_EQ(alias->base_folder, "/scratch/me");
    EXPECT_EQ(alias->prelude, (std::vector<std::string>{"module load cuda", "ulimit -l unlimited"}));
    EXPECT_EQ(target_to_ask(asked("node[1-3]"))->hosts.size(), 3u);
    EXPECT_EQ(target_to_ask(asked("local"))->kind, TargetKind::local);
    EXPECT_FALSE(target_to_ask(asked("")));
    EXPECT_NE(target_to_ask(asked("; rm -rf /")).error().line().find("; rm -rf /: "), std::string::npos); // a file
    EXPECT_FALSE(target_to_ask(asked("-oProxyCommand=x")));
    EXPECT_FALSE(target_to_ask(asked("h", "../up")));
    EXPECT_FALSE(target_to_ask(asked("local", "", "gate")));
}

TEST(GpusMeant, NamesOfNvidiaAndSlurmFindTheirPreset)
{
    const Presets presets;
    const auto first = [&](const char* name, double memory) {
        const auto ids = gpus_meant(name, memory, presets);
        return ids.empty() ? std::string() : ids.front();
    };
    EXPECT_EQ(first("NVIDIA H100 80GB HBM3", 79.6), "h100-80gb-sxm");
    EXPECT_EQ(first("NVIDIA A100-SXM4-40GB", 40.0), "a100-40gb-sxm");
    EXPECT_EQ(first("NVIDIA A100-SXM4-80GB", 80.0), "a100-80gb-sxm");
    EXPECT_EQ(first("NVIDIA H200", 140.4), "h200-141gb-sxm");
    EXPECT_EQ(first("Tesla V100-SXM2-32GB", 32.0), "v100-32gb-sxm");
    EXPECT_EQ(first("NVIDIA L40S", 45.0), "l40s");
    EXPECT_EQ(first("a100_80gb", 0), "a100-80gb-sxm");
    EXPECT_EQ(first("NVIDIA A100-PCIE-40GB", 40.0), "") << "another board";
    EXPECT_EQ(first("NVIDIA H100 NVL", 93.6), "");
    EXPECT_EQ(first("NVIDIA GeForce RTX 4090", 24.0), "");
    EXPECT_GE(gpus_meant("h100", 0, presets).size(), 3u) << "Slurm does not say how much memory";
}

// sinfo tells a partition once for each kind of its nodes; a hostile one tells what cannot be.
// A GPU that is lost makes nvidia-smi silent: such a node is none of cores.
TEST(FoundCluster, ADriverThatSaysNothingIsNotTakenForNoGpu)
{
    const Home home;
    ProbeReport::Host host = gpu_host("a", "", 0, 0, Json::object());
    host.facts.document = {{"gpu_silence", "there is an NVIDIA driver, and nvidia-smi says nothing"}};
    const FoundCluster found = found_of({host});
    ClusterChoice choice = first_choice(found, 8);
    const auto planned = planned_cluster(found, choice, Presets());
    ASSERT_FALSE(planned);
    EXPECT_THAT(planned.error().line(), HasSubstr("a: there is an NVIDIA driver, and nvidia-smi says nothing"));
    choice.like = "dgx-h100";
    EXPECT_TRUE(planned_cluster(found, choice, Presets()));
}

TEST(FoundSlurm, APartitionOfSeveralKindsOfNodesHasItsGpus)
{
    const Home home;
    const FoundCluster mixed
        = login_of(Json::array({partition("main", "(null)", true, 100), partition("main", "gpu:a100:8", true, 4)}));
    const ClusterChoice choice = first_choice(mixed, 16);
    EXPECT_EQ(choice.nodes, 2);
    EXPECT_EQ(chosen_nodes(mixed, choice).gpus_per_node, 8);
    const auto target = chosen_target(mixed, choice);
    ASSERT_TRUE(target) << target.error().line();
    EXPECT_EQ(target->slurm->gres, "gpu:a100:8");

    const FoundCluster nameless = login_of(Json::array({partition("", "gpu:a100:8", false, 4)}));
    EXPECT_TRUE(nameless.partitions.empty());
    EXPECT_FALSE(first_choice(nameless, 16).slurm);
    const FoundCluster absurd
        = login_of(Json::array({partition("main", "gpu:a:2147483647,gpu:b:99999999999999", true, 1 << 20)}));
    EXPECT_EQ(first_choice(absurd, 1 << 20).nodes, 1);
    EXPECT_FALSE(chosen_target(absurd, first_choice(absurd, 1 << 20))) << "no node has so many";
    ClusterChoice local = choice;
    local.id = "local";
    const auto taken = chosen_target(mixed, local);
    ASSERT_FALSE(taken) << "such a file would never be read";
    EXPECT_THAT(taken.error().line(), HasSubstr("is always this computer"));
}

TEST(FoundCluster, HostsLikeAPresetAreThatPresetAndOthersAreWritten)
{
    const Home home;
    const Json nvlink = {
        {"gpu_gb_s", 478.1}, {"gpu_links", 18}, {"pair_links", 18}, {"pcie_gb_s", 63}, {"adapters", adapters(8, 50)}};
    const FoundCluster dgx = found_of({gpu_host("a", "NVIDIA H100 80GB HBM3", 79.6, 8, nvlink),
        gpu_host("b", "NVIDIA H100 80GB HBM3", 79.6, 8, nvlink)});
    const Presets presets;
    ClusterChoice choice = first_choice(dgx, 4);
    EXPECT_EQ(choice.id, "alice-a-b");
    EXPECT_FALSE(choice.slurm);
    const auto same = save_found(dgx, choice, presets);
    ASSERT_TRUE(same) << same.error().line();
    EXPECT_EQ(same->cluster, "dgx-h100");
    EXPECT_TRUE(same->cluster_file.empty());
    EXPECT_EQ(same->gpus, 16);
    const auto target = load_target("alice-a-b");
    ASSERT_TRUE(target) << target.error().line();
    EXPECT_EQ(target->hosts.size(), 2u);

    // Four GPUs, half of the links to each other one, two slow adapters: no preset.
    const Json few
        = {{"gpu_gb_s", 300.0}, {"gpu_links", 12}, {"pair_links", 4}, {"adapters", adapters(2, 12.5, "RoCE")}};
    const FoundCluster own = found_of({gpu_host("a", "NVIDIA A100-SXM4-80GB", 80, 4, few)});
    choice = first_choice(own, 4);
    choice.id = "lab";
    const auto written = save_found(own, choice, presets);
    ASSERT_TRUE(written) << written.error().line();
    EXPECT_EQ(written->cluster, "lab");
    const auto cluster = Presets().cluster("lab");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_EQ(cluster->gpu.id, "a100-80gb-sxm");
    EXPECT_EQ(cluster->gpus_per_node, 4);
    EXPECT_EQ(cluster->intra_node.topology, IntraTopology::pairs);
    EXPECT_DOUBLE_EQ(cluster->intra_node.pair_gb_s, 100);
    EXPECT_DOUBLE_EQ(cluster->inter_node.bandwidth_gb_s, 6.25);
    EXPECT_DOUBLE_EQ(cluster->inter_node.nics_per_node, 2);
    const auto plan = plan_from_json(Json::parse(R"({"model":"llama-3.1-8b","cluster":"lab","gpus":4})"), "p");
    ASSERT_TRUE(plan);
    EXPECT_TRUE(predict(*resolve(*plan, Presets())).step_time_s) << "a plan can be on it";

    // A second look replaces what a look wrote, and nothing that a person or a measurement did.
    EXPECT_TRUE(save_found(own, choice, Presets()));
    const auto file = config_folder() / "presets/clusters/lab.json";
    Json measured = *read_json_file(file);
    measured["calibration"] = {{"stack", "fourfold"}, {"constants", Json::object()}};
    std::ofstream(file) << measured.dump();
    const auto kept = save_found(own, choice, Presets());
    ASSERT_TRUE(kept) << kept.error().line();
    EXPECT_EQ(kept->cluster, "lab");
    EXPECT_TRUE(kept->cluster_file.empty());
    EXPECT_TRUE(read_json_file(file)->contains("calibration"));
    std::ofstream(config_folder() / "presets/targets/mine.json") << R"({"kind":"local"})";
    choice.id = "mine";
    EXPECT_FALSE(save_found(own, choice, Presets())) << "somebody's own target stays";
    choice.id = "../up";
    EXPECT_FALSE(save_found(own, choice, Presets()));
}

TEST(FoundCluster, WhatIsNotKnownIsSaidInOneLineAndAPresetHelps)
{
    const Home home;
    const FoundCluster odd = found_of({gpu_host(
        "a", "NVIDIA GeForce RTX 4090\033[31m", 24, 2, {{"gpu_gb_s", 31.5}, {"adapters", adapters(1, 1.25)}})});
    ClusterChoice choice = first_choice(odd, 1);
    const auto none = planned_cluster(odd, choice, Presets());
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().line(), HasSubstr("no preset is like the GPU"));
    EXPECT_EQ(none.error().line().find('\033'), std::string::npos);
    choice.like = "dgx-h100";
    EXPECT_EQ(planned_cluster(odd, choice, Presets())->id, "dgx-h100");
    const FoundCluster blind = found_of({gpu_host("a", "NVIDIA L40S", 45, 8, Json::object())});
    EXPECT_THAT(
        planned_cluster(blind, first_choice(blind, 1), Presets()).error().line(), HasSubstr("joined is not known"));
}

TEST(FoundSlurm, TheDefaultPartitionWithGpusBecomesATarget)
{
    const Home home;
    const FoundCluster login = login_of(Json::array({partition("cpu", "(null)", true, 40),
        partition("small", "gpu:h100:4(S:0-1)", false, 2), partition("big", "gpu:h100:8,shard:16", false, 12)}));
    ASSERT_EQ(login.partitions.size(), 3u);
    ClusterChoice choice = first_choice(login, 32);
    EXPECT_TRUE(choice.slurm);
    EXPECT_EQ(choice.queue.partition, "big");
    EXPECT_EQ(choice.nodes, 4);
    choice.id = "hpc";
    choice.queue.account = "project";
    choice.queue.lines = {"--mail-type=END"};
    const auto saved = save_found(login, choice, Presets());
    ASSERT_TRUE(saved) << saved.error().line();
    EXPECT_EQ(saved->cluster, "dgx-h100");
    EXPECT_EQ(saved->gpus, 32);
    const auto target = load_target("hpc");
    ASSERT_TRUE(target) << target.error().line();
    EXPECT_EQ(target->kind, TargetKind::slurm);
    EXPECT_EQ(place_name(*target->slurm->login), "alice@login.example.org");
    EXPECT_EQ(target->slurm->partition, "big");
    EXPECT_EQ(target->slurm->gres, "gpu:h100:8");
    EXPECT_EQ(target->slurm->account, "project");
    EXPECT_EQ(ranks_of_hosts(*target, 32)->size(), 4u);
    choice.queue.partition = "cpu";
    choice.nodes = 2;
    const auto cores = planned_cluster(login, choice, Presets());
    ASSERT_TRUE(cores) << cores.error().line();
    EXPECT_TRUE(cores->id.empty()) << "nobody knows these cores yet";
    EXPECT_EQ(chosen_gpus(login, choice), 0);
    EXPECT_EQ(chosen_target(login, choice)->slurm->nodes, 2);
    choice.queue.partition = "none";
    EXPECT_THAT(chosen_target(login, choice).error().line(), HasSubstr("there is no partition"));
    choice.queue.partition = "big";
    choice.queue.lines = {"--wrap=rm"};
    EXPECT_FALSE(chosen_target(login, choice)) << "as a file would be refused";
}

class Find : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        observer.trust = true;
    }
    // An alias as people have it: the name leads to this server, with the test's key.
    void alias(const std::string& name, const Sshd& server) const
    {
        std::filesystem::create_directories(home.path() / ".ssh");
        const TargetHost host = server.host();
        std::ofstream(home.path() / ".ssh/config", std::ios::app)
            << "Host " << name << "\n  HostName " << host.address << "\n  Port " << host.port << "\n  IdentityFile "
            << client_key(home).string() << "\n";
    }
    Home home;
    Recording observer;
};

TEST_F(Find, AnAliasIsEnoughForAHostOfCores)
{
    Sshd server(home, "box");
    server.start();
    alias("box", server);
    const auto found = find_cluster(asked("box", (home.path() / "node").string()), observer, {}, agent_program());
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->hosts.nodes, 1);
    EXPECT_EQ(observer.questions.size(), 1u) << "the host key was asked for";
    ASSERT_EQ(found->report.hosts.size(), 1u);
    if (!found->partitions.empty() || found->hosts.gpus_per_node > 0)
        GTEST_SKIP() << "this computer has GPUs or a Slurm that answers";
    const auto saved = save_found(*found, first_choice(*found, 4), Presets());
    ASSERT_TRUE(saved) << saved.error().line();
    EXPECT_EQ(saved->cluster, "box");
    const auto cluster = Presets().cluster("box");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_TRUE(cluster->gpu.is_cpu());
    EXPECT_GT(*cluster->gpu.fp32_tflops, 0);
    const auto target = load_target("box");
    ASSERT_TRUE(target) << target.error().line();
    EXPECT_EQ(target->hosts[0].address, "box") << "the alias stays one: ssh_config may change";
}

TEST_F(Find, ALoginOfSlurmIsKnownByItsPrograms)
{
    const auto tools = fakes::put_fake_slurm(home.path() / "tools");
    Sshd server(home, "login", {.variable = "PATH=" + tools.string() + ":/usr/bin:/bin"});
    server.start();
    alias("login", server);
    const auto found = find_cluster(asked("login", (home.path() / "node").string()), observer, {}, agent_program());
    ASSERT_TRUE(found) << found.error().line();
    ASSERT_EQ(found->partitions.size(), 2u) << to_json(*found).dump(1);
    const FoundPartition& gpu = found->partitions[1];
    EXPECT_EQ(gpu.nodes, 4);
    EXPECT_EQ(gpu.usable, 3);
    EXPECT_EQ(gpu.gpu, "a100");
    EXPECT_EQ(gpu.cores, 128);
    EXPECT_TRUE(found->report.hosts[0].speed.empty()) << "nobody measures a login host";
    const auto saved = save_found(*found, first_choice(*found, 16), Presets());
    ASSERT_TRUE(saved) << saved.error().line();
    EXPECT_EQ(saved->gpus, 16);
    EXPECT_FALSE(saved->cluster.empty());
    EXPECT_EQ(load_target("login")->slurm->login->address, "login");
}

TEST_F(Find, AHostThatDoesNotAnswerIsOneLine)
{
    const auto found = find_cluster(asked("alice@127.0.0.1:1"), observer, {}, agent_program());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().line(), HasSubstr("refused"));
    EXPECT_EQ(found.error().line().find('\n'), std::string::npos);
}

} // namespace
} // namespace fourfold::test
