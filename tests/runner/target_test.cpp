// SPDX-License-Identifier: GPL-3.0-or-later
// Target files and host lists; resources/schemas/target.schema.json is held to the reader.
#include "runner/target/room.h"
#include "runner/target/target_hosts.h"
#include "tests/core/plan/schema_checker.h"

#include <gtest/gtest.h>

#include <map>

namespace fourfold::test {
namespace {

const Json& schema()
{
    static const Json kSchema = *read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/target.schema.json");
    return kSchema;
}

Expected<Target> read(const Json& json)
{
    return target_from_json(json, "t.json");
}

// Every key with a value that is not its default.
Json full()
{
    return Json::parse(R"({ "fourfold_target": 1, "id": "t.json", "kind": "ssh",
        "hosts": [ { "address": "h1", "user": "a", "port": 23, "key_file": "~/k", "node_address": "10.0.0.1", "ranks": 2,
                     "jump": [ { "address": "j", "user": "b", "port": 24, "key_file": "/k" } ] } ],
        "base_folder": "~/ff", "group_writable_folders": [ "/project/lab" ], "backend": "gloo",
        "prelude": [ "module load cuda" ],
        "container": { "image": "/images/a.sif", "binds": [ "/data:/mnt:ro" ] },
        "environment": { "NCCL_DEBUG": "INFO" }, "secrets": [ "HF_TOKEN" ], "interface": "ib0", "hcas": [ "mlx5_0" ],
        "numa": "spread", "host_order": "name", "mixed_gpus": true, "preflight": false, "reuse_files": false,
        "upload": "chain", "events_gib": 3.5,
        "timeouts": { "connect_s": 3.5, "link_s": 6.5, "reconnect_s": 7.5, "stop_grace_s": 1.5, "prelude_s": 7.0, "first_step_s": 8.0, "stall_s": 9.0,
                      "stall_steps": 11.0, "hang_s": 12.0, "collective_s": 13.0, "lease_s": 14.0, "save_s": 15.0 } })");
}

Json full_slurm()
{
    return Json::parse(R"({ "fourfold_target": 1, "kind": "slurm", "slurm": { "login": null, "nodes": 2,
        "ranks_per_node": 4, "partition": "gpu", "account": "a", "qos": "q", "time": "1:00:00", "gres": "gpu:4",
        "constraint": "h100", "reservation": "r", "requeue": true, "lines": [ "--mail-type=END" ] } })");
}

void keys_of(const Json& properties, const std::string& path, std::map<std::string, Json>& out)
{
    for (const auto& [key, child] : properties.items()) {
        out[path + key] = child;
        if (child.contains("items") && child["items"].contains("properties"))
            keys_of(child["items"]["properties"], path + key + "[].", out);
        else if (child.contains("properties"))
            keys_of(child["properties"], path + key + ".", out);
    }
}

void written_keys(const Json& json, const std::string& path, std::set<std::string>& out)
{
    for (const auto& [key, child] : json.items()) {
        out.insert(path + key);
        if (key == "environment")
            continue;
        if (child.is_object())
            written_keys(child, path + key + ".", out);
        if (child.is_array() && !child.empty() && child[0].is_object())
            written_keys(child[0], path + key + "[].", out);
    }
}

TEST(TargetSchema, ListsExactlyTheKeysOfTheReader)
{
    std::map<std::string, Json> listed;
    keys_of(schema()["properties"], "", listed);
    std::set<std::string> in_schema, written;
    for (const auto& [key, node] : listed) {
        in_schema.insert(key);
        for (const auto& [keyword, value] : node.items())
            EXPECT_TRUE(schema_keywords().contains(keyword)) << keyword;
    }
    for (const Json& example : {full(), full_slurm()}) {
        const auto target = read(example);
        ASSERT_TRUE(target) << target.error().line();
        written_keys(to_json(*target), "", written);
        EXPECT_TRUE(matches(schema(), example));
        EXPECT_TRUE(matches(schema(), to_json(*target))) << to_json(*target).dump();
    }
    // Second names and the name for people are read and not written; a login host is a host.
    for (const char* alias : {"env", "connect_timeout_s", "stop_grace_s", "name"}) {
        EXPECT_TRUE(in_schema.erase(alias)) << alias;
    }
    std::erase_if(in_schema, [](const std::string& key) { return key.starts_with("slurm.login."); });
    EXPECT_EQ(in_schema, written);
}

