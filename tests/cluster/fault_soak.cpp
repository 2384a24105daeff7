// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cluster/fault_soak.h"

#include "core/history/store.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace fourfold::test {

namespace {

using Clock = std::chrono::steady_clock;

struct Tally {
    int count = 0;
    double seconds = 0, longest = 0;
    std::set<std::string> outcomes;
};

// Its size and last lines, for a message.
std::string end_of(const std::string& text)
{
    return "  " + std::to_string(text.size()) + " bytes, ... "
        + text.substr(text.size() - std::min<std::size_t>(text.size(), 600)) + "\n";
}

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void write_table(const char* title, const std::vector<Fault>& all, const std::map<std::string, Tally>& tallies,
    int count, double seconds)
{
    std::ostringstream out;
    out << count << " faults in " << std::lround(seconds)
        << " s; of all runs: " << (testing::Test::HasFailure() ? "NOT " : "")
        << "every event once, byte for byte as on the node; no process left; history whole\n\n"
        << "| fault | times | ended as | seconds, mean | longest |\n| --- | --- | --- | --- | --- |\n";
    for (const Fault& fault : all) {
        const auto found = tallies.find(fault.name);
        if (found == tallies.end())
            continue;
        const Tally& tally = found->second;
        std::string outcomes;
        for (const std::string& outcome : tally.outcomes)
            outcomes += (outcomes.empty() ? "" : ", ") + outcome;
        char figures[64];
        std::snprintf(figures, sizeof figures, "%.1f | %.1f", tally.seconds / std::max(1, tally.count), tally.longest);
        out << "| " << fault.name << " | " << tally.count << " | " << outcomes << " | " << figures << " |\n";
    }
    std::printf("%s", out.str().c_str());
    if (const char* file = std::getenv("FOURFOLD_SOAK_REPORT"))
        std::ofstream(file) << title << out.str();
}

} // namespace

bool FaultSoak::trains(int steps) const
{
    int started = 0; // ranks that have begun to write: on a busy machine the first is far ahead of the last
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(node_folder(), error)) {
        const std::string file = entry.path().filename();
        started += file.starts_with("rank") && file.ends_with(".jsonl") ? 1 : 0;
    }
    if (started < kRanks)
        return false;
    std::ifstream in(node_folder() / "events.jsonl");
    std::string line;
    while (steps > 0 && std::getline(in, line))
        steps -= line.find("\"step\"") != std::string::npos ? 1 : 0;
    return steps == 0;
}

pid_t FaultSoak::supervisor(const std::string& part) const
{
    pid_t agent = 0;
    EXPECT_TRUE(wait_until([&] { // that node may be slower than the first
        const auto status = read_json_file(node_folder() / part / "status.json");
        agent = status ? static_cast<pid_t>(integer_field(*status, "pid")) : 0;
        return agent > 0;
    }));
    return agent;
}

std::string FaultSoak::suffer(const Fault& fault)
{
    auto environment = fault.environment;
    environment.try_emplace("FAKE_STEPS", "60");
    environment.try_emplace("FAKE_STEP_MS", "20");
    RunRequest request = asked(environment);
    request.target.link_s = fault.link_s;
    client.emplace(request);
    id = client->id();
    EXPECT_FALSE(id.empty()) << fault.name;
    if (fault.strike) {
        EXPECT_TRUE(wait_until([&] { return trains(10); }, 60)) << fault.name;
        fault.strike();
    }
    client->end();
    Recording later;
    later.trust = true;
    const auto result = attach(id, later, {});
    if (fault.mend)
        fault.mend();
    EXPECT_TRUE(result) << fault.name << ": " << (result ? "" : result.error().line());
    if (!result)
        return "lost";
    EXPECT_EQ(result->state, fault.expected) << fault.name << ": " << (result->problem ? result->problem->line() : "");
    EXPECT_TRUE(wait_until([&] { return processes_of(id) == 0; }, 10)) << fault.name << ": processes are left";
    expect_whole(read_events(result->folder / "events.jsonl"), std::string(name(fault.expected)));
    for (const auto& [stored, node, stream] : streams()) {
        const auto here = read_text_file(result->folder / stored), there = read_text_file(node_folder() / node);
        EXPECT_TRUE(here && there && *here == *there)
            << fault.name << ": " << stored << " differs from the node's; here\n"
            << (here ? end_of(*here) : here.error().line()) << "on the node\n"
            << (there ? end_of(*there) : there.error().line());
        const auto rows = HistoryStore::open(HistoryStore::default_file())->events(id, stream);
        std::string joined;
        for (const std::string& line : rows ? *rows : std::vector<std::string>{})
            joined += line + "\n";
        EXPECT_TRUE(here && joined == *here) << fault.name << ": the history differs from " << stored;
    }
    std::error_code busy; // a queue's own script may still be writing its last lines
    std::filesystem::remove_all(node_folder(), busy); // many runs of hostile output fill any disk
    return std::string(name(result->state));
}

void FaultSoak::throw_all(const char* title, std::vector<Fault> all, int count, std::size_t before)
{
    if (const char* kind = std::getenv("FOURFOLD_SOAK_KIND"))
        std::erase_if(all, [&](const Fault& fault) { return std::string(fault.name).find(kind) == std::string::npos; });
    ASSERT_FALSE(all.empty()) << "no fault of that kind";
    if (const char* asked = std::getenv("FOURFOLD_SOAK"))
        count = std::atoi(asked);
    count = std::max(static_cast<int>(all.size()), count);
    const char* seed = std::getenv("FOURFOLD_SOAK_SEED");
    std::mt19937 random(seed ? static_cast<unsigned>(std::atoi(seed)) : 7);
    const auto start = Clock::now();
    std::map<std::string, Tally> tallies;
    int thrown = 0;
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
        const Fault& fault
            = static_cast<std::size_t>(i) < all.size() ? all[static_cast<std::size_t>(i)] : all[random() % all.size()];
        const auto begin = Clock::now();
        Tally& tally = tallies[fault.name];
        tally.outcomes.insert(suffer(fault));
        ++tally.count;
        const double seconds = seconds_since(begin);
        tally.seconds += seconds;
        tally.longest = std::max(tally.longest, seconds);
        if (++thrown % 50 == 0)
            std::printf("%d of %d faults, %.0f s\n", thrown, count, seconds_since(start));
        std::fflush(stdout);
    }
    const auto runs = HistoryStore::open(HistoryStore::default_file())->list();
    EXPECT_TRUE(runs && runs->size() == static_cast<std::size_t>(thrown) + before) << "every run is in the history";
    const auto whole = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
    EXPECT_TRUE(whole) << "the database fails its check: " << (whole ? "" : whole.error().line());
    write_table(title, all, tallies, thrown, seconds_since(start));
}

} // namespace fourfold::test
