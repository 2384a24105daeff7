// SPDX-License-Identifier: GPL-3.0-or-later
// Uploads: over a line of 20 ms and 1 Gbit/s beside scp, and 104 MB to four nodes of 200 Mbit/s each, as a chain and to
// each: bench_upload [far] [chain] [FILE ...]. FILE: what goes over the far line, beside random bytes. Needs root.
#include "core/base/json.h"
#include "core/base/sha256.h"
#include "runner/nodes/stage_nodes.h"
#include "tests/cluster/delay_line.h"
#include "tests/cluster/ssh_cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <thread>

namespace fourfold::test {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::filesystem::path random_file(const Home& home, std::size_t bytes)
{
    std::mt19937_64 random(1);
    std::string content(bytes, '\0');
    for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
        const uint64_t value = random();
        std::copy_n(reinterpret_cast<const char*>(&value), 8, content.data() + at);
    }
    const auto file = home.path() / "random";
    std::ofstream(file, std::ios::binary) << content;
    return file;
}

Bundle bundle_of(const std::filesystem::path& file)
{
    Bundle bundle;
    bundle.files = {{"data/0/file", file, *sha256_file(file), std::filesystem::file_size(file)}};
    return bundle;
}

// Connects and brings the bundle to every host; seconds, or -1 with a printed reason.
double bring(const Target& target, const Bundle& bundle, const std::string& upload, uint64_t& sent)
{
    Mailbox mailbox;
    Recording observer;
    observer.trust = true;
    const auto begin = Clock::now();
    std::vector<Node> nodes = make_nodes(target, agent_program(), mailbox, observer);
    auto done = on_all_nodes(
        nodes, mailbox, {}, [](Node& node, std::stop_token stop) { return node.connect(std::move(stop)); });
    if (done)
        done = stage_nodes(nodes, bundle, {false, upload, true}, mailbox, observer, {});
    const double seconds = since(begin);
    if (!done) {
        std::printf("%s\n", done.error().line().c_str());
        return -1;
    }
    sent = 0;
    for (const Node& node : nodes)
        sent += node.agent->bytes_written();
    return seconds;
}

void forget(const Sshd& node, const Bundle& bundle)
{
    std::error_code error;
    std::filesystem::remove(node.disk() / "store" / bundle.files.front().sha256, error);
    std::filesystem::remove(node.disk() / "copy", error);
}

void far(const Home& home, std::vector<std::filesystem::path> files)
{
    Namespaces net(1);
    const DelayLine line({"", "10.231.78.100/24"}, {net.node(1), "10.231.78.1/24"}, 10, 1000);
    if (!net.good() || !line.good()) {
        std::printf("the line could not be set up (is /dev/net/tun there?)\n");
        return;
    }
    SshdPlace place{"10.231.78.1", 22, net.node(1)};
    place.own_disk = true;
    place.lines = "Subsystem sftp /usr/lib/openssh/sftp-server\n"; // scp goes through it
    Sshd node(home, "far", place);
    node.start();
    const Target target = ssh_target(home, {&node});
    std::ofstream known(home.path() / "known");
    std::ifstream key(home.path() / "far/host_key.pub");
    std::string type, text;
    key >> type >> text;
    known << "10.231.78.1 " << type << ' ' << text << "\n";
    known.close();
    files.push_back(random_file(home, 200'000'000));
    for (const auto& file : files) {
        const Bundle bundle = bundle_of(file);
        const double megabytes = double(bundle.bytes()) / 1e6;
        uint64_t sent = 0;
        (void)bring(target, bundle, "parallel", sent); // agent there, caches warm
        std::vector<double> ratios;
        double best = 0, best_scp = 0, on_wire = 0;
        for (int i = 0; i < 3; ++i) {
            forget(node, bundle);
            const double ours = bring(target, bundle, "parallel", sent);
            on_wire = double(sent) / 1e6;
            forget(node, bundle);
            const auto begin = Clock::now();
            const auto said = home.path() / "scp.log";
            const int status
                = run_program({"sh", "-c", "exec \"$@\" 2>\"$0\"", said.string(), "scp", "-q", "-F", "/dev/null", "-i",
                    client_key(home).string(), "-o", "UserKnownHostsFile=" + (home.path() / "known").string(),
                    file.string(), node.host().user + "@10.231.78.1:" + (home.path() / "node/copy").string()});
            const double scp = since(begin);
            if (status != 0 || ours <= 0) {
                const auto why = read_text_file(said);
                std::printf(
                    "ours took %.2f s, scp ended with %d: %s\n", ours, status, why ? why->c_str() : "it says nothing");
                return;
            }
            std::printf("  %s: ours %.2f s, scp %.2f s\n", file.filename().c_str(), ours, scp);
            ratios.push_back(scp / ours);
            best = std::max(best, megabytes / ours);
            best_scp = std::max(best_scp, megabytes / scp);
        }
        std::sort(ratios.begin(), ratios.end());
        std::printf(
            "20 ms, 1 Gbit/s, %s (%.0f MB, %.0f MB on the wire): %.2f x scp (%.2f .. %.2f); best %.1f MB/s, scp %.1f\n",
            file.filename().c_str(), megabytes, on_wire, ratios[1], ratios.front(), ratios.back(), best, best_scp);
    }
}

