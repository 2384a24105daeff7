// SPDX-License-Identifier: GPL-3.0-or-later
// How quickly runs start, stop and notice on four nodes of network namespaces, each with a real sshd, the real agent
// and the fake trainer: bench_launch [click] [cancel] [cut] [death] [events]. Needs root for the namespaces.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/recorder.h"
#include "tests/cluster/ssh_cluster.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

namespace fourfold::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kNodes = 4;

double since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string spread(std::vector<double> seconds)
{
    std::sort(seconds.begin(), seconds.end());
    char text[96];
    std::snprintf(text, sizeof text, "%.3f s (%.3f .. %.3f, %zu times)", seconds[seconds.size() / 2], seconds.front(),
        seconds.back(), seconds.size());
    return text;
}

// Ranks and helpers of a run that are still there, by number.
std::set<pid_t> pids_of(const std::string& run, const std::string& also = {})
{
    std::set<pid_t> out;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0)
            continue;
        std::stringstream text;
        text << std::ifstream(entry.path() / "environ", std::ios::binary).rdbuf();
        const std::string all = '\0' + text.str();
        if (all.find("FOURFOLD_RUN=" + run) != std::string::npos
            && (also.empty() || all.find('\0' + also + '\0') != std::string::npos))
            out.insert(pid);
    }
    return out;
}

// A zombie has no environment any more: what pids_of found is gone when its file is empty.
bool gone(pid_t pid)
{
    std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    return !in || in.get() == std::ifstream::traits_type::eof();
}

class Bench {
public:
    Bench()
        : net_(kNodes)
    {
        for (int i = 1; i <= kNodes; ++i) {
            nodes_.push_back(std::make_unique<Sshd>(
                home_, "node" + std::to_string(i), SshdPlace{net_.address(i), 22, net_.node(i), {}}));
            nodes_.back()->start();
        }
        Recording observer; // keys and files are there before the first measurement
        observer.trust = true;
        const uint64_t before = on_the_wire();
        (void)run({{"FAKE_STEPS", "2"}}, observer);
        std::printf(
            "first launch: the client sends %.2f MB to %d nodes\n", double(on_the_wire() - before) / 1e6, kNodes);
    }

    // From the call to the first step; the fake trainer needs some milliseconds for it.
    void click()
    {
        std::vector<double> total;
        std::vector<uint64_t> bytes;
        std::string phases;
        for (int i = 0; i < 7; ++i) {
            struct Timed : Recording {
                Clock::time_point begin = Clock::now();
                std::vector<std::pair<RunState, double>> entered;
                double first_step = 0;
                void on_state(RunState state, const std::string& what) override
                {
                    Recording::on_state(state, what);
                    if (entered.empty() || entered.back().first != state)
                        entered.emplace_back(state, since(begin));
                }
                void on_event(const Json& event) override
                {
                    if (first_step == 0 && integer_field(event, "step") == 1)
                        first_step = since(begin);
                }
            } observer;
            const uint64_t before = on_the_wire();
            (void)run({{"FAKE_STEPS", "3"}, {"FAKE_STEP_MS", "0"}}, observer);
            bytes.push_back(on_the_wire() - before);
            total.push_back(observer.first_step);
            phases.clear();
            for (const auto& [state, at] : observer.entered)
                phases += (phases.empty() ? "" : ", ") + std::string(name(state)) + " at "
                    + std::to_string(at).substr(0, 5);
        }
        std::printf(
            "click to first step, %d warm nodes: %s; last one: %s\n", kNodes, spread(total).c_str(), phases.c_str());
        std::sort(bytes.begin(), bytes.end());
        std::printf("a further launch: the client sends %.1f kB to %d nodes, key exchange and requests included\n",
            double(bytes[bytes.size() / 2]) / 1e3, kNodes);
    }