TEST(TargetSchema, EveryKeyIsReadAndChecked)
{
    const auto target = read(full());
    ASSERT_TRUE(target) << target.error().line();
    Json expected = full(), back = to_json(*target);
    EXPECT_EQ(back, expected);
    const auto slurm = read(full_slurm());
    ASSERT_TRUE(slurm) << slurm.error().line();
    EXPECT_EQ(to_json(*slurm)["slurm"], full_slurm()["slurm"]);
    EXPECT_EQ(to_json(*read(to_json(*slurm))), to_json(*slurm));
    // A value of a wrong type, outside the range or no choice is refused by both; so is a key that does not exist.
    std::map<std::string, Json> listed;
    keys_of(schema()["properties"], "", listed);
    for (const auto& [key, node] : listed) {
        if (key.find('.') != std::string::npos)
            continue;
        std::vector<Json> wrong{Json(Json::array({1})), Json(Json::object({{"unheard", 1}}))};
        if (node.contains("maximum"))
            wrong = {Json("text"), Json(node["maximum"].get<double>() + 1), Json(-1)};
        if (node.contains("enum"))
            wrong = {Json("no such choice"), Json(7.5)};
        for (const Json& value : wrong) {
            Json changed = key == "slurm" ? full_slurm() : full();
            changed[key] = value;
            EXPECT_FALSE(matches(schema(), changed)) << key << " " << value.dump();
            EXPECT_FALSE(read(changed)) << key << " " << value.dump();
        }
    }
    Json unknown = full();
    unknown["prelud"] = "x";
    EXPECT_FALSE(matches(schema(), unknown));
    const auto refused = read(unknown);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("did you mean prelude?"), std::string::npos) << refused.error().line();
}

TEST(Targets, SecondNamesOfKeys)
{
    const auto target = read(Json::parse(R"({"hosts":["h"],"env":{"A":"1"},"connect_timeout_s":4,"stop_grace_s":5})"));
    ASSERT_TRUE(target) << target.error().line();
    EXPECT_EQ(target->environment.at("A"), "1");
    EXPECT_EQ(target->connect_timeout_s, 4);
    EXPECT_EQ(target->stop_grace_s, 5);
}

TEST(Targets, AdHocLists)
{
    const auto target = load_target("alice@node1:2201,127.0.0.1:2202,bob@[::1]:22,10.0.0.4");
    ASSERT_TRUE(target) << target.error().line();
    ASSERT_EQ(target->hosts.size(), 4u);
    EXPECT_EQ(target->hosts[1].user, "alice") << "a host without a user takes the one before";
    EXPECT_EQ(target->hosts[3].user, "bob");
    EXPECT_EQ(host_name(*target, 1), "alice@127.0.0.1:2202");
    EXPECT_EQ(host_name(*target, 2), "bob@[::1]:22");
    EXPECT_EQ(target->kind, TargetKind::ssh);
}