void chain(const Home& home)
{
    constexpr int kNodes = 4;
    Namespaces net(kNodes);
    std::vector<std::unique_ptr<Sshd>> nodes;
    std::vector<const Sshd*> all;
    bool shaped = net.good();
    for (int i = 1; i <= kNodes; ++i) {
        SshdPlace place{net.address(i), 22, net.node(i)};
        place.own_disk = true;
        nodes.push_back(std::make_unique<Sshd>(home, "node" + std::to_string(i), place));
        nodes.back()->start();
        all.push_back(nodes.back().get());
    }
    const Target target = ssh_target(home, all);
    const Bundle bundle = bundle_of(random_file(home, 104'000'000));
    uint64_t sent = 0;
    (void)bring(target, Bundle{}, "parallel", sent); // agents are there
    for (int i = 0; i <= kNodes; ++i)
        shaped = net.shape(i, 200) && shaped;
    if (!shaped) {
        std::printf("the lines could not be limited\n");
        return;
    }
    for (const char* how : {"chain", "parallel", "chain"}) {
        for (const auto& node : nodes)
            forget(*node, bundle);
        const double seconds = bring(target, bundle, how, sent);
        for (const auto& node : nodes) {
            const auto hash = sha256_file(node->disk() / "store" / bundle.files.front().sha256);
            if (!hash || *hash != bundle.files.front().sha256)
                std::printf("%s has not got the file\n", node->disk().c_str());
        }
        std::printf("104 MB to %d nodes at 200 Mbit/s each, %s: %.2f s (%.0f MB from the client)\n", kNodes, how,
            seconds, double(sent) / 1e6);
    }
}

int measure(int argc, char** argv)
{
    if (const std::string why = why_no_ssh_cluster(); !why.empty()) {
        std::printf("nothing was measured: %s\n", why.c_str());
        return 77;
    }
    std::set<std::string> what;
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "far" || std::string(argv[i]) == "chain")
            what.insert(argv[i]);
        else
            files.emplace_back(argv[i]);
    }
    std::ifstream load("/proc/loadavg");
    std::string shown;
    std::getline(load, shown);
    std::printf("load %s on %u cores\n", shown.c_str(), std::thread::hardware_concurrency());
    const Home home;
    if (what.empty() || what.contains("chain"))
        chain(home);
    if (what.empty() || what.contains("far"))
        far(home, files);
    return 0;
}

} // namespace
} // namespace fourfold::test

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return fourfold::test::measure(argc, argv);
}