    // Four ranks with three helpers each, of which two are deaf to SIGTERM and one is a daemon.
    void cancel(int hosts)
    {
        std::vector<double> took, told;
        for (int i = 0; i < 5; ++i) {
            std::stop_source stop;
            Recording observer;
            std::set<pid_t> all;
            std::atomic<bool> ready = false;
            observer.each_event = [&](const Json& event) { ready = ready || integer_field(event, "step") == 20; };
            std::jthread stopper([&] {
                while (!ready)
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                all = pids_of(observer.id);
                const auto begin = Clock::now();
                stop.request_stop();
                while (!std::all_of(all.begin(), all.end(), gone))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                took.push_back(since(begin));
            });
            (void)run({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "10"}, {"FAKE_CHILDREN", "1"}}, observer, hosts,
                stop.get_token());
            stopper.join();
            if (all.size() != 16)
                std::printf("  (%zu processes, expected 16)\n", all.size());
        }
        std::printf("cancel of 16 processes on %d host%s: %s\n", hosts, hosts == 1 ? "" : "s", spread(took).c_str());
    }

    void cut()
    {
        std::vector<double> silent, reconnecting;
        for (int i = 0; i < 2; ++i) {
            struct Timed : Recording {
                Clock::time_point cut{};
                double silent = 0, reconnecting = 0;
                void on_link(LinkState state, const std::string&) override
                {
                    if (cut == Clock::time_point{})
                        return;
                    if (state == LinkState::silent && silent == 0)
                        silent = since(cut);
                    if (state == LinkState::reconnecting && reconnecting == 0)
                        reconnecting = since(cut);
                }
            } observer;
            std::jthread healer;
            observer.each_event = [&](const Json& event) {
                if (integer_field(event, "step") != 20)
                    return;
                net_.cut(1);
                observer.cut = Clock::now();
                healer = std::jthread([this] {
                    std::this_thread::sleep_for(std::chrono::seconds(7));
                    net_.heal(1);
                });
            };
            (void)run({{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}}, observer);
            silent.push_back(observer.silent);
            reconnecting.push_back(observer.reconnecting);
        }
        std::printf("cut link noticed: %s; given up and reconnecting after: %s\n", spread(silent).c_str(),
            spread(reconnecting).c_str());
    }

    // One rank is killed from outside; the others are deaf to SIGTERM, as ranks in a collective may be.
    void death(int hosts, bool deaf)
    {
        std::vector<double> took;
        for (int i = 0; i < 7; ++i) {
            Recording observer;
            std::atomic<bool> ready = false;
            observer.each_event = [&](const Json& event) { ready = ready || integer_field(event, "step") == 20; };
            std::jthread killer([&] {
                while (!ready)
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                const auto victim = pids_of(observer.id, "RANK=3");
                const auto all = pids_of(observer.id);
                if (victim.size() != 1)
                    std::printf("  (rank 3 was not found)\n");
                const auto begin = Clock::now();
                for (const pid_t pid : victim)
                    kill(pid, SIGKILL); // a rank of this run, found by its cookie
                while (!std::all_of(all.begin(), all.end(), gone))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                took.push_back(since(begin));
            });
            (void)run({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "10"}, {"FAKE_IGNORE_TERM", deaf ? "1" : "0"}},
                observer, hosts);
        }
        std::printf("other 3 ranks (%s) stopped after one died, %d host%s: %s\n", deaf ? "deaf to SIGTERM" : "obedient",
            hosts, hosts == 1 ? "" : "s", spread(took).c_str());
    }

    // From the rank's file through agent, SSH and history, and the last part alone.
    void events()
    {
        constexpr int kSteps = 100000;
        struct Timed : Recording {
            Clock::time_point first{}, last{};
            int64_t count = 0;
            void on_event(const Json&) override
            {
                last = Clock::now();
                first = count++ == 0 ? last : first;
            }
        } observer;
        (void)run({{"FAKE_STEPS", std::to_string(kSteps)}, {"FAKE_STEP_MS", "0"}}, observer);
        const double seconds = std::chrono::duration<double>(observer.last - observer.first).count();
        std::printf("events from a rank to the history: %lld in %.2f s, %.0f events/s\n",
            static_cast<long long>(observer.count), seconds, double(observer.count) / seconds);

        const auto text = read_text_file(observer.folder / "events.jsonl", 1u << 30);
        auto store = HistoryStore::open(home_.path() / "again.db");
        const auto old = HistoryStore::open(HistoryStore::default_file());
        const auto detail = old ? old->show(observer.id) : Expected<RunDetail>(old.error());
        if (!text || !store || !detail)
            return;
        NewRun copy;
        copy.id = observer.id;
        copy.plan = detail->plan;
        copy.prediction = detail->prediction;
        if (const auto made = store->create_run(copy); !made)
            std::printf("%s\n", made.error().line().c_str());
        const auto folder = home_.path() / "again";
        std::filesystem::create_directories(folder);
        auto recorder = Recorder::open(std::move(*store), observer.id, folder, {"this computer"}, 0);
        if (!recorder)
            return;
        const auto begin = Clock::now();
        int64_t taken = 0;
        for (std::size_t at = 0; at < text->size();) {
            const std::size_t end = text->rfind('\n', std::min(text->size() - 1, at + (256u << 10))) + 1;
            const auto events = recorder->take(0, static_cast<int64_t>(at), text->substr(at, end - at));
            if (!events) {
                std::printf("%s\n", events.error().line().c_str());
                return;
            }
            taken += static_cast<int64_t>(events->events.size());
            at = end;
        }
        const double alone = since(begin);
        std::printf("events into the history alone: %lld in %.2f s, %.0f events/s\n", static_cast<long long>(taken),
            alone, double(taken) / alone);
    }

private:
    [[nodiscard]] uint64_t on_the_wire() const { return net_.bytes_to(0); } // what the client sent

    RunResult run(const std::map<std::string, std::string>& environment, RunObserver& observer, int hosts = kNodes,
        std::stop_token stop = {})
    {
        RunRequest out = request(home_, 4, environment);
        std::vector<const Sshd*> used;
        for (int i = 0; i < hosts; ++i)
            used.push_back(nodes_[static_cast<std::size_t>(i)].get());
        out.target = ssh_target(home_, used);
        out.target.stop_grace_s = 2;
        const auto result = launch(out, observer, stop);
        if (!result) {
            std::printf("%s\n", result.error().line().c_str());
            return {};
        }
        return *result;
    }

    Home home_;
    Namespaces net_;
    std::vector<std::unique_ptr<Sshd>> nodes_;
};

int measure(const std::set<std::string>& what)
{
    if (const std::string why = why_no_ssh_cluster(); !why.empty()) {
        std::printf("nothing was measured: %s\n", why.c_str());
        return 77;
    }
    const auto wanted = [&](const char* name) { return what.empty() || what.contains(name); };
    std::ifstream load("/proc/loadavg");
    std::string shown;
    std::getline(load, shown);
    std::printf("load %s on %u cores\n", shown.c_str(), std::thread::hardware_concurrency());
    Bench bench;
    if (wanted("click"))
        bench.click();
    if (wanted("cancel")) {
        bench.cancel(1);
        bench.cancel(kNodes);
    }
    if (wanted("death")) {
        bench.death(1, false);
        bench.death(1, true);
        bench.death(kNodes, false);
        bench.death(kNodes, true);
    }
    if (wanted("events"))
        bench.events();
    if (wanted("cut"))
        bench.cut();
    return 0;
}

} // namespace
} // namespace fourfold::test

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return fourfold::test::measure(std::set<std::string>(argv + 1, argv + argc));
}