TEST(Targets, RangesOfHosts)
{
    const auto names = [](const std::string& text) {
        std::string out;
        const auto target = load_target(text);
        if (!target)
            return "refused: " + target.error().message;
        for (std::size_t i = 0; i < target->hosts.size(); ++i)
            out += (i ? " " : "") + host_name(*target, i);
        return out;
    };
    EXPECT_EQ(names("me@node[08-11]:22"), "me@node08:22 me@node09:22 me@node10:22 me@node11:22");
    EXPECT_EQ(names("me@r[1-2]n[1,3]"), "me@r1n1 me@r1n3 me@r2n1 me@r2n3");
    EXPECT_EQ(names("me@[::1]:22,a[1-2]"), "me@[::1]:22 me@a1 me@a2");
    for (const char* wrong : {"n[2-1]", "n[1-", "n[]", "n[a-b]", "n[1-99999]", "n[1-64]x[1-65]", "n[1;2]"})
        EXPECT_TRUE(names(wrong).starts_with("refused")) << wrong << names(wrong);
    EXPECT_EQ(names("n[1-99999]"), "refused: \"n[1-99999]\" is more than 4096 hosts");
    const auto file
        = read(Json::parse(R"({"hosts":["me@n[10-11]",{"address":"n[1-2]","ranks":3}],"host_order":"name"})"));
    ASSERT_TRUE(file) << file.error().line();
    ASSERT_EQ(file->hosts.size(), 4u);
    EXPECT_EQ(file->hosts[0].address, "n1");
    EXPECT_EQ(file->hosts[1].ranks, 3);
    EXPECT_EQ(file->hosts[2].address, "n10");
    EXPECT_FALSE(read(Json::parse(R"({"hosts":[{"address":"n[1-2]","node_address":"10.0.0.1"}]})")));
}

TEST(Targets, NothingThatAShellCouldReadGetsThrough)
{
    for (const char* text : {"a;b@host", "user@host;reboot", "user@$(id)", "user@ho`st", "user@host name",
             "user@-oProxyCommand=x", "-l@host", "@host", "user@", "user@host:", "user@host:0", "user@host:70000",
             "user@host:22x", "user@host,,other", "user@host\nother", "us'er@host", "user@h|t", "user@h&t,b", ".", "..",
             "user@-", "user@_:22", "user@::1", "::1:22"}) {
        const auto target = load_target(text);
        EXPECT_FALSE(target) << text;
        if (!target) {
            EXPECT_EQ(target.error().exit_status(), 2) << text;
        }
    }
    EXPECT_NE(load_target("user@::1:22").error().line().find("[::1]:2222"), std::string::npos);
    for (const char* address : {"localhost:2604", "::1:x", "12:34"}) {
        const auto target = read({{"hosts", Json::array({{{"address", address}}})}});
        ASSERT_FALSE(target) << address;
        EXPECT_NE(target.error().line().find("no IPv6 address"), std::string::npos) << target.error().line();
    }
    EXPECT_TRUE(read({{"hosts", Json::array({{{"address", "::ffff:127.0.0.1"}}})}}));
    const auto unknown = load_target("no-such-target");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().exit_status(), 2);
}

TEST(Targets, FilesAreReadStrictly)
{
    for (const char* bad : {R"({"kind":"pbs"})", R"({"kind":"ssh"})", R"({"kind":"ssh","hosts":[]})",
             R"({"hosts":[{"adress":"x"}]})", R"({"hosts":["h"],"base_folder":"/a b"})",
             R"({"hosts":["h"],"base_folder":"/a/../b"})", R"({"hosts":["h"],"base_folder":"relative"})",
             R"({"hosts":["h"],"group_writable_folders":["lab"]})", R"({"hosts":["h"],"group_writable_folders":["/"]})",
             R"({"hosts":["h"],"group_writable_folders":["/a:/b"]})", R"({"hosts":["h"],"backend":"mpi"})",
             R"({"hosts":["h"],"environment":{"RANK":"1"}})", R"({"hosts":["h"],"environment":{"X":1}})",
             R"({"hosts":[{"address":"h","node_address":"name"}]})", R"({"hosts":["h"],"password":"x"})",
             R"({"hosts":"h"})", R"({"hosts":[{"address":"h","port":"22"}]})", R"([1])",
             R"({"hosts":["h"],"secrets":["A=B"]})", R"({"hosts":["h"],"prelude":["a\nb"]})",
             R"({"hosts":["h"],"prelude":["a\u0000b"]})", R"({"hosts":["h"],"container":"image.sif"})",
             R"({"hosts":["h"],"container":"docker://a;b"})",
             R"({"hosts":["h"],"container":{"image":"/a.sif","binds":["/a,/b"]}})",
             R"({"hosts":["h"],"interface":"eth0;id"})", R"({"hosts":["h"],"hcas":[""]})",
             R"({"hosts":["h"],"slurm":{}})", R"({"kind":"slurm","hosts":["h"]})",
             R"({"kind":"slurm","secrets":["TOKEN"]})", R"({"kind":"slurm","slurm":{"partition":"a b"}})",
             R"({"kind":"slurm","slurm":{"lines":["--wrap=id"]}})", R"({"kind":"slurm","slurm":{"lines":["-p x"]}})",
             R"x({"kind":"slurm","slurm":{"lines":["--comment=$(id)"]}})x",
             R"({"kind":"slurm","slurm":{"lines":["--mail-type=END\n#SBATCH --wrap=id"]}})",
             R"({"kind":"slurm","slurm":{"login":"n[1-2]"}})", R"({"hosts":[{"address":"h","jump":"a b"}]})",
             R"({"hosts":[{"address":"h","jump":[{"address":"j","ranks":1}]}]})", R"({"fourfold_target":2})",
             R"({"kind":"local","hosts":["me@node1"]})", R"({"kind":"local","hosts":["127.0.0.1","127.0.0.1"]})",
             R"({"hosts":["h"],"env":{"A":"1"},"environment":{"A":"2"}})", R"({"hosts":["h"],"container":{}})",
             R"({"slurm":{"time":"forever"}})", R"({"slurm":{"time":"1:2:3:4"}})", R"({"slurm":{"time":"-1"}})"}) {
        const auto target = read(Json::parse(bad));
        EXPECT_FALSE(target) << bad;
        if (!target) {
            EXPECT_NE(target.error().line().find("t.json"), std::string::npos) << target.error().line();
        }
    }
}

TEST(Targets, ALongBaseFolderIsSaidToBeLong)
{
    Json json{{"hosts", {"h"}}, {"base_folder", "/" + std::string(512, 'x')}};
    const auto target = read(json);
    ASSERT_FALSE(target);
    EXPECT_NE(target.error().line().find("base_folder has 513 characters"), std::string::npos) << target.error().line();
    json["base_folder"] = "/" + std::string(511, 'x');
    EXPECT_TRUE(read(json));
}

// What no program can be started with is unusable input, and not a failure on the node.
TEST(Targets, TheEnvironmentHasALimit)
{
    Json many{{"kind", "local"}, {"environment", Json::object()}}, large = many;
    for (int i = 0; i < 4096; ++i)
        many["environment"]["V" + std::to_string(i)] = "1";
    EXPECT_TRUE(read(many)) << read(many).error().line();
    many["environment"]["ONE_MORE"] = "1";
    for (int i = 0; i < 20; ++i)
        large["environment"]["V" + std::to_string(i)] = std::string(60'000, 'x');
    for (const Json& json : {many, large}) {
        const auto refused = read(json);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().exit_status(), 2);
        EXPECT_NE(refused.error().line().find("expected at most 4096 and 1 MiB"), std::string::npos)
            << refused.error().line();
    }
}

TEST(Targets, TimeLimitsAsSbatchTakesThem)
{
    for (const char* time : {"", "90", "90:30", "1:30:00", "2-12", "2-12:30", "2-12:30:10", "INFINITE", "unlimited"})
        EXPECT_TRUE(read({{"slurm", {{"time", time}}}})) << time;
}

TEST(Targets, ShippedExamplesLoad)
{
    for (const char* id : {"local", "two-ssh-hosts", "slurm-cluster"}) {
        const std::string file = FOURFOLD_SOURCE_DIR "/presets/targets/" + std::string(id) + ".json";
        const auto target = load_target(file);
        EXPECT_TRUE(target) << target.error().line();
        EXPECT_TRUE(matches(schema(), *read_json_file(file)));
    }
}

TEST(Targets, WhatThisComputerCannotHoldIsSaidWithWhatItCould)
{
    Target local;
    local.id = "local";
    local.kind = TargetKind::local;
    ResolvedPlan plan;
    plan.gpus = 16384;
    plan.cluster.gpu.id = "cpu";
    Prediction prediction;
    prediction.memory_by_stage = {{0, 1, 0, 0, 0, 0}, {1, 2.88, 0, 0, 0, 0}}; // 1.94 GiB of an average rank
    const auto refused = check_room(local, plan, prediction, {16, false});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
        "this computer cannot hold the plan: 16384 ranks of 2 GiB need 32768 GiB, and it has 16 GiB");
    EXPECT_EQ(refused.error().hint, "it holds 8 such ranks: choose fewer GPUs, a smaller model or another target");
    plan.gpus = 8;
    EXPECT_TRUE(check_room(local, plan, prediction, {16, false}));
    plan.gpus = 16384;
    plan.cluster.gpu.id = "h100-80gb-sxm";
    EXPECT_FALSE(check_room(local, plan, prediction, {16, true})) << "the programs alone are too many";
    plan.gpus = 8;
    EXPECT_TRUE(check_room(local, plan, prediction, {4, true})) << "the tensors are on the GPUs";
    EXPECT_TRUE(check_room(local, plan, prediction, {0, true})) << "how much there is is not known";
    local.kind = TargetKind::ssh;
    plan.gpus = 16384;
    EXPECT_TRUE(check_room(local, plan, prediction, {16, false})) << "another computer";
    EXPECT_GT(room_here().memory_gib, 0.1);
}

TEST(Targets, APlanOfGpusRunsOnCpusOnlyByName)
{
    ResolvedPlan on_cpus, on_gpus;
    on_cpus.cluster.gpu.id = "cpu";
    on_gpus.cluster.gpu.id = "h100-80gb-sxm";
    on_gpus.cluster.name = "DGX H100";
    const Room bare{16, false}, with_gpus{16, true};
    Target local;
    local.id = "local";
    local.kind = TargetKind::local;
    EXPECT_EQ(*backend_of(local, on_cpus, bare), "gloo");
    EXPECT_EQ(*backend_of(local, on_cpus, with_gpus), "gloo") << "its GPUs were not planned for";
    EXPECT_EQ(*backend_of(local, on_gpus, with_gpus), "nccl");
    const auto refused = backend_of(local, on_gpus, bare);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "the plan is for GPUs (DGX H100), and this computer has none");
    EXPECT_FALSE(check_room(local, on_gpus, {}, bare)) << "said before the start";
    Target nodes = local;
    nodes.kind = TargetKind::ssh;
    EXPECT_EQ(*backend_of(nodes, on_gpus, bare), "nccl") << "the nodes are asked when they are reached";
    for (Target* target : {&local, &nodes}) {
        target->backend = "gloo";
        EXPECT_EQ(*backend_of(*target, on_gpus, bare), "gloo");
        target->backend = "nccl";
        EXPECT_EQ(backend_of(*target, on_cpus, with_gpus).error().message,
            "the backend nccl needs GPUs, and the plan's cluster has none");
    }
}

TEST(Targets, RanksAreSpread)
{
    Target target = *load_target("a@h1,h2");
    EXPECT_EQ(*ranks_of_hosts(target, 8), (std::vector<int>{4, 4}));
    EXPECT_FALSE(ranks_of_hosts(target, 7));
    target.hosts[0].ranks = 5;
    EXPECT_FALSE(ranks_of_hosts(target, 7)) << "ranks of one host only";
    target.hosts[1].ranks = 2;
    EXPECT_EQ(*ranks_of_hosts(target, 7), (std::vector<int>{5, 2}));
    EXPECT_FALSE(ranks_of_hosts(target, 8));
    Target slurm = *read(Json::parse(R"({"slurm":{"ranks_per_node":4}})"));
    EXPECT_EQ(*ranks_of_hosts(slurm, 8), (std::vector<int>{4, 4}));
    EXPECT_FALSE(ranks_of_hosts(slurm, 6));
    slurm.slurm->nodes = 3;
    EXPECT_FALSE(ranks_of_hosts(slurm, 8));
    slurm.slurm->ranks_per_node = 0;
    EXPECT_EQ(*ranks_of_hosts(slurm, 6), (std::vector<int>{2, 2, 2}));
}

} // namespace
} // namespace fourfold::test
